"""The gradient of gelu as an operation of its own: double backward saves two tensors instead of every intermediate."""

from __future__ import annotations

import math
from typing import Any

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.generate.tiling import looped
from .activation import CUBIC, SQRT_8_OVER_PI, probability_by_tanh
from .error_function import gelu_gradient_of

_INV_SQRT_2_PI = 1 / math.sqrt(2 * math.pi)


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
    p = probability_by_tanh(x)
    return g * (p + x * ((1 - p) * p * (x * x * (3 * CUBIC * SQRT_8_OVER_PI) + SQRT_8_OVER_PI)))


def gelu_curvature(x: Any, approximate: str) -> Any:
    """The second derivative of gelu: `2 - x^2` times the normal density, or that of the tanh approximation.

    On Tensors it is differentiable as the composition that it is.
    """
    return _curvature_by_tanh(x) if approximate == "tanh" else (2 - x * x) * late.exp(x * x * -0.5) * _INV_SQRT_2_PI


def _curvature_by_tanh(x: Any) -> Any:
    """p q (2 v' + x (v'' + (q - p) v'^2)), where p is the sigmoid of v, and q = 1 - p that of -v."""
    square = x * x
    v = x * (square * CUBIC + 1) * SQRT_8_OVER_PI
    p, q = late.sigmoid(v), late.sigmoid(-v)
    slope = (square * (3 * CUBIC) + 1) * SQRT_8_OVER_PI
    return p * q * (slope * 2 + x * (x * (6 * CUBIC * SQRT_8_OVER_PI) + (q - p) * slope * slope))
