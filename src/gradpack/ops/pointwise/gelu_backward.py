"""The gradient of gelu as an operation of its own: double backward saves two tensors instead of every intermediate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...kernels.dispatch import accelerated
from .activation import CUBIC, SQRT_2_OVER_PI
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
    if approximate == "none":
        return gelu_gradient_of(grad, input)
    return tanh_gradient_of(grad, input)


@accelerated
def tanh_gradient_of(g: Any, x: Any) -> Any:
    """`g` times the slope of gelu with tanh."""
    return g * _slope_by_tanh(x)


def _slope_by_tanh(x: Any) -> Any:
    """p + x dp/dx, where p = (1 + tanh(u(x))) / 2, so that dp/du = 2 p (1 - p)."""
    square = x * x
    p = np.tanh((square * CUBIC + 1) * SQRT_2_OVER_PI * x)
    p += 1
    p *= 0.5
    square *= 3 * CUBIC
    square += 1
    square *= p
    square *= 1 - p
    square *= 2 * SQRT_2_OVER_PI
    square *= x
    square += p
    return square


def gelu_curvature(x: Any, approximate: str) -> Any:
    """The second derivative of gelu: `2 - x^2` times the normal density, or that of the tanh approximation.

    On Tensors it is differentiable as the composition that it is.
    """
    return tanh_curvature_of(x) if approximate == "tanh" else curvature_of(x)


@accelerated
def curvature_of(x: Any) -> Any:
    """`2 - x^2` times the normal density."""
    square = x * x
    return (2 - square) * (late.exp(square * -0.5) * _INV_SQRT_2_PI)


@accelerated
def tanh_curvature_of(x: Any) -> Any:
    """With t = tanh(u(x)): (1 - t^2) (u' + x (u'' / 2 - t u'^2))."""
    square = x * x
    bend = square * CUBIC
    t = late.tanh(x * (bend + 1) * SQRT_2_OVER_PI)
    first = (bend * 3 + 1) * SQRT_2_OVER_PI
    half_second = x * (3 * CUBIC * SQRT_2_OVER_PI)
    return (1 - t * t) * (first + x * (half_second - t * first * first))
