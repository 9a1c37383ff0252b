"""Random numbers of programs: drawn on the host, where the function draws them, and handed to the program.

So a program draws the numbers that the function would draw, from the same generator in the same order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from .arrays import TracedArray
from .host_arrays import has_traced


class Draw(NamedTuple):
    """One call of a `numpy.random.Generator`, and the shape and dtype of what it gives."""

    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shape: tuple[int, ...]
    native: Any

    def now(self, generator: Any) -> Any:
        """Return new numbers."""
        return getattr(generator, self.method)(*self.args, **self.kwargs)


class Draws:
    """The calls of one trace: `given` are their arrays, or None where only the calls are wanted."""

    def __init__(self, given: list[Any] | None) -> None:
        self.given, self.calls = given, []  # type: list[Any] | None, list[Draw]

    def next(self, method: str, args: Any, kwargs: Any) -> Any:
        """Return the numbers of the next call."""
        if has_traced(args) or has_traced(kwargs):
            raise NotImplementedError(f"random numbers that depend on values are drawn: {method}")
        example = getattr(np.random.default_rng(0), method)(*args, **kwargs)
        example = np.asarray(example)
        self.calls.append(Draw(method, args, kwargs, example.shape, example.dtype))
        if self.given is None:
            return TracedArray(jnp.zeros(example.shape, example.dtype))
        return TracedArray(self.given[len(self.calls) - 1])


class Numbers:
    """Spoken to as a `numpy.random.Generator`."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def __getattr__(self, method: str) -> Any:
        if method == "bit_generator":
            raise AttributeError(method)
        return lambda *args, **kwargs: self._draws.next(method, args, kwargs)


CURRENT: list[Draws] = []


def numbers_of(host: Any) -> Any:
    """Return what bodies draw from, in place of the host's generator."""
    return Numbers(CURRENT[-1]) if CURRENT else host
