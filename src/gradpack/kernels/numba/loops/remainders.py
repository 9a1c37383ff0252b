"""Divisions with a remainder of float32, in float64, where quotients below 2^22 make no rounding error that counts.

Each loop tells how many elements it could not do: with larger quotients, and with what is not finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import bits_of_float, float_of_bits
from .loop import inlined, loop

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
