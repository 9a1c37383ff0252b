"""Measured times of operations, and of packing and unpacking, shared by all budgets of the process.

They are shared because measurements are noisy: if each budget had costs of its own, one with more room could choose a
slower plan than one with less.
"""

from __future__ import annotations

from collections import deque
from typing import Any

LATENCY = 2e-5  # seconds of packing or unpacking, whatever the size
TELLING = 1 << 15  # bytes: smaller calls do not count as samples of the rate
_SAMPLES = 16  # the newest samples, which count
_QUARTILE = 4
_KINDS = 10_000  # kinds of calls to remember


class CallTime:
    """The minimum time, in seconds, of calls of one kind: noise only makes a call longer."""

    def __init__(self) -> None:
        self.seconds = float("inf")


class Rate:
    """Seconds per byte: the lower quartile of the newest measurements.

    Most noise makes a measurement longer, but a write may be waited for in one call and not in another, so that the
    minimum would be too low. A guess is the first sample, so that a method that was slow once is tried again.
    """

    def __init__(self, guess: float) -> None:
        self.seconds = guess
        self._samples: deque[float] = deque([guess], _SAMPLES)

    def measured(self, nbytes: int, seconds: float) -> None:
        if nbytes >= TELLING:
            self._samples.append(max(seconds - LATENCY, 0.0) / nbytes)
            self.seconds = sorted(self._samples)[(len(self._samples) - 1) // _QUARTILE]


_calls: dict[Any, CallTime] = {}
_rates: dict[Any, Rate] = {}


def call_time(kind: Any) -> CallTime:
    """Return the `CallTime` of one kind of calls, shared by the whole process."""
    if len(_calls) >= _KINDS:
        _calls.clear()
    return _calls.setdefault(kind, CallTime())


def rate(what: Any, guess: float, steady: bool) -> Rate:
    """Return the `Rate` of `what`, shared by the whole process; with `steady`, a separate one that stays the guess."""
    return Rate(guess) if steady else _rates.setdefault(what, Rate(guess))
