"""Divisions with a remainder of float32, in float64: whole arrays at a time, where C's fmod goes digit by digit.

A quotient of two float32 numbers that is no integer is further from the next one than float64
rounds, as long as it stays below 2**27; its product with the divisor and the difference are exact
then. Below 2**22, NumPy's floor_divide of float32 does not round either. So elements are those of
NumPy's own functions, which do the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..declare.blocks import LARGE, looped
from .blockwise import is_numpy

_EXACT = float(1 << 22)


def floor_divide_of(x: Any, y: Any) -> Any:
    """`numpy.floor_divide`."""
    return looped(_floor_divide, x, y) if _are_single(x, y) else np.floor_divide(x, y)


def remainder_of(x: Any, y: Any) -> Any:
    """`numpy.remainder`."""
    return looped(_remainder, x, y) if _are_single(x, y) else np.remainder(x, y)


def fmod_of(x: Any, y: Any) -> Any:
    """`numpy.fmod`."""
    return looped(_fmod, x, y) if _are_single(x, y) else np.fmod(x, y)


def _are_single(x: Any, y: Any) -> bool:
    """Whether they are a large array of float32 and one of the same shape, or a number."""
    if not is_numpy(x) or x.dtype.char != "f" or x.size < LARGE:
        return False
    return type(y) in (int, float) or (is_numpy(y) and y.dtype.char == "f" and y.shape == x.shape)


def _divided(x: Any, y: Any, rounded: Callable[..., Any]) -> Any:
    """Both in float64 and the rounded quotient; None where that is not exact."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=x.dtype).astype(np.float64)
    quotient = a / b
    rounded(quotient, out=quotient)
    exact = np.maximum.reduce(quotient, None) < _EXACT and np.minimum.reduce(quotient, None) > -_EXACT
    return (a, b, quotient) if exact and np.isfinite(np.add.reduce(b, None)) else None


def _floor_divide(x: Any, y: Any) -> Any:
    found = _divided(x, y, np.floor)
    return np.floor_divide(x, y) if found is None else found[2].astype(x.dtype)


def _remainder(x: Any, y: Any) -> Any:
    found = _divided(x, y, np.floor)
    if found is None:
        return np.remainder(x, y)
    a, b, quotient = found
    quotient *= b
    a -= quotient
    return np.copysign(a.astype(x.dtype), y, dtype=x.dtype)


def _fmod(x: Any, y: Any) -> Any:
    found = _divided(x, y, np.trunc)
    if found is None:
        return np.fmod(x, y)
    a, b, quotient = found
    quotient *= b
    a -= quotient
    return np.copysign(a.astype(x.dtype), x)
