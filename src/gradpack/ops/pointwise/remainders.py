"""Floor division and remainders of float32, computed in float64 for whole arrays: faster than C's fmod per element.

A quotient of two float32 numbers that is no integer is further from the next one than float64
rounds, as long as it stays below 2**27; its product with the divisor and the difference are exact
then. Below 2**22, NumPy's floor_divide of float32 does not round either. So results equal those of
NumPy's functions, which handle larger quotients; only the sign of zero remainders follows torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...declare.generate.fusion import looped
from ...kernels.dispatch import LARGE, accelerated
from .blockwise import aligned, is_numpy
from .operands import is_whole

_EXACT = float(1 << 22)
_SIZE = 1 << 14  # elements of a block: four buffers of these fit into the second-level cache
_SIGN = np.int32(-(1 << 31))


def floor_divide_of(x: Any, y: Any) -> Any:
    """`numpy.floor_divide`."""
    return looped(_floor_divide, x, y) if _are_single(x, y) else np.floor_divide(x, y)


@accelerated
def remainder_of(x: Any, y: Any) -> Any:
    """`numpy.remainder`, except that zeros have the sign of `x`."""
    return _left(x, y, np.floor, _remainder, y) if _are_single(x, y) else _remainder(x, y)


def _remainder(x: Any, y: Any) -> Any:
    left = np.remainder(x, y)
    return left if is_whole(left) else np.where(left == 0, np.copysign(left, x), left)


@accelerated
def fmod_of(x: Any, y: Any) -> Any:
    """`numpy.fmod`."""
    return _left(x, y, np.trunc, np.fmod, x) if _are_single(x, y) else np.fmod(x, y)


def _are_single(x: Any, y: Any) -> bool:
    """Whether `x` is a large float32 array, and `y` a float32 array of the same shape or a number."""
    if not is_numpy(x) or x.dtype.char != "f" or x.size < LARGE:
        return False
    return type(y) in (int, float) or (is_numpy(y) and y.dtype.char == "f" and y.shape == x.shape)


def _floor_divide(x: Any, y: Any) -> Any:
    """The quotient, divided in float64 and rounded down."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=x.dtype).astype(np.float64)
    quotient = np.divide(a, b, out=a)
    np.floor(quotient, out=quotient)
    if _exact(quotient) and np.isfinite(np.add.reduce(b, None)):
        return quotient.astype(x.dtype)
    return np.floor_divide(x, y)


def _left(x: Any, y: Any, rounded: Callable[..., Any], plain: Callable[..., Any], signed: Any) -> Any:
    """`x - rounded(x / y) * y`, block by block; blocks where that is not exact are passed to `plain`.

    The remainder has the sign bit of `signed`; a zero remainder has that of `x`.
    """
    out = np.empty(x.shape, x.dtype)
    number: Any = None if is_numpy(y) else np.asarray(y, x.dtype)
    every = [np.ascontiguousarray(a).reshape(-1) if is_numpy(a) else number for a in (x, y, signed)]
    target, size = out.reshape(-1), _SIZE
    a, b, quotient = (aligned(size, np.float64) for _ in range(3))
    sign = aligned(size, np.int32)
    for start in range(0, x.size, size):
        made = target[start : start + size]
        xs, ys, sides = (v[start : start + size] if v is not number else v for v in every)
        if made.size < size:
            a, b, quotient, sign = (v[: made.size] for v in (a, b, quotient, sign))
        a[:], b[:] = xs, ys
        np.divide(a, b, out=quotient)
        rounded(quotient, out=quotient)
        if not _exact(quotient):
            made[:] = plain(xs, ys)
            continue
        np.multiply(quotient, b, out=quotient)
        np.subtract(a, quotient, out=a)
        if not np.dot(a, a) < np.inf:  # an infinite y gives 0 * inf
            made[:] = plain(xs, ys)
            continue
        made[:] = a
        bits = made.view(np.int32)
        np.bitwise_and(sides.view(np.int32), _SIGN, out=sign)
        np.bitwise_or(bits, sign, out=bits)
        if signed is not x and not made.all():
            np.copysign(made, xs, out=made, where=np.equal(made, 0))
    return out


def _exact(quotient: Any) -> bool:
    """Whether all absolute values are below the limit; tried first by the sum of squares, one fast pass of BLAS."""
    flat = quotient.reshape(-1)
    if np.dot(flat, flat) < _EXACT * _EXACT:
        return True
    inside: bool = np.maximum.reduce(flat) < _EXACT and np.minimum.reduce(flat) > -_EXACT
    return inside
