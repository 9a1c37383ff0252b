"""Functions of one float32 that loops call, to about one unit in the last place and without a branch.

The compiler vectorises none of those of the mathematical library. Where there is a branch, a loop goes element by
element; so numbers are limited by conditional expressions, which let NaN through.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .loop import inlined, loop

_f = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _f(1.4426950408889634), _f(0.693359375), _f(-2.12194440e-4)
_LN2 = _f(math.log(2))
_ROUND = _f(12582912.0)  # 1.5 * 2^23: what is added to it is rounded to an integer


def same_bits(source: Any, target: Any, kind: Any) -> Any:
    """A function that gives the number of type `target`, which is LLVM's `kind`, with the bits of one of `source`."""

    @intrinsic  # type: ignore[untyped-decorator]
    def reinterpreted(context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], kind)

        return target(source), generate

    return reinterpreted


float_of_bits = same_bits(types.int32, types.float32, ir.FloatType())
bits_of_float = same_bits(types.float32, types.int32, ir.IntType(32))


@inlined
def power_of_two(n: Any) -> Any:
    """2^n for an int32 from -126 to 127."""
    return float_of_bits((n + np.int32(127)) << np.int32(23))


@inlined
def exp_beside_1(r: Any) -> Any:
    """exp(r) - 1 for |r| < ln(2) / 2, by a polynomial (coefficients as in Cephes)."""
    p = _f(1.9875691500e-4)
    p = p * r + _f(1.3981999507e-3)
    p = p * r + _f(8.3334519073e-3)
    p = p * r + _f(4.1665795894e-2)
    p = p * r + _f(1.6666665459e-1)
    p = p * r + _f(5.0000001201e-1)
    return p * (r * r) + r


@inlined
def exp(x: Any) -> Any:
    """exp(x) as 2^n exp(r) with |r| < ln(2) / 2, where a polynomial is enough.

    Zeros, as of -inf, are not computed: processors take a hundred times longer for a product that underflows.
    """
    is_zero = x < _f(-104.0)
    x = _f(0.0) if is_zero else x
    x = _f(89.0) if x > _f(89.0) else x
    n = (x * _LOG2_E + _ROUND) - _ROUND
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    p = exp_beside_1(r) + _f(1.0)
    whole = np.int32(n)
    half = whole >> np.int32(1)  # two factors: 2^n alone may be too large or too small to be a float32
    return _f(0.0) if is_zero else p * power_of_two(half) * power_of_two(whole - half)


@inlined
def with_sign(size: Any, x: Any) -> Any:
    """A number that is not negative, with the sign of another one."""
    return float_of_bits(bits_of_float(size) | (bits_of_float(x) & np.int32(-0x80000000)))


@inlined
def exp2(x: Any) -> Any:
    """2^x, as 2^n exp(r ln 2) with |r| <= 1/2."""
    is_zero = x < _f(-150.0)
    x = _f(0.0) if is_zero else x
    x = _f(129.0) if x > _f(129.0) else x
    n = (x + _ROUND) - _ROUND
    p = exp_beside_1((x - n) * _LN2) + _f(1.0)
    whole = np.int32(n)
    half = whole >> np.int32(1)
    return _f(0.0) if is_zero else p * power_of_two(half) * power_of_two(whole - half)


@inlined
def exp_of_negative(x: Any) -> Any:
    """exp(x) of what is not positive, and 0 already where that would be less than 1e-38, in fewer steps."""
    y = _f(-87.3) if x < _f(-87.3) else x
    n = (y * _LOG2_E + _ROUND) - _ROUND
    value = (exp_beside_1(y - n * _LN2_HIGH - n * _LN2_LOW) + _f(1.0)) * power_of_two(np.int32(n))
    return _f(0.0) if x < _f(-87.3) else value


@inlined
def expm1(x: Any) -> Any:
    """exp(x) - 1, as 2^n (exp(r) - 1 + (1 - 2^-n)): the inner sum is exact enough for every n."""
    y = _f(-18.0) if x < _f(-18.0) else x  # there it is -1
    y = _f(89.0) if y > _f(89.0) else y
    n = (y * _LOG2_E + _ROUND) - _ROUND
    r = y - n * _LN2_HIGH - n * _LN2_LOW
    whole = np.int32(n)
    least = whole if whole < np.int32(126) else np.int32(126)
    half = whole >> np.int32(1)
    value = exp_beside_1(r) + (_f(1.0) - power_of_two(-least))
    value = value * power_of_two(half) * power_of_two(whole - half)
    return x if abs(x) < _f(1e-8) else value


@inlined
def log(x: Any) -> Any:
    """log(x), -inf at 0 and NaN below."""
    tiny = x < _f(1.17549435e-38)  # the bits of those are no exponent
    value = log_of_normal(x * _f(8388608.0) if tiny else x, _f(-23.0) if tiny else _f(0.0))
    value = value if x < _f(np.inf) else x  # NaN, too
    value = _f(-np.inf) if x == _f(0.0) else value
    return _f(np.nan) if x < _f(0.0) else value


@inlined
def log_of_normal(x: Any, more: Any) -> Any:
    """log(x 2^more) as n log(2) + log(m) with m from sqrt(1/2) to sqrt(2) (coefficients as in Cephes).

    Args:
        x: above 1e-38, and finite.
    """
    bits = bits_of_float(x)
    e = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    f = float_of_bits(bits - (e << np.int32(23))) - _f(1.0)
    n = _f(e) + more
    square = f * f
    p = _f(7.0376836292e-2)
    p = p * f + _f(-1.1514610310e-1)
    p = p * f + _f(1.1676998740e-1)
    p = p * f + _f(-1.2420140846e-1)
    p = p * f + _f(1.4249322787e-1)
    p = p * f + _f(-1.6668057665e-1)
    p = p * f + _f(2.0000714765e-1)
    p = p * f + _f(-2.4999993993e-1)
    p = p * f + _f(3.3333331174e-1)
    p = p * f * square + n * _LN2_LOW - _f(0.5) * square
    return f + p + n * _LN2_HIGH


@inlined
def log1p(x: Any) -> Any:
    """log(1 + x): the logarithm of the rounded sum, plus a correction for the rounding error."""
    u = _f(1.0) + x
    lost = (x - (u - _f(1.0))) / u
    value = log(u) + (lost if u > _f(0.0) else _f(0.0))
    value = value if u < _f(np.inf) else u
    return x if u == _f(1.0) else value


@inlined
def tanh(x: Any) -> Any:
    """tanh(x) as 1 - 2 / (exp(2 |x|) + 1), and near zero as a polynomial (coefficients as in Cephes)."""
    far = abs(x)
    y = _f(18.1) if far > _f(9.05) else far + far  # there it is 1
    n = (y * _LOG2_E + _ROUND) - _ROUND
    e = (exp_beside_1(y - n * _LN2_HIGH - n * _LN2_LOW) + _f(1.0)) * power_of_two(np.int32(n))
    value = _f(1.0) - _f(2.0) / (e + _f(1.0))
    s = x * x
    p = _f(-5.70498872745e-3)
    p = p * s + _f(2.06390887954e-2)
    p = p * s + _f(-5.37397155531e-2)
    p = p * s + _f(1.33314422036e-1)
    p = p * s + _f(-3.33332819422e-1)
    return with_sign(value if far > _f(0.625) else far + far * (p * s), x)


@inlined
def maximum(x: Any, y: Any) -> Any:
    """The larger of two numbers, NaN if one is."""
    return x if (x >= y) | np.isnan(x) else y


@inlined
def minimum(x: Any, y: Any) -> Any:
    """The smaller of two numbers, NaN if one is."""
    return x if (x <= y) | np.isnan(x) else y


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
