"""Normalisation over groups of channels, over neighbouring channels, and torch's native names of such operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import float32
from ...base.errors import not_implemented_for
from ...base.modes import using
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general
from ...kernels.dispatch import accelerated
from ..conv.avg_pool import avg_pool2d
from ..conv.products import over_places
from ..conv.spatial import check_tensor
from ..reduce.kernels import SMALL, _array_type, add_up, averaging, dots, reshaped
from ..shape.memory_formats import channels_as_in
from .batch_norm import as_channels
from .padding import pad

FUNCTIONS = "group_norm native_group_norm native_layer_norm"


def _meaning(input: Any, groups: int, weight: Any, eps: float) -> Any:
    """Group normalisation without its bias, composed of other operations."""
    shape = input.shape
    rows = late.reshape(input, (shape[0] * groups, shape[1] // groups * math.prod(shape[2:])))
    centred = rows - late.mean(rows, 1, True)
    out = late.reshape(centred * late.rsqrt(late.mean(centred * centred, 1, True) + eps), shape)
    return out if weight is None else out * late.reshape(weight, (1, -1, *(1,) * (len(shape) - 2)))


@accelerated
def normalized_groups_backward(x: Any, g: Any, groups: int, weight: Any, mean: Any, rstd: Any, needs: Any) -> Any:
    """Gradients of input, weight and bias; with y the normalised input and d = g * weight, that of the
    input is rstd * (d - average(d) - y * average(d * y)): a sum of multiples of g, of the input and of one.
    """
    batch, channels, places = x.shape
    each = channels // groups
    shape = (batch, groups, each, places)
    x, g = reshaped(x, shape), reshaped(g, shape)
    sums, products = add_up(g, 3), dots(g, x)
    mean, rstd = reshaped(mean, (batch, groups, 1)), reshaped(rstd, (batch, groups, 1))
    products = (products - sums * mean) * rstd  # of g and y
    weight_g = reshaped(add_up(products, 0), (channels,)) if needs[1] else None
    bias_g = reshaped(add_up(sums, 0), (channels,)) if needs[2] else None
    if not needs[0]:
        return None, weight_g, bias_g
    scale, count = rstd, each * places
    if weight is not None:
        factor = reshaped(weight, (groups, each))
        scale, sums, products = factor * rstd, sums * factor, products * factor
    slope = add_up(products, 2, True) / count * rstd * rstd
    level = mean * slope - add_up(sums, 2, True) / count * rstd
    x_g = g * scale[..., None]
    x_g -= x * slope[..., None]
    x_g += level[..., None]
    return reshaped(x_g, (batch, channels, places)), weight_g, bias_g


def _gradients(
    g: Any, input: Any, groups: int, weight: Any, bias_shape: Any, eps: float, mean: Any, rstd: Any, needs: Any
) -> Any:
    """Gradients of input, weight and bias."""
    found = normalized_groups_backward(as_channels(input), as_channels(g), groups, weight, mean, rstd, needs)
    return None if found[0] is None else reshaped(found[0], input.shape), *found[1:]


@accelerated
def normalized_groups(x: Any, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    """Groups of channels normalised, channels scaled and shifted; mean and 1 / standard deviation of each group."""
    batch, channels, places = x.shape
    rows = reshaped(x, (batch * groups, channels // groups * places))
    if type(rows) is _array_type and rows.size < SMALL and rows.dtype.char in "fd":  # the same with less overhead
        average = averaging(rows.shape[1], rows.dtype)
        mean = rows.dot(average)
        made = np.subtract(rows, mean, order="C")
        rstd = np.square(made).dot(average)
        rstd += eps
        np.reciprocal(np.sqrt(rstd, rstd), rstd)
    else:
        rows = np.ascontiguousarray(rows)
        mean = add_up(rows, 1, True) / rows.shape[1]
        made = rows - mean
        rstd = 1 / np.sqrt(reshaped(dots(made, made), (-1, 1)) / rows.shape[1] + eps)
    if weight is None:
        made *= rstd
    out = reshaped(made, x.shape)
    if weight is not None:
        factor = reshaped(rstd, (batch, groups, 1)) * reshaped(weight, (groups, -1))
        out *= reshaped(factor, (batch, channels, 1))
    if bias is not None:
        out += reshaped(bias, (-1, 1))
    return out, mean, rstd


@general(
    inputs=("input", "weight", "bias"),
    joint_vjp=_gradients,
    decomposition=_meaning,
    bias=lambda g: over_places(g),
    residuals=("mean", "rstd"),
    node="NativeGroupNormBackward0",
    dtypes="f",
    same_dtype=True,
    cost="cheap",
    saved_as="eps group=groups input=input result1=mean result2=rstd weight",
)
def _group_norm(input: Array, groups: int, weight: Array = None, bias: Array = None, eps: float = 1e-05) -> Any:
    """Group normalisation, with mean and 1 / standard deviation of each group for backward."""
    out, mean, rstd = normalized_groups(as_channels(input), groups, weight, bias, eps)
    return channels_as_in(reshaped(out, input.shape), input), mean, rstd


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Bring each of `num_groups` groups of channels to mean 0 and variance 1, then scale and shift each channel.

    Args:
        input: shape (batch, channels, *space).
        num_groups: the number of groups: channels that follow one another are in one.
        weight, bias: shape (channels), or None.
        eps: what is added to the variance before its root is divided by.
        cudnn_enabled: accepted; there is one implementation.

    Raises:
        RuntimeError: if the shapes do not fit, or `num_groups` does not divide the number of channels.

    Example::

        >>> import gradpack as torch
        >>> torch.group_norm(torch.tensor([[1.0, 3.0]]), 1)
        tensor([[-1.0000,  1.0000]])
    """
    check_tensor("group_norm", input=input)
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    channels = input._shape[1]
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input._shape)} and num_groups={num_groups}"
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(value._shape)} and input of shape {list(input._shape)}"
            )
    if not input.is_floating_point():
        raise not_implemented_for("group_norm", input.dtype)
    mixed = input._spec.dtype.low and weight is not None and weight.dtype is float32
    given = input.to(float32) if mixed else input
    out: Tensor = _group_norm(given, num_groups, weight, bias, eps)
    return out.to(input.dtype) if mixed else out


def _moments(rows: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Mean and 1 / standard deviation of each row, which no gradient follows."""
    with using(grad=False):
        wide = rows.detach().to(float32) if rows._spec.dtype.low else rows.detach()
        mean = late.mean(wide, 1, True)
        rstd = late.rsqrt(late.mean((wide - mean) ** 2, 1, True) + eps)
        return mean.to(rows.dtype), rstd.to(rows.dtype)


def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm`, and the mean and 1 / standard deviation of each group: a tuple of three tensors.

    Args:
        input: shape (N, C, *space).
        weight, bias: shape (C), or None.
        N: the size of the batch.
        C: the number of channels.
        HxW: the number of places: the product of the sizes of space.
        group: the number of groups.
        eps: what is added to the variance before its root is divided by.

    Raises:
        RuntimeError: if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.native_group_norm(torch.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)[1:]
        (tensor([[2.]]), tensor([[1.]]))
    """
    out = group_norm(input, group, weight, bias, eps)
    if input.numel() != N * C * HxW:
        raise RuntimeError(
            f"native_group_norm(): expected N * C * HxW elements, which is {N * C * HxW}, but got an input of shape "
            f"{list(input._shape)}"
        )
    if not input.numel():
        zero = input.detach().new_zeros((N, group)) + late.sum(input)  # of nothing: a zero with a history
        return out, zero, zero
    spread, mean = late.var_mean(late.reshape(input, (N * group, -1)), -1, correction=0)
    return out, late.reshape(mean, (N, group)), late.reshape(late.rsqrt(spread + eps), (N, group))


def native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm`, and the mean and 1 / standard deviation that each row was normalised with.

    Example::

        >>> import gradpack as torch
        >>> torch.native_layer_norm(torch.tensor([[1.0, 3.0]]), (2,), None, None, 0.0)[1:]
        (tensor([[2.]]), tensor([[1.]]))
    """
    out = late.layer_norm(input, normalized_shape, weight, bias, eps)
    ndim = len(normalized_shape)
    lead = input._shape[: input.ndim - ndim]
    shape = (*lead, *(1,) * ndim)
    if not input.numel():
        scale = math.nan if 0 in normalized_shape else 0.0
        return out, input.detach().new_zeros(shape), input.detach().new_full(shape, scale)
    mean, rstd = _moments(late.reshape(input, (math.prod(lead), -1)), eps)
    return out, late.reshape(mean, shape), late.reshape(rstd, shape)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide by `(k + alpha * a) ** beta`, where a is the average square over `size` neighbouring channels.

    Args:
        input: shape (batch, channels, *space).
        size: the number of neighbouring channels.
        alpha: the factor of their average square.
        beta: the exponent.
        k: what is added.

    Raises:
        ValueError: for an input of fewer than three dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.local_response_norm(torch.ones(1, 2, 1), 2, alpha=2.0, beta=1.0)
        tensor([[[0.5000],
                 [0.3333]]])
    """
    if input.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if not input.numel():
        return input
    squares = late.reshape(input * input, (input._shape[0], 1, input._shape[1], -1))
    around = pad(squares, (0, 0, size // 2, (size - 1) // 2))
    average_square = late.reshape(avg_pool2d(around, (size, 1), 1), input._shape)
    return input / (average_square * alpha + k) ** beta
