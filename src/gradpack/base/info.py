"""The limits of a dtype, `finfo` and `iinfo`, and Python numbers that are converted to it."""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import Any

from . import dtypes
from .dtypes import BOOL, COMPLEX, FLOATING, INTEGRAL, dtype
from .errors import does_not_fit, too_big

# name: (bits, significand bits stored, smallest exponent, largest exponent, resolution digits)
FLOATS = {
    "float8_e4m3fn": (8, 3, -6, 8, 0),
    "float8_e5m2": (8, 2, -14, 15, 0),
    "float16": (16, 10, -14, 15, 3),
    "bfloat16": (16, 7, -126, 127, 2),
    "float32": (32, 23, -126, 127, 6),
    "float64": (64, 52, -1022, 1023, 15),
}


def _as_type(name: str, value: Any) -> dtype:
    """The dtype for an argument; Python's number types mean the widest of their kind.

    Raises:
        TypeError: for anything else.
    """
    found = dtypes.as_dtype(name, value) if isinstance(value, dtype | type) else None
    if found is None:
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type(value).__name__}")
    return found


class finfo:  # noqa: N801 - torch's name
    """Limits of a floating-point dtype: `bits, eps, max, min, tiny, smallest_normal, resolution, dtype`.

    Example::

        >>> import gradpack as torch
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        type = dtypes.get_default_dtype() if type is None else _as_type("finfo", type)
        if type.category < dtypes.FLOATING:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle {type!r}")
        name = type.to_real().name
        self.bits, significand, low, high, digits = FLOATS[name]
        self.dtype = name
        self.eps = 2.0**-significand
        self.max = 448.0 if name == "float8_e4m3fn" else (2.0 - self.eps) * 2.0**high  # one code there is no number
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = float(f"1e-{digits}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


@cache
def limits_of(d: dtype) -> finfo:
    """Return the limits of a floating-point dtype, made once: not for users, who may write to it."""
    return finfo(d)


class iinfo:  # noqa: N801 - torch's name
    """Limits of an integer dtype: `bits, max, min, dtype`.

    Example::

        >>> import gradpack as torch
        >>> torch.iinfo(torch.int8).max
        127
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype) -> None:
        type = _as_type("iinfo", type)
        if type.category >= dtypes.FLOATING:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle {type!r}")
        if type.category == dtypes.BOOL:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        self.bits = type.itemsize * 8
        self.dtype = type.name
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


LEAST, MOST = -(1 << 63), (1 << 64) - 1  # the range of signed and unsigned 64-bit integers together


@cache
def _range(d: dtype) -> tuple[float, float]:
    if d.category == INTEGRAL:
        high: float = iinfo(d).max
        return -high - d.is_signed, high
    high = finfo(d if d.to_real().name in FLOATS else dtypes.float64).max
    return -high, high


SAFE = 65504.0  # every floating dtype can hold numbers up to this


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
    low, high = _range(d)
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
