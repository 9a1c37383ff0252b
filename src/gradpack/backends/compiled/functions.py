"""Functions of one float32 that loops call, to about one unit in the last place and without a branch.

The compiler vectorises none of those of the mathematical library. Where there is a branch, a loop goes element by
element; so numbers are limited by conditional expressions, which let NaN through.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .loop import inlined, loop

_f = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _f(1.4426950408889634), _f(0.693359375), _f(-2.12194440e-4)
_ROUND = _f(12582912.0)  # 1.5 * 2^23: what is added to it is rounded to an integer


@intrinsic  # type: ignore[untyped-decorator]
def float_of_bits(context: Any, bits: Any) -> Any:
    """The float32 that has the bits of an int32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), generate


@inlined
def power_of_two(n: Any) -> Any:
    """2^n for an int32 from -126 to 127."""
    return float_of_bits((n + np.int32(127)) << np.int32(23))


@inlined
def exp(x: Any) -> Any:
    """exp(x) as 2^n exp(r) with |r| < ln(2) / 2, where a polynomial is enough (coefficients as in Cephes)."""
    x = _f(-104.0) if x < _f(-104.0) else x
    x = _f(89.0) if x > _f(89.0) else x
    n = (x * _LOG2_E + _ROUND) - _ROUND
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    p = _f(1.9875691500e-4)
    p = p * r + _f(1.3981999507e-3)
    p = p * r + _f(8.3334519073e-3)
    p = p * r + _f(4.1665795894e-2)
    p = p * r + _f(1.6666665459e-1)
    p = p * r + _f(5.0000001201e-1)
    p = p * (r * r) + r + _f(1.0)
    whole = np.int32(n)
    half = whole >> np.int32(1)  # two factors: 2^n alone may be too large or too small to be a float32
    return p * power_of_two(half) * power_of_two(whole - half)


@loop
def largest_of_row(bits: Any, row: int, count: int, negative: bool) -> Any:
    """The largest of the first float32 of a row, the least if `negative`; NaN where there is any.

    They are given as the int32 of the same bits. With those below zero turned over, integers compare as the floats do:
    for these there is a vectorised maximum, and NaN is above all.
    """
    sign = np.int32(-1) if negative else np.int32(0)
    top = np.int32(-(2**31))
    for j in range(count):
        ordered = bits[row, j] ^ ((bits[row, j] >> np.int32(31)) & np.int32(0x7FFFFFFF)) ^ sign
        top = ordered if ordered > top else top
    top ^= sign
    return float_of_bits(np.int32(top ^ ((top >> np.int32(31)) & np.int32(0x7FFFFFFF))))
