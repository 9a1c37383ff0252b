"""The error function on arrays, and the Gaussian error linear unit made of it.

    erf(x) = tanh(x + x R(x^2))

R is smooth and varies slowly, because atanh(erf(x)) is odd and grows like x^2 / 2: a polynomial of
degree 9 is enough for float32, a quotient of two for float64. Rounding errors of the argument
shrink on the way out, since the slope of tanh falls faster than its argument grows. The complement
needs its relative precision far out, where it is written as

    erfc(x) = exp(-x^2) S(x)

with a quotient S. The coefficients are minimax fits (least squares in 50 digits, reweighted until
the error is level); the comments say what error is left, relative to the function.

The gradient of gelu is an operation of its own: double backward saves two tensors instead of every intermediate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.generate.fusion import looped
from ...kernels.dispatch import LARGE, accelerated
from .blockwise import exp_of_negative, is_numpy
from .operands import select

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

_SQRT_8_OVER_PI, _CUBIC = math.sqrt(8 / math.pi), 0.044715
_SQRT_HALF, _INV_SQRT_TWO_PI = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)

FEW = 32  # elements: up to here, calling the functions of `math` takes less time than the polynomial


def one_by_one(function: Any, x: Any) -> Any:
    """A function of the module `math` on each element, rounded to the dtype of the array."""
    return np.array([function(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


@accelerated
def erf_of(x: Any) -> Any:
    """erf of a real floating-point array, to about two units in the last place."""
    if is_numpy(x) and x.size <= FEW and x.dtype.char in "fd":
        return one_by_one(math.erf, x)
    if is_numpy(x) and x.dtype.char == "f" and x.size < LARGE:
        return _erf_in_place(x)
    return looped(_erf_single if x.dtype == np.float32 else _erf_double, x)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    value = coefficients[-1] * x
    for c in coefficients[-2:0:-1]:
        value = (value + c) * x
    return value + coefficients[0]


def _erf_single(x: Any) -> Any:
    """R in powers of x^2 for |x| < 3.95, beyond which float32 has 1: 9.9e-9."""
    s = x * x
    r = ((s * 1.815563692e-10 - 8.568354047e-9) * s + 1.575354706e-7) * s - 1.298633571e-6
    r = ((r * s + 1.363280184e-6) * s + 6.924514899e-5) * s - 5.952279283e-4
    r = ((r * s - 2.066905047e-4) * s + 0.10277217) * s + 0.128379178
    return np.tanh(x + x * r)


_SINGLE = (
    1.815563692e-10, -8.568354047e-9, 1.575354706e-7, -1.298633571e-6, 1.363280184e-6, 6.924514899e-5, -5.952279283e-4,
    -2.066905047e-4, 0.10277217, 0.128379178,
)  # fmt: skip
_SINGLE_ARRAYS = [np.array(c, np.float32) for c in _SINGLE]


def _erf_in_place(x: Any) -> Any:
    """`_erf_single` of NumPy's arrays, without an array for each step, and without Python's numbers."""
    first, *others = _SINGLE_ARRAYS
    s = np.multiply(x, x)
    r = np.multiply(s, first)
    for c in others[:-1]:
        np.add(r, c, r)
        np.multiply(r, s, r)
    np.add(r, others[-1], r)
    np.multiply(r, x, r)
    np.add(r, x, r)
    return np.tanh(r, r)


def _erf_double(x: Any) -> Any:
    inner = np.clip(x, -6.0, 6.0)
    square = inner * inner
    return np.tanh(inner + inner * (_polynomial(_DOUBLE, square) / _polynomial(_DOUBLE_BELOW, square)))


@accelerated
def erfc_of(x: Any) -> Any:
    """erfc of a real floating-point array, to a few units in the last place, also where it is tiny."""
    if is_numpy(x) and x.size <= 16 * FEW and x.dtype.char in "fd":
        return one_by_one(math.erfc, x)
    return np.astype(_erfc_double(np.astype(x, np.float64)), x.dtype)


def _erfc_double(x: Any) -> Any:
    y = np.clip(np.abs(x), 0.0, 28.0)
    # A rounding error of x^2 becomes a relative error of exp(-x^2): so square half of the bits exactly, add the rest.
    high = y * 134217729.0
    high = high - (high - y)
    far = np.exp(-high * high) * np.exp((high - y) * (high + y))
    far = far * (_polynomial(_SCALED, y) / _polynomial(_SCALED_BELOW, y))
    return select(y < 0.5, 1 - erf_of(x), select(x < 0, 2 - far, far))


@accelerated
def gelu_of(x: Any) -> Any:
    """`x (1 + erf(x / sqrt(2))) / 2` of a real floating-point array."""
    return looped(_gelu_single if x.dtype == np.float32 else _gelu_double, x)


def gelu_slope_of(x: Any) -> Any:
    """The derivative of `gelu_of` at `x`: P(X <= x) + x times the density of the normal distribution."""
    return looped(_slope_single if x.dtype == np.float32 else _slope_double, x)


@accelerated
def gelu_gradient_of(g: Any, x: Any) -> Any:
    """`g * gelu_slope_of(x)`."""
    return looped(_gradient_single if x.dtype == np.float32 else _gradient_double, g, x)


def _inverse_single(x: Any) -> Any:
    """`1 / P(X <= x)` for a standard normal X: 1 + exp(-2 z) with z = atanh(erf(x / sqrt(2))).

    2 z / x = a + b s + c / (s (s + d) + e) with s = x^2, for |x| < 5.6: leaves 1.3e-7 of gelu(x) / x. Seven
    instructions; a polynomial as good takes twelve.
    """
    s = x * x
    ratio = -171.8489140334048 / ((s + 17.8151868532096) * s + 304.276086472394) + s * 0.0396124103601108
    return exp_of_negative((ratio + 2.16054609301114) * x) + 1


def _gelu_single(x: Any) -> Any:
    return x / _inverse_single(x)


def _slope_single(x: Any) -> Any:
    return 1 / _inverse_single(x) + exp_of_negative(x * x * 0.5) * x * _INV_SQRT_TWO_PI


def _gradient_single(g: Any, x: Any) -> Any:
    return g * _slope_single(x)


def _gelu_double(x: Any) -> Any:
    return x * (_erf_double(x * _SQRT_HALF) + 1) * 0.5


def _slope_double(x: Any) -> Any:
    return (_erf_double(x * _SQRT_HALF) + 1) * 0.5 + x * (np.exp(x * x * -0.5) * _INV_SQRT_TWO_PI)


def _gradient_double(g: Any, x: Any) -> Any:
    return g * _slope_double(x)


@elementwise(
    input=lambda g, input, approximate: late.gelu_backward(g, input, approximate),
    dtypes="f",
    blocks=False,
    saved_as="approximate self",
)
def gelu(input: Array, *, approximate: str = "none") -> Any:
    """`input * P(X <= input)` for a standard normal X.

    Args:
        approximate: "none", or "tanh" for the formula of Hendrycks and Gimpel (arXiv 1606.08415).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.gelu(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8413])
    """
    if approximate == "none":
        return gelu_of(input)
    if approximate == "tanh":
        return looped(_gelu_by_tanh, input)
    raise RuntimeError(f"gelu(): approximate argument must be either none or tanh, got {approximate!r}")


def _gelu_by_tanh(input: Any) -> Any:
    return input * _probability_by_tanh(input)


def _probability_by_tanh(x: Any) -> Any:
    """`(1 + tanh(u)) / 2` with u = sqrt(2 / pi) (x + 0.044715 x^3), which is the sigmoid of 2 u."""
    return 1 / (exp_of_negative(x * (x * x * (_CUBIC * _SQRT_8_OVER_PI) + _SQRT_8_OVER_PI)) + 1)


@elementwise(
    grad=lambda g, input, approximate: gelu_backward(g, input, approximate),
    input=lambda g, grad, input, approximate: g * grad * gelu_curvature(input, approximate),
    node="GeluBackwardBackward0",
    scalars=False,
    dtypes="f",
    blocks=False,
)
def gelu_backward(grad: Array, input: Array, approximate: str) -> Any:
    """`grad` times the slope of gelu at `input`."""
    return gelu_gradient_of(grad, input) if approximate == "none" else looped(_gradient_by_tanh, grad, input)


def _gradient_by_tanh(g: Any, x: Any) -> Any:
    """g (p + x dp/dx), where dp/dx = p (1 - p) times the derivative of the argument of the sigmoid."""
    p = _probability_by_tanh(x)
    return g * (p + x * ((1 - p) * p * (x * x * (3 * _CUBIC * _SQRT_8_OVER_PI) + _SQRT_8_OVER_PI)))


def gelu_curvature(x: Any, approximate: str) -> Any:
    """The second derivative of gelu: `2 - x^2` times the normal density, or that of the tanh approximation.

    On Tensors it is differentiable as the composition that it is.
    """
    return _curvature_by_tanh(x) if approximate == "tanh" else (2 - x * x) * late.exp(x * x * -0.5) * _INV_SQRT_TWO_PI


def _curvature_by_tanh(x: Any) -> Any:
    """p q (2 v' + x (v'' + (q - p) v'^2)), where p is the sigmoid of v, and q = 1 - p that of -v."""
    square = x * x
    v = x * (square * _CUBIC + 1) * _SQRT_8_OVER_PI
    p, q = late.sigmoid(v), late.sigmoid(-v)
    slope = (square * (3 * _CUBIC) + 1) * _SQRT_8_OVER_PI
    return p * q * (slope * 2 + x * (x * (6 * _CUBIC * _SQRT_8_OVER_PI) + (q - p) * slope * slope))
