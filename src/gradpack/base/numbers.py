"""Conversion of Python numbers to a dtype."""

from __future__ import annotations

from math import isfinite
from typing import Any

from . import dtypes
from .dtypes import BOOL, COMPLEX, FLOATING, INTEGRAL, dtype
from .errors import does_not_fit, too_big
from .info import FLOATS, finfo, iinfo

LEAST, MOST = -(1 << 63), (1 << 64) - 1  # the range of signed and unsigned 64-bit integers together


def _range(d: dtype) -> tuple[float, float]:
    if d.category == INTEGRAL:
        high: float = iinfo(d).max
        return -high - d.is_signed, high
    high = finfo(d if d.to_real().name in FLOATS else dtypes.float64).max
    return -high, high


SAFE = 65504.0  # every floating dtype can hold numbers up to this
_RANGES = {d: _range(d) for d in dtypes.DTYPES.values()}


def number_for(value: Any, d: dtype) -> Any:
    """Convert a Python number to dtype `d`: fractions are truncated.

    Raises:
        RuntimeError: if it does not fit.
        OverflowError: for an int of more than 64 bits.
    """
    if type(value) is float and d.category == FLOATING and -SAFE < value < SAFE:
        return value
    if isinstance(value, int) and not LEAST <= value <= MOST:
        raise too_big("the value", value)
    if d.category == BOOL:
        return bool(value)
    low, high = _RANGES[d] if d in _RANGES else _range(d)
    if d.category == COMPLEX:
        number = complex(value)
        for part in (number.real, number.imag):
            if isfinite(part) and not low <= part <= high:
                raise does_not_fit(value, d)
        return number
    if isinstance(value, complex):
        if value.imag:
            raise does_not_fit(value, d)
        value = value.real
    if d.category == INTEGRAL and not d.is_signed and isinstance(value, float):
        low = 0  # negative ints wrap around in unsigned dtypes, fractions are refused
    if not low <= value <= high and (d.category == INTEGRAL or isfinite(value)):
        raise does_not_fit(value, d)
    if d.category == FLOATING:
        return float(value)
    return int(value) if d.is_signed else int(value) & int(high)
