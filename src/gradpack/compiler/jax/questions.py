"""Questions of Python about values of arrays while JAX traces: the answers are not known, and are guards.

A body of an operation may look at values: to refuse indices out of bounds, or to choose the faster of two ways. The
trace goes on with an answer that is given from outside, and the value that was asked for becomes a result of the
program, which is looked at after the run. Where no answer is given yet, a question of yes or no is answered with no,
which is right for checks that only refuse; another question ends the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


class Unanswered(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where a trace needs an answer that was not given."""


class Unknown(TypeError):  # noqa: N818 - a message to the caller
    """Raised where Python takes an array that is not known while it is traced."""


class Answers:
    """The answers of one trace.

    Attributes:
        given: the first ones.
        answers: all that were given to Python.
        values: what was asked for, as arrays of JAX.
        bounds: indices that were compared with a size; None where all were compared before.

    Args:
        given: the first answers.
        compares: whether indices are to be compared.
    """

    def __init__(self, given: list[Any], compares: bool = True) -> None:
        self.given, self.answers, self.values = given, [], []  # type: list[Any], list[Any], list[Any]
        self.bounds: dict[tuple[int, int], Any] | None = {} if compares else None

    def next(self, value: Any, kind: str) -> Any:
        """Return the next answer."""
        place = len(self.answers)
        self.values.append(value)
        if place >= len(self.given) and kind != "bool":
            raise Unanswered(kind)
        self.answers.append(self.given[place] if place < len(self.given) else False)
        return self.answers[place]


_current: list[Answers] = []


@contextmanager
def answering(answers: Answers) -> Iterator[None]:
    """Let a trace take these answers."""
    _current.append(answers)
    try:
        yield
    finally:
        _current.pop()


def answer(value: Any, kind: str) -> Any:
    """Return the one element of an array for Python."""
    if value.size != 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
    if not isinstance(value, jax.core.Tracer):
        return np.asarray(value).item()
    if not _current:
        raise Unknown("an array has no values while JAX traces it")
    return _current[-1].next((value != 0 if kind == "bool" else value).reshape(()), kind)


def known(value: Any) -> Any:
    """Return an array whose values are known.

    Raises:
        Unknown: while it is traced.
    """
    if isinstance(value, jax.core.Tracer):
        raise Unknown(f"Python needs all values of an array of shape {tuple(value.shape)}")
    return value


def check_index(key: Any, shape: tuple[int, ...]) -> None:
    """Ask whether indices are in the bounds of an array, which JAX does not do.

    Raises:
        IndexError: if an answer says that they are not.
    """
    dimension = 0
    keys = key if type(key) is tuple else (key,)
    for place, each in enumerate(keys):
        if each is Ellipsis:
            dimension = len(shape) - sum(k is not None for k in keys[place + 1 :])
        elif each is not None:
            if isinstance(each, jax.core.Tracer) and each.dtype.kind in "iu":
                check_indices(each, shape[dimension])
            dimension += 1


def check_indices(indices: Any, size: int) -> None:
    """Ask whether indices are in the bounds of one dimension."""
    bounds = _current[-1].bounds if _current and isinstance(indices, jax.core.Tracer) else None
    if bounds is not None and indices.size and (id(indices), size) not in bounds:
        bounds[id(indices), size] = indices
        if answer(jnp.any((indices < -size) | (indices >= size)), "bool"):
            raise IndexError(f"an index is out of bounds for a dimension with size {size}")


def places_of(mask: Any) -> tuple[Any, ...]:
    """Return the places that are not zero, for each dimension. How many there are is a question."""
    mask = jnp.atleast_1d(mask)
    return jnp.nonzero(mask, size=int(answer(jnp.count_nonzero(mask), "int")))
