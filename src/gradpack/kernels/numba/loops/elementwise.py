"""Loops over elements, each by itself: dropout, gates and slopes, divisions with a remainder.

The arrays of `glu` and `prelu` come as ones of three dimensions, of which the middle one counts the halves or the
channels. Remainders of float32 are computed in float64, where quotients below 2^22 make no rounding error that counts:
each of those loops tells how many elements it could not do, with larger quotients and with what is not finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import bits_of_float, exp, float_of_bits
from .loop import inlined, loop


@loop
def added(a: Any, b: Any, out: Any) -> None:
    """`a + b`."""
    for i in range(a.size):
        out[i] = a[i] + b[i]


@loop
def added_to(a: Any, b: Any) -> None:
    """`a + b`, written to `a`."""
    for i in range(a.size):
        a[i] += b[i]


@loop
def rows_and_numbers(x: Any, numbers: Any, out: Any) -> None:
    """A number added to each row."""
    for i in range(numbers.size):
        number = numbers[i]
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] + number


@loop
def added_to_rows(x: Any, numbers: Any) -> None:
    """A number added to each row, written to it."""
    for i in range(numbers.size):
        number = numbers[i]
        for j in range(x.shape[1]):
            x[i, j] += number


@loop
def bits_of(x: Any, bits: Any) -> None:
    """A bit for each number of a row of eight, from the highest bit on: whether it is not zero."""
    flat = x.reshape(-1)  # rows of eight, as the compiler knows then
    for i in range(bits.size):
        made = 0
        for k in range(8):
            made |= (flat[8 * i + k] != 0) << (7 - k)
        bits[i] = made


@loop
def ones_of(x: Any, bits: Any) -> None:
    """The numbers of a row of eight: ones and zeros."""
    flat = x.reshape(-1)
    for i in range(bits.size):
        given = bits[i]
        for k in range(8):
            flat[8 * i + k] = (given >> (7 - k)) & 1


@loop
def masked(x: Any, kept: Any, scale: float, out: Any) -> None:
    """`x * scale` where `kept`, bytes of 1 and 0, else `x * 0`."""
    factor = x.dtype.type(scale)
    for i in range(x.size):
        out[i] = x[i] * (x.dtype.type(kept[i]) * factor)


@loop
def filled(x: Any, mask: Any, value: Any, out: Any) -> None:
    """`value` where `mask`, of bytes, is not 0; else x."""
    for i in range(x.size):
        out[i] = value if mask[i] else x[i]


@loop
def rows_filled(x: Any, mask: Any, value: Any, out: Any) -> None:
    """`filled` of each row, with one mask for all."""
    for r in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[r, i] = value if mask[i] else x[r, i]


_f = np.float32


@inlined
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)) of float32."""
    return _f(1.0) / (_f(1.0) + exp(-x))


@loop
def glu(x: Any, out: Any) -> None:
    """a sigmoid(b), of float32: `x` is of shape (n, 2, m), `out` of shape (n, m)."""
    for i in range(x.shape[0]):
        a, b, made = x[i, 0], x[i, 1], out[i]
        for j in range(a.size):
            made[j] = a[j] * sigmoid(b[j])


@loop
def glu_gradient(g: Any, x: Any, out: Any) -> None:
    """g sigmoid(b) for a, and g a sigmoid(b) (1 - sigmoid(b)) for b: `out` is as `x` is, `g` of shape (n, m)."""
    for i in range(x.shape[0]):
        a, b, into_a, into_b, given = x[i, 0], x[i, 1], out[i, 0], out[i, 1], g[i]
        for j in range(b.size):  # three loops of vectors: of one, the compiler cannot see that it may be
            into_b[j] = sigmoid(b[j])
        for j in range(b.size):
            into_a[j] = given[j] * into_b[j]
        for j in range(b.size):
            into_b[j] = into_a[j] * (_f(1.0) - into_b[j]) * a[j]


@loop
def prelu(x: Any, weight: Any, out: Any) -> None:
    """x above zero, weight x elsewhere: `x` and `out` are of shape (n, channels, m)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            given, made, slope = x[i, k], out[i, k], weight[k]
            for j in range(given.size):
                v = given[j]
                made[j] = v if v > 0 else slope * v


_EXACT = float(1 << 22)


@inlined
def _left(x: Any, y: Any, quotient: Any, signed: Any) -> Any:
    """x - quotient y, which has the sign of `signed`, but that a zero has that of `x`."""
    rest = bits_of_float(np.float32(x - quotient * y)) & np.int32(0x7FFFFFFF)
    side = signed if rest else np.float32(x)
    return float_of_bits(rest | (bits_of_float(side) & np.int32(-0x80000000)))


@inlined
def _is_done(quotient: Any, y: Any) -> Any:
    return (abs(quotient) < _EXACT) & (abs(y) < np.inf)


@loop
def fmod(x: Any, y: Any, out: Any) -> int:
    """x - trunc(x / y) y, for one y or as many as there are x."""
    others, step = 0, 1 if y.size > 1 else 0
    for i in range(x.size):
        a, b = np.float64(x[i]), np.float64(y[i * step])
        quotient = np.trunc(a / b)
        out[i] = _left(a, b, quotient, x[i])
        others += 0 if _is_done(quotient, b) else 1
    return others


@loop
def remainder(x: Any, y: Any, out: Any) -> int:
    """x - floor(x / y) y, likewise."""
    others, step = 0, 1 if y.size > 1 else 0
    for i in range(x.size):
        a, b = np.float64(x[i]), np.float64(y[i * step])
        quotient = np.floor(a / b)
        out[i] = _left(a, b, quotient, y[i * step])
        others += 0 if _is_done(quotient, b) else 1
    return others
