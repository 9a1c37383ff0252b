"""Random numbers of programs: drawn on the host, where the function draws them, and handed to the program.

So a program draws the numbers that the function would draw, from the same generators in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ...ops.random.generator import Generator, default_generator
from .arrays import TracedArray
from .host_arrays import has_traced

_NOTHING = np.zeros((), bool)


class Draw(NamedTuple):
    """One call of the `numpy.random.Generator` of a generator, and the shape and dtype of what it gives."""

    generator: Generator
    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shape: tuple[int, ...]
    native: Any

    def now(self) -> Any:
        """Return new numbers."""
        return getattr(self.generator.numpy, self.method)(*self.args, **self.kwargs)


class StateKept(NamedTuple):
    """A call that keeps a state of the default generator, or goes back to it."""

    function: Callable[[], None]
    generator: Generator = default_generator
    shape: tuple[int, ...] = ()
    native: Any = np.dtype(bool)

    def now(self) -> Any:
        self.function()
        return _NOTHING


class Draws:
    """The calls of one trace.

    Args:
        given: their arrays, or None where only the calls are wanted.
        generators: those that are drawn from, besides the default one.
    """

    def __init__(self, given: list[Any] | None, generators: list[Generator]) -> None:
        self.given, self.calls, self.generators = given, list[Draw | StateKept](), generators

    def next(self, host: Any, method: str, args: Any, kwargs: Any) -> Any:
        """Return the numbers of the next call of a generator of NumPy's."""
        generator = next((g for g in self.generators if g.numpy is host), default_generator)
        if has_traced(args) or has_traced(kwargs):
            raise NotImplementedError(f"random numbers that depend on values are drawn: {method}")
        example = getattr(np.random.default_rng(0), method)(*args, **kwargs)
        example = np.asarray(example)
        self.calls.append(Draw(generator, method, args, kwargs, example.shape, example.dtype))
        if self.given is None:
            return TracedArray(jnp.zeros(example.shape, example.dtype))
        return TracedArray(self.given[len(self.calls) - 1])


class Numbers:
    """Spoken to as a `numpy.random.Generator`."""

    def __init__(self, draws: Draws, host: Any) -> None:
        self._draws, self._host = draws, host

    def __getattr__(self, method: str) -> Any:
        if method == "bit_generator":
            raise AttributeError(method)
        return lambda *args, **kwargs: self._draws.next(self._host, method, args, kwargs)


CURRENT: list[Draws] = []


def numbers_of(host: Any) -> Any:
    """Return what bodies draw from, in place of the host's generator."""
    return Numbers(CURRENT[-1], host) if CURRENT else host


def states_of(calls: list[Draw | StateKept]) -> list[tuple[Generator, Any]]:
    """Return the generators that calls draw from, with their states."""
    return [(g, g.numpy.bit_generator.state) for g in dict.fromkeys(call.generator for call in calls)]


def restore(states: list[tuple[Generator, Any]]) -> None:
    """Let generators go back to states."""
    for generator, state in states:
        generator.numpy.bit_generator.state = state
