"""Helper functions for generated loops over blocks of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.memory_layout import _array_type

BLOCK = 1 << 17  # bytes of a block: the buffers of a formula fit into the second-level cache
_KEPT = 8  # blocks that are kept for the next loop; malloc would hand a megabyte back to the system each time
_spare: list[Any] = []


class Unfit(Exception):  # noqa: N818 - a message to the caller, no error
    """These arguments are none for the loop."""


def borrow(count: int) -> list[Any]:
    """So many blocks of bytes, each of which starts with a cache line: NumPy is twice as fast on those."""
    blocks = []
    for _ in range(count):
        try:
            blocks.append(_spare.pop())  # atomic: several threads may do it
        except IndexError:
            memory = np.empty(BLOCK + 64, np.uint8)
            start = -memory.ctypes.data % 64
            blocks.append(memory[start : start + BLOCK])
    return blocks


def give_back(blocks: list[Any]) -> None:
    """Keep borrowed blocks for the next loop."""
    if len(_spare) < _KEPT:
        _spare.extend(blocks)


def number(value: Any, native: Any) -> Any:
    """A plain number as an array of this dtype, which NumPy would make of it for each block again."""
    return np.asarray(value, native) if type(value) in _NUMBERS else value


try:  # without the checks of `numpy.clip`, which take longer than a small block
    clip: Any = np._core.umath.clip  # type: ignore[attr-defined]
except AttributeError:
    clip = np.clip


def limit_into(x: Any, low: Any, high: Any, out: Any) -> Any:
    """Write `x` into `out`, limited by two numbers; None is no limit."""
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    if type(least) not in _NUMBERS or type(most) not in _NUMBERS or least != least or most != most:  # noqa: PLR0124
        raise Unfit
    return clip(x, least, most, out=out)


_NUMBERS = (int, float)


def pick(condition: Any, x: Any, y: Any, out: Any, mask: Any) -> None:
    """Write `x` into `out` where the condition holds, `y` elsewhere; arrays of one dtype or numbers.

    `numpy.where` branches on every element: on a mask without a pattern, a processor guesses wrong
    half of the time and takes ten times as long. Picking bits needs no branch.

    Args:
        mask: a buffer of integers as wide as the elements.
    """
    bits = out.view(mask.dtype)
    holds = condition.view(np.int8)
    if _zero(x):
        np.copyto(mask, np.subtract(holds, 1))
        np.bitwise_and(mask, y.view(mask.dtype) if type(y) is _array_type and y.ndim else _bits(y, out), out=bits)
        return
    np.copyto(mask, np.negative(holds))
    first = x.view(mask.dtype) if type(x) is _array_type and x.ndim else _bits(x, out)
    if _zero(y):
        np.bitwise_and(mask, first, out=bits)
        return
    second = y.view(mask.dtype) if type(y) is _array_type and y.ndim else _bits(y, out)
    np.bitwise_and(mask, np.bitwise_xor(first, second, out=bits), out=mask)  # the bits in which the first one differs
    np.bitwise_xor(mask, second, out=bits)


def _zero(value: Any) -> bool:
    """Whether it is the number 0 whose bits are 0."""
    return isinstance(value, int | float) and value == 0 and math.copysign(1.0, value) > 0


def _bits(number: Any, like: Any) -> Any:
    return np.asarray(number, dtype=like.dtype).view(f"i{like.itemsize}")
