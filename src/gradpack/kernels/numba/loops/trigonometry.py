"""Sine and cosine of one float32, to 1.6 units in the last place, without a branch for angles up to `MOST`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from .functions import bits_of_float, float_of_bits
from .loop import inlined

_f = np.float32
MOST = _f(71476.0)  # the quarters of a turn in it have few enough bits for the three steps below
_QUARTERS = _f(2 / math.pi)
_FIRST, _SECOND, _THIRD = _f(-1.5707963705062866), _f(4.371138828673793e-08), _f(1.7151245100058819e-15)  # sum: -pi/2
_ROUND = _f(12582912.0)  # 1.5 * 2^23: what is added to it is rounded to an integer


@intrinsic  # type: ignore[untyped-decorator]
def _fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """`a * b + c`, rounded once."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float32(types.float32, types.float32, types.float32), code


@inlined
def _sine(x: Any, quarters: Any) -> Any:
    """The sine of x and so many quarters of a turn more: polynomials with coefficients as in Cephes."""
    n = (x * _QUARTERS + _ROUND) - _ROUND
    r = _fma(n, _THIRD, _fma(n, _SECOND, _fma(n, _FIRST, x)))  # from -pi/4 to pi/4
    quarter = np.int32(n) + quarters
    z = r * r
    s = _f(-1.9515295891e-4)
    s = s * z + _f(8.3321608736e-3)
    s = s * z + _f(-1.6666654611e-1)
    c = _f(2.443315711809948e-5)
    c = c * z + _f(-1.388731625493765e-3)
    c = c * z + _f(4.166664568298827e-2)
    c = c * z + _f(-0.5)
    value = c * z + _f(1.0) if quarter & np.int32(1) else s * z * r + r
    return float_of_bits(bits_of_float(value) ^ ((quarter & np.int32(2)) << np.int32(30)))


@inlined
def sin(x: Any) -> Any:
    """sin(x) for |x| up to `MOST`, and NaN."""
    value = _sine(x, np.int32(0))
    return x if x == _f(0.0) else value  # also -0


@inlined
def cos(x: Any) -> Any:
    """cos(x) for |x| up to `MOST`, and NaN."""
    return _sine(x, np.int32(1))


@inlined
def is_far(x: Any) -> Any:
    """Whether `sin` and `cos` do not take an angle."""
    return abs(x) > MOST


@inlined
def sin_of_any(x: Any) -> Any:
    """sin(x), which is the same where others are far: results do not depend on parts."""
    return math.sin(x) if is_far(x) else sin(x)


@inlined
def cos_of_any(x: Any) -> Any:
    """cos(x) likewise."""
    return math.cos(x) if is_far(x) else cos(x)
