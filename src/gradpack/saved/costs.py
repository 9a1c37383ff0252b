"""What operations and ways of keeping tensors take on this machine, as all budgets of the process have measured it.

They share what they find out: with costs of its own, each distorted by something else that went on meanwhile, one
budget would hold for dear what another one holds for cheap, and more room could come to more time.
"""

from __future__ import annotations

from collections import deque
from typing import Any

LATENCY = 2e-5  # seconds for packing or unpacking anything at all
TELLING = 1 << 15  # bytes from which on it tells what a byte costs
_SAMPLES = 16  # that count, the newest
_QUARTILE = 4
_KINDS = 10_000  # of calls that are remembered


class Took:
    """The least seconds that any call of one kind took: what was in the way of others is no cost of theirs."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = float("inf")


class Rate:
    """Seconds for a byte: the lower quartile of what was measured last.

    Most of what disturbs a measurement makes it longer; but a write may be waited for at one time and not at another,
    so that the least is no cost to reckon with. A guess is the first sample: a way that was slow once is tried again.
    """

    __slots__ = ("_samples", "seconds")

    def __init__(self, guess: float) -> None:
        self.seconds = guess
        self._samples: deque[float] = deque([guess], _SAMPLES)

    def measured(self, nbytes: int, seconds: float) -> None:
        if nbytes >= TELLING:
            self._samples.append(max(seconds - LATENCY, 0.0) / nbytes)
            self.seconds = sorted(self._samples)[(len(self._samples) - 1) // _QUARTILE]


_calls: dict[Any, Took] = {}
_rates: dict[Any, Rate] = {}


def took(kind: Any) -> Took:
    """What calls of one kind took, in the whole process."""
    if len(_calls) >= _KINDS:
        _calls.clear()
    return _calls.setdefault(kind, Took())


def rate(what: Any, guess: float, steady: bool) -> Rate:
    """Seconds for a byte of something, in the whole process; where no clock is to count, a guess of one's own."""
    return Rate(guess) if steady else _rates.setdefault(what, Rate(guess))
