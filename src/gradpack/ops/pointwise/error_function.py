"""The error function on arrays, and the Gaussian error linear unit made of it.

    erf(x) = tanh(x + x R(x^2))

R is smooth and varies slowly, because atanh(erf(x)) is odd and grows like x^2 / 2: a polynomial of
degree 9 is enough for float32, a quotient of two for float64. Rounding errors of the argument
shrink on the way out, since the slope of tanh falls faster than its argument grows. The complement
needs its relative precision far out, where it is written as

    erfc(x) = exp(-x^2) S(x)

with a quotient S. The coefficients are minimax fits (least squares in 50 digits, reweighted until
the error is level); the comments say what error is left, relative to the function.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...declare.generate.fusion import looped
from ...kernels.dispatch import accelerated
from ..shape.memory_formats import as_beside
from .blockwise import SHORT_EXP2, blockwise, is_numpy
from .selection import select

# R in powers of x^2 for |x| < 3.95, beyond which float32 has 1: 9.9e-9.
_SINGLE = (
    0.128379178, 0.10277217, -2.066905047e-4, -5.952279283e-4, 6.924514899e-5, 1.363280184e-6, -1.298633571e-6,
    1.575354706e-7, -8.568354047e-9, 1.815563692e-10,
)  # fmt: skip
# R as a quotient for |x| < 6: 1.2e-17. Here and below all coefficients are positive: nothing cancels.
_DOUBLE = (
    0.128379167095512588, 0.163479584515910531, 0.0658389309367950209, 0.0165126783103099131, 2.76579670858699718e-3,
    3.24622654383024329e-4, 2.69153127535866619e-5, 1.49054170933073022e-6, 5.09654982346741008e-8,
    4.41283180547013536e-10,
)  # fmt: skip
_DOUBLE_BELOW = (
    1.0, 0.472872527431238734, 0.135923805223084267, 0.0251791667193728923, 3.27963932308421696e-3,
    3.04153745796278894e-4, 1.91580185953107759e-5, 8.09173088000991121e-7, 1.38899087696676295e-8,
    2.88290675634424233e-11,
)  # fmt: skip
# S in powers of x for 0.4 < x < 28: 6.1e-18.
_SCALED = (
    0.99999999999017925844, 2.2575752328024923553, 2.5159541102678166579, 1.7824586214181544413,
    0.87719081126323636992, 0.31005625025584634163, 0.078810140712032226164, 0.013964786654049248524,
    0.0015823054234794549719, 0.000089321079847506051783,
)  # fmt: skip
_SCALED_BELOW = (
    1.0, 3.3859543997257830552, 5.3365945170610776684, 5.1704590688819744971, 3.4219282210631392824,
    1.6232215904980410787, 0.56185720727428280328, 0.14108961902099785694, 0.024831098629062676016,
    0.0028045633411401136568, 0.00015831749194284503236,
)  # fmt: skip


FEW = 32  # elements: up to here, calling the functions of `math` takes less time than the polynomial


def one_by_one(function: Any, x: Any) -> Any:
    """A function of the module `math` on each element, rounded to the dtype of the array."""
    return np.array([function(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


@accelerated
def erf_of(x: Any) -> Any:
    """erf of a real floating-point array, to about two units in the last place.

    The array goes through the cache once, so that float32 takes little more than a vectorised loop in C would.
    """
    if is_numpy(x):
        if x.size <= FEW and x.dtype.char in "fd":
            return one_by_one(math.erf, x)
        return blockwise(erf_single, x, 1) if x.dtype.char == "f" else blockwise(_erf_double, x, 2)
    if x.dtype == np.float32:
        square = x * x
        return np.tanh(x + x * _polynomial(_SINGLE, square))
    inner = np.clip(x, -6.0, 6.0)
    square = inner * inner
    return np.tanh(inner + inner * (_polynomial(_DOUBLE, square) / _polynomial(_DOUBLE_BELOW, square)))


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    value = coefficients[-1] * x
    for c in coefficients[-2:0:-1]:
        value = (value + c) * x
    return value + coefficients[0]


def _polynomial_into(out: Any, coefficients: tuple[float, ...], x: Any) -> None:
    np.multiply(x, coefficients[-1], out)
    for c in coefficients[-2:0:-1]:
        np.add(out, c, out)
        np.multiply(out, x, out)
    np.add(out, coefficients[0], out)


def erf_single(x: Any, out: Any, square: Any) -> None:
    """erf of a block of float32, written into `out`."""
    np.multiply(x, x, square)
    _polynomial_into(out, _SINGLE, square)
    np.multiply(out, x, out)
    np.add(out, x, out)
    np.tanh(out, out)


def _erf_double(x: Any, out: Any, square: Any, below: Any) -> None:
    np.clip(x, -6.0, 6.0, out=below)
    np.multiply(below, below, square)
    _polynomial_into(out, _DOUBLE, square)
    np.multiply(out, below, out)
    _polynomial_into(below, _DOUBLE_BELOW, square)
    np.divide(out, below, out)
    np.clip(x, -6.0, 6.0, out=below)
    np.add(out, below, out)
    np.tanh(out, out)


@accelerated
def erfc_of(x: Any) -> Any:
    """erfc of a real floating-point array, to a few units in the last place, also where it is tiny."""
    if is_numpy(x) and x.size <= FEW and x.dtype.char in "fd":
        return one_by_one(math.erfc, x)
    return looped(_erfc_single, x) if x.dtype == np.float32 else _erfc_double(x)


def _erfc_single(x: Any) -> Any:
    """t exp(P(t) - x^2) with t = 1 / (1 + |x| / 2), P fitted for float32: relative error 4.6e-8 before rounding."""
    y = np.minimum(np.abs(x), 10.2)
    high = y * 4097.0  # splits x in two halves of its bits: see `_erfc_double`
    high = high - (high - y)
    t = 1 / (y * 0.5 + 1)
    p = ((t * 0.143652993 - 0.674066256) * t + 1.14138485) * t - 0.676731944
    p = (((p * t - 0.0955174298) * t + 0.00878605827) * t + 0.0322770576) * t
    p = ((p + 0.387070995) * t + 0.998590014) * t - 1.26544629
    far = np.exp(-(high * high)) * np.exp(p - (y - high) * (y + high)) * t
    return select(x < 0, 2 - far, far)


def _erfc_double(x: Any) -> Any:
    y = np.clip(np.abs(x), 0.0, 28.0)
    # A rounding error of x^2 becomes a relative error of exp(-x^2): so square half of the bits exactly, add the rest.
    high = y * 134217729.0
    high = high - (high - y)
    far = np.exp(-high * high) * np.exp((high - y) * (high + y))
    far = far * (_polynomial(_SCALED, y) / _polynomial(_SCALED_BELOW, y))
    return select(y < 0.5, 1 - erf_of(x), select(x < 0, 2 - far, far))


# atanh(erf(x / sqrt(2))) / x = a + b s + c / (s (s + d) + e) with s = x^2, for |x| < 5.6: leaves 1.3e-7 of
# gelu(x) / x. Seven instructions; a polynomial as good takes twelve.
_GELU = (1.08027304655057, 0.0198062051800554, -85.9244570167024, 17.8151868532096, 304.276086472394)
_SQRT_HALF = math.sqrt(0.5)
_HALF_LOG2_E = -0.5 / math.log(2)
_INV_SQRT_TWO_PI = 1 / math.sqrt(2 * math.pi)


@accelerated
def gelu_of(x: Any) -> Any:
    """`x (1 + erf(x / sqrt(2))) / 2` of a real floating-point array."""
    if not is_numpy(x):
        return x * (erf_of(x * _SQRT_HALF) + 1) * 0.5
    made = blockwise(_gelu_single, x, 2) if x.dtype.char == "f" else blockwise(_gelu_double, x, 3)
    return as_beside(made, x, None)


def gelu_slope_of(x: Any) -> Any:
    """The derivative of `gelu_of` at `x`: P(X <= x) + x times the density of the normal distribution."""
    if is_numpy(x):
        return blockwise(_gelu_slope_single, x, 2) if x.dtype.char == "f" else blockwise(_gelu_slope_double, x, 3)
    return (erf_of(x * _SQRT_HALF) + 1) * 0.5 + x * (np.exp(x * x * -0.5) * _INV_SQRT_TWO_PI)


@accelerated
def gelu_gradient_of(g: Any, x: Any) -> Any:
    """`g * gelu_slope_of(x)`."""
    if is_numpy(g) and is_numpy(x) and g.dtype == x.dtype and g.shape == x.shape:
        if x.dtype.char == "f":
            return blockwise(_gelu_gradient_single, x, 2, g)
        return blockwise(_gelu_gradient_double, x, 3, g)
    return g * gelu_slope_of(x)


_GELU_EXP2 = tuple(v * (-2 / math.log(2) if nr < 3 else 1) for nr, v in enumerate(_GELU))


def _gelu_single(x: Any, out: Any, y: Any, square: Any) -> None:
    _probability_times(x, x, out, y, square)


def _probability_times(factor: Any, x: Any, out: Any, y: Any, square: Any) -> None:
    """`factor * P(X <= x)` of single precision."""
    a, b, c, d, e = _GELU_EXP2 if SHORT_EXP2 else _GELU
    np.square(x, square)
    np.add(square, d, y)
    np.multiply(y, square, y)
    np.add(y, e, y)
    np.divide(c, y, y)
    np.multiply(square, b, square)
    np.add(y, square, y)
    np.add(y, a, y)
    np.multiply(y, x, y)
    if SHORT_EXP2:  # (1 + tanh(z)) / 2 = 1 / (1 + exp(-2 z))
        np.exp2(y, y)
        np.add(y, 1, y)
        np.divide(factor, y, out)
        return
    np.tanh(y, y)
    np.add(y, 1, y)
    np.multiply(y, factor, y)
    np.multiply(y, 0.5, out)


def _gelu_double(x: Any, out: Any, scaled: Any, square: Any, below: Any) -> None:
    _probability_double(x, out, scaled, square, below)
    np.multiply(out, x, out)


def _probability_double(x: Any, out: Any, scaled: Any, square: Any, below: Any) -> None:
    np.multiply(x, _SQRT_HALF, scaled)
    _erf_double(scaled, out, square, below)
    np.add(out, 1, out)
    np.multiply(out, 0.5, out)


def _gelu_slope_single(x: Any, out: Any, y: Any, density: Any) -> None:
    _probability_times(1, x, out, y, density)
    _add_density(x, out, density)


def _gelu_slope_double(x: Any, out: Any, scaled: Any, square: Any, below: Any) -> None:
    _probability_double(x, out, scaled, square, below)
    _add_density(x, out, square)


def _add_density(x: Any, out: Any, density: Any) -> None:
    """Add `x` times the density of the normal distribution at `x`."""
    np.square(x, density)
    if SHORT_EXP2 and x.dtype.char == "f":
        np.multiply(density, _HALF_LOG2_E, density)
        np.exp2(density, density)
    else:
        np.multiply(density, -0.5, density)
        np.exp(density, density)
    np.multiply(density, x, density)
    np.multiply(density, _INV_SQRT_TWO_PI, density)
    np.add(out, density, out)


def _gelu_gradient_single(x: Any, out: Any, g: Any, y: Any, density: Any) -> None:
    _gelu_slope_single(x, out, y, density)
    np.multiply(out, g, out)


def _gelu_gradient_double(x: Any, out: Any, g: Any, scaled: Any, square: Any, below: Any) -> None:
    _gelu_slope_double(x, out, scaled, square, below)
    np.multiply(out, g, out)
