"""The logarithm of the gamma function and two derivatives: loops over float32 that compute in float64.

Rounding errors near their zeros are large beside the results; in float64 they are still too small to be seen in
float32. With a product p(x) = x (x + 1) ... (x + 6), all are taken at z = x + 7, where Stirling's series is short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .functions import same_bits
from .loop import inlined, loop

LEAST, MOST = np.float32(1e-18), np.float32(1e30)  # between which the loops compute
_HALF_LOG_TWO_PI = 0.9189385332046727
_LN2 = 0.6931471805599453


_bits = same_bits(types.float64, types.int64, ir.IntType(64))
_of_bits = same_bits(types.int64, types.float64, ir.DoubleType())


@inlined
def _log(x: Any) -> Any:
    """log(x) of a normal number, to 1e-15: e log(2) + 2 artanh(s) with s = (m - 1) / (m + 1) for m near 1."""
    bits = _bits(x)
    e = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
    m = _of_bits(bits - (e << np.int64(52)))
    s = (m - 1.0) / (m + 1.0)
    t = s * s
    p = 1 / 17
    p = p * t + 1 / 15
    p = p * t + 1 / 13
    p = p * t + 1 / 11
    p = p * t + 1 / 9
    p = p * t + 1 / 7
    p = p * t + 1 / 5
    p = p * t + 1 / 3
    # an integer of 52 bits as float64 without a conversion, which AVX2 does not have
    n = _of_bits(e + np.int64(0x4338000000000000)) - 6755399441055744.0
    return n * _LN2 + 2.0 * (s + s * (p * t))


@inlined
def _inside(x: Any) -> Any:
    return (x > LEAST) & (x < MOST)


@loop
def lgamma(x: Any, out: Any) -> int:
    """(z - 1/2) log(z) - z + log(2 pi) / 2 + 1 / (12 z) - ... - log(p), and how many elements are none for it."""
    others = 0
    for i in range(x.size):
        inside = _inside(x[i])
        v = np.float64(x[i] if inside else np.float32(1.0))
        p = v * (v + 1.0) * (v + 2.0) * (v + 3.0) * (v + 4.0) * (v + 5.0) * (v + 6.0)
        z = v + 7.0
        r = 1.0 / z
        s = r * r
        series = r * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360))))))
        value = (z - 0.5) * _log(z) - z + _HALF_LOG_TWO_PI + series - _log(p)
        out[i] = np.float32(0.0 if abs(value) < 1e-12 else value)  # at 1 and 2; beside them it is larger
        others += 0 if inside else 1
    return others


@loop
def digamma(x: Any, out: Any) -> int:
    """log(z) - 1 / (2 z) - 1 / (12 z^2) + ... - p'(x) / p(x), and how many elements are none for it."""
    others = 0
    for i in range(x.size):
        inside = _inside(x[i])
        v = np.float64(x[i] if inside else np.float32(1.0))
        p, slope = v, 1.0
        for k in range(1, 7):
            slope = slope * (v + k) + p
            p = p * (v + k)
        z = v + 7.0
        r = 1.0 / z
        s = r * r
        series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760))))))
        out[i] = np.float32(_log(z) - 0.5 * r - series - slope / p)
        others += 0 if inside else 1
    return others


@loop
def trigamma(x: Any, out: Any) -> int:
    """(p' / p)^2 - p'' / p + 1 / z + 1 / (2 z^2) + 1 / (6 z^3) - ..., and how many elements are none for it."""
    others = 0
    for i in range(x.size):
        inside = _inside(x[i])
        v = np.float64(x[i] if inside else np.float32(1.0))
        p, slope, bend = v, 1.0, 0.0
        for k in range(1, 7):
            bend = bend * (v + k) + 2.0 * slope
            slope = slope * (v + k) + p
            p = p * (v + k)
        z = v + 7.0
        r, quotient = 1.0 / z, slope / p
        s = r * r
        series = r * s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66 - s * (691 / 2730))))))
        out[i] = np.float32(quotient * quotient - bend / p + r + 0.5 * s + series)
        others += 0 if inside else 1
    return others
