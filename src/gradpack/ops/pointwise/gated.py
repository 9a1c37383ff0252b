"""`prelu`, and activations that need half of their input or random numbers: `glu`, `rrelu`; in-place forms."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING, float16
from ...base.errors import not_implemented_for, scalar_type
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array, Setting
from ...declare.decorators import elementwise, general
from ...declare.inplace.inplace import inplace
from ...kernels.dispatch import accelerated
from ..random.generator import Generator, source
from ..reduce.dimensions import axis
from ..shape.dims import wrap_dim
from .activation import SELU_ALPHA, SELU_SCALE, _celu, _elu, hardtanh, leaky_relu, relu
from .activation import threshold as _threshold
from .operands import select

FUNCTIONS = "prelu rrelu rrelu_ celu_ selu_ threshold_"
METHODS = "prelu"


def _check_types(op: Any, values: Any, common: Any) -> None:
    given = [scalar_type(v._spec.dtype) for v in values[:2]]
    if given[0] != given[1]:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {given[0]} and {given[1]}: convert one of them")


@elementwise(
    input=lambda g, input, weight: late.where(input > 0, g, g * weight),
    weight=lambda g, input: late.where(input > 0, 0.0, g * late.where(input >= 0, 0.0, input)),
    node="PreluKernelBackward0",
    dtypes="f",
    blocks=False,
    flat=True,
    autocast="lower",
    compares=True,
    check=_check_types,
)
def _prelu(input: Array, weight: Array) -> Any:
    """`input` above zero, `weight * input` elsewhere."""
    return rectified(input, weight)


@accelerated
def rectified(input: Any, weight: Any) -> Any:
    """`input` above zero, `weight * input` elsewhere, with one weight or one for each channel (dimension 1)."""
    return select(input > 0, input, weight * input)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where it is positive, else `weight * input`, with one weight, or one for each channel (dimension 1).

    Args:
        weight: the slopes of negative elements: one, or one for each channel.

    Example::

        >>> import gradpack as torch
        >>> torch.prelu(torch.tensor([-1.0, 2.0]), torch.tensor(0.5))
        tensor([-0.5000,  2.0000])
    """
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.numel() != 1:
        if input.ndim < 1:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input._shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found "
                f"parameter numbers = {weight.numel()} and channel size = {channels}."
            )
        weight = late.reshape(weight, (1, channels) + (1,) * (input.ndim - 2)) if input.ndim > 1 else weight
    elif weight.ndim:
        weight = late.reshape(weight, (1,) * max(input.ndim, 0))
    return _prelu(input, weight)


# -- glu --


@general(input=lambda g, input, dim: gated_backward(input, g, dim), dtypes="f", name="glu")
def _glu(input: Array, dim: int) -> Any:
    """Half of `input` gated by the sigmoid of the other half."""
    return gated(input, axis(dim, len(input.shape)))


@accelerated
def gated(input: Any, place: int) -> Any:
    """Half of `input` along a dimension times the sigmoid of the other half."""
    half, before = input.shape[place] // 2, (slice(None),) * place
    return input[(*before, slice(half), ...)] / (np.exp(-input[(*before, slice(half, None), ...)]) + 1)


@accelerated
def gated_backward(input: Any, g: Any, dim: int) -> Any:
    """The gradient of `gated`."""
    half = input.shape[dim] // 2
    a, gate = late.narrow(input, dim, 0, half), late.sigmoid(late.narrow(input, dim, half, half))
    first = g * gate
    return late.cat((first, first * (1 - gate) * a), dim)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of `input` along a dimension, times the sigmoid of the second: the gated linear unit.

    Args:
        dim: the dimension that is halved.

    Raises:
        RuntimeError: for a dimension of odd size.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.glu(torch.zeros(4))
        tensor([0., 0.])
    """
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    d = wrap_dim(dim, input.ndim)
    if input._shape[d] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {d} is size {input._shape[d]}")
    return _glu(input, d)


# -- rrelu --


@general(
    input=lambda g, noise: g * noise,
    jvp=lambda input_t, noise: _scaled(input_t, noise),
    residuals=("noise",),
    node="RreluWithNoiseBackward0",
    dtypes="f",
    name="rrelu",
    contiguous=True,
    flat=True,
    cost="cheap",
    draws="training",
)
def _rrelu(input: Array, lower: float, upper: float, training: bool, generator: Setting = None) -> Any:
    """`input` above zero, below it times a number: a random one of an interval, or its middle."""
    if training:
        slope = source(generator).uniform(lower, upper, input.shape).astype(input.dtype)
    else:
        slope = np.asarray((lower + upper) / 2, input.dtype)
    noise = np.where(input > 0, np.ones((), input.dtype), slope)
    return input * noise, noise


def _scaled(tangent: Any, noise: Any) -> Any:
    return tangent * (noise if isinstance(noise, Tensor) or not isinstance(tangent, Tensor) else wrap(noise))


def _checked(input: Any, lower: float, upper: float) -> None:
    if isinstance(input, Tensor) and input._spec.dtype.category != FLOATING:
        raise not_implemented_for("rrelu_with_noise_out_cpu", input._spec.dtype)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")


def rrelu(
    input: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """`input` above zero; below it times a random number of `[lower, upper)` in training, else times their mean.

    Source: Xu et al., 2015.

    Args:
        lower, upper: the bounds of the slopes of negative elements.
        training: whether slopes are random; without, they are the mean of the bounds.

    Example::

        >>> import gradpack as torch
        >>> torch.rrelu(torch.tensor([-1.0, 1.0]), 0.25, 0.75)
        tensor([-0.5000,  1.0000])
    """
    _checked(input, lower, upper)
    if training and input._spec.dtype is float16:
        raise not_implemented_for("rrelu_with_noise_out_cpu", float16)
    return _rrelu(input, lower, upper, training, generator)


def rrelu_(
    input: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """In-place form of `rrelu`."""
    _checked(input, lower, upper)
    return inplace(_rrelu.op, "rrelu_", [input, lower, upper, training, generator])


# -- in place --


def relu_(input: Tensor) -> Tensor:
    """In-place form of `relu`."""
    return inplace(relu.op, "relu_", [input])


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place form of `elu`."""
    return _with_slope(inplace(_elu.op, "elu_", [input, alpha, 1.0, 1.0]), alpha, "elu")


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """In-place form of `celu`."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _with_slope(inplace(_celu.op, "celu_", [input, alpha, 1.0, 1.0 / alpha]), alpha, "elu")


def _with_slope(result: Tensor, slope: float, name: str) -> Tensor:
    """Return a result that was written in place; with a negative slope its backward raises, as torch's does."""
    if slope < 0 and result.grad_fn is not None:
        result.grad_fn.register_prehook(partial(_refuse_backward, name))
    return result


def _refuse_backward(name: str, grads: Any) -> None:
    raise RuntimeError(
        f"In-place {name} backward calculation is triggered with a negative slope which is not supported. This is "
        "caused by calling in-place forward function with a negative slope, please call out-of-place version instead."
    )


def selu_(input: Tensor) -> Tensor:
    """In-place form of `selu`."""
    return inplace(_elu.op, "selu_", [input, SELU_ALPHA, SELU_SCALE, 1.0])


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place form of `leaky_relu`."""
    made = inplace(leaky_relu.op, "leaky_relu_", [input, negative_slope])
    return _with_slope(made, negative_slope, "leakyReLu")


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """In-place form of `hardtanh`."""
    return inplace(hardtanh.op, "hardtanh_", [input, min_val, max_val])


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """In-place form of `threshold`."""
    return inplace(_threshold.op, "threshold_", [input, threshold, value])
