"""Trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...kernels.dispatch import LARGE
from .blockwise import blockwise, is_numpy
from .operands import is_complex

FUNCTIONS = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sinc hypot deg2rad rad2deg"
METHODS = FUNCTIONS
INPLACE = " ".join(f"{name}_" for name in FUNCTIONS.split())
ALIASES = {f"arc{name}": f"a{name}" for name in "sin cos tan tan2 sinh cosh tanh".split()}


@elementwise(input=lambda g, input: g * cos(input), result="float", refuses="complex32", ufunc=np.sin)
def sin(input: Array) -> Any:
    """The sine of an angle in radians.

    Example::

        >>> import gradpack as torch
        >>> torch.sin(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8415])
    """
    return np.sin(input)


@elementwise(input=lambda g, input: -g * sin(input), result="float", refuses="complex32", ufunc=np.cos)
def cos(input: Array) -> Any:
    """The cosine of an angle in radians.

    Example::

        >>> import gradpack as torch
        >>> torch.cos(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 0.5403])
    """
    return np.cos(input)


@elementwise(input=lambda g, out: g * (out * out + 1), result="float", refuses="complex32")
def tan(input: Array) -> Any:
    """The tangent of an angle in radians.

    Example::

        >>> import gradpack as torch
        >>> torch.tan(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5574])
    """
    return np.tan(input)


@elementwise(input=lambda g, input: g / late.sqrt(1 - input * input), result="float", refuses="complex32")
def asin(input: Array) -> Any:
    """The angle whose sine is `input`: NaN outside of [-1, 1].

    Example::

        >>> import gradpack as torch
        >>> torch.asin(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5708])
    """
    return np.arcsin(input)


@elementwise(input=lambda g, input: -g / late.sqrt(1 - input * input), result="float", refuses="complex32")
def acos(input: Array) -> Any:
    """The angle whose cosine is `input`: NaN outside of [-1, 1].

    Example::

        >>> import gradpack as torch
        >>> torch.acos(torch.tensor([0.0, 1.0]))
        tensor([1.5708, 0.0000])
    """
    return np.arccos(input)


@elementwise(input=lambda g, input: g / (input * input + 1), result="float", refuses="complex32")
def atan(input: Array) -> Any:
    """The angle whose tangent is `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.atan(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7854])
    """
    return np.arctan(input)


@elementwise(
    input=lambda g, input, other: g * other * _over_square(input, other),
    other=lambda g, input, other: g * -input * _over_square(input, other),
    result="float",
    scalars=False,
    dtypes="bif",
)
def atan2(input: Array, other: Array) -> Any:
    """The angle of the point with the coordinates `other` and `input`, in (-pi, pi]; the gradient at (0, 0) is 0.

    Example::

        >>> import gradpack as torch
        >>> torch.atan2(torch.tensor([1.0, -1.0]), torch.tensor([1.0, -1.0]))
        tensor([ 0.7854, -2.3562])
    """
    return np.arctan2(input, other)


def _over_square(x: Any, y: Any) -> Any:
    square = x * x + y * y
    return late.where(late.eq(square, 0), 0.0, 1 / square)


@elementwise(input=lambda g, input: g * cosh(input), result="float", refuses="complex32")
def sinh(input: Array) -> Any:
    """The hyperbolic sine.

    Example::

        >>> import gradpack as torch
        >>> torch.sinh(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 1.1752])
    """
    return np.sinh(input)


@elementwise(input=lambda g, input: g * sinh(input), result="float", refuses="complex32")
def cosh(input: Array) -> Any:
    """The hyperbolic cosine.

    Example::

        >>> import gradpack as torch
        >>> torch.cosh(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 1.5431])
    """
    return np.cosh(input)


@elementwise(input=lambda g, out: g * (1 - out * out), result="float", refuses="complex32", ufunc=np.tanh)
def tanh(input: Array) -> Any:
    """The hyperbolic tangent.

    Example::

        >>> import gradpack as torch
        >>> torch.tanh(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    return np.tanh(input)


@elementwise(input=lambda g, input: g / late.sqrt(input * input + 1), result="float", refuses="complex32")
def asinh(input: Array) -> Any:
    """The inverse of `sinh`.

    Example::

        >>> import gradpack as torch
        >>> torch.asinh(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8814])
    """
    return np.arcsinh(input)


@elementwise(input=lambda g, input: g / _acosh_root(input), result="float", refuses="complex32")
def acosh(input: Array) -> Any:
    """The inverse of `cosh`: NaN below 1.

    Example::

        >>> import gradpack as torch
        >>> torch.acosh(torch.tensor([1.0, 2.0]))
        tensor([0.0000, 1.3170])
    """
    return np.arccosh(input)


def _acosh_root(x: Any) -> Any:
    if is_complex(x):  # the root of the product would be on the wrong branch for half of the plane
        return late.sqrt(x - 1) * late.sqrt(x + 1)
    return late.sqrt(x * x - 1)


@elementwise(input=lambda g, input: g / (1 - input * input), result="float", refuses="complex32")
def atanh(input: Array) -> Any:
    """The inverse of `tanh`: NaN outside of [-1, 1].

    Example::

        >>> import gradpack as torch
        >>> torch.atanh(torch.tensor([0.0, 0.5]))
        tensor([0.0000, 0.5493])
    """
    return np.arctanh(input)


@elementwise(input=lambda g, input: _sinc_gradient(g, input * math.pi) * math.pi, result="float", refuses="complex32")
def sinc(input: Array) -> Any:
    """`sin(pi * input) / (pi * input)`, and 1 at 0.

    Example::

        >>> import gradpack as torch
        >>> torch.sinc(torch.tensor([0.0, 0.5]))
        tensor([1.0000, 0.6366])
    """
    x = input * math.pi
    return np.where(x == 0, 1.0, np.sin(x) / x)


def _sinc_gradient(g: Any, x: Any) -> Any:
    """The gradient of `sin(x) / x`; so near 0 that the square is 0, it is 0."""
    square = x * x
    return late.where(late.eq(square, 0), 0.0, g * ((x * cos(x) - sin(x)) / square))


@elementwise(
    input=lambda g, input, out: g * (input / out),
    other=lambda g, other, out: g * (other / out),
    scalars=False,
    dtypes="f",
)
def hypot(input: Array, other: Array) -> Any:
    """`sqrt(input ** 2 + other ** 2)`, without overflow.

    Example::

        >>> import gradpack as torch
        >>> torch.hypot(torch.tensor([3.0]), torch.tensor([4.0]))
        tensor([5.])
    """
    if is_numpy(input) and input.dtype.char == "f" and input.size >= LARGE and input.shape == other.shape:
        return blockwise(_hypot_single, input, 1, other)
    return np.hypot(input, other)


def _hypot_single(x: Any, out: Any, y: Any, squares: Any) -> None:
    """`hypot` of a float32 block; in float64 if a sum of squares overflows or underflows."""
    np.square(x, out)
    np.square(y, squares)
    np.add(out, squares, out)
    if np.maximum.reduce(out) < 1e38 and np.minimum.reduce(out) > 1e-30:
        np.sqrt(out, out)
    else:
        np.copyto(out, _hypot_wide(x, y))


def _hypot_wide(x: Any, y: Any) -> Any:
    """`hypot` of float32 computed in float64, where squares neither overflow nor underflow: vectorised, unlike C's."""
    squares = np.square(x, dtype=np.float64)
    squares += np.square(y, dtype=np.float64)
    out = np.sqrt(squares, out=squares).astype(x.dtype)
    return np.hypot(x, y) if np.isnan(out).any() else out  # hypot(inf, nan) is inf


@elementwise(input=lambda g: g * (math.pi / 180), result="float", dtypes="bif", node="Deg2RadBackward0")
def deg2rad(input: Array) -> Any:
    """Degrees as radians.

    Example::

        >>> import gradpack as torch
        >>> torch.deg2rad(torch.tensor([180.0, 90.0]))
        tensor([3.1416, 1.5708])
    """
    return input * (math.pi / 180)


@elementwise(input=lambda g: g * (180 / math.pi), result="float", dtypes="bif", node="Rad2DegBackward0")
def rad2deg(input: Array) -> Any:
    """Radians as degrees.

    Example::

        >>> import gradpack as torch
        >>> torch.rad2deg(torch.tensor([1.0]))
        tensor([57.2958])
    """
    return input * (180 / math.pi)
