"""Normalisation over the last dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.dtypes import float32
from ...base.errors import refuse
from ...base.info import limits_of
from ...core.tensor import Tensor
from ...declare.annotations import Array, Sizes
from ...declare.decorators import general
from ...kernels.dispatch import accelerated
from ..reduce.kernels import SMALL, _array_type, add_up, averaging, mean_of_rows, mean_products, reshaped

FUNCTIONS = "layer_norm rms_norm"


def _layer_norm_meaning(input: Any, weight: Any, normalized_shape: Any, eps: float) -> Any:
    """Layer normalisation without its bias, composed of other operations."""
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - late.mean(input, dims, True)
    out = centred * late.rsqrt(late.mean(centred * centred, dims, True) + eps)
    return out if weight is None else out * weight


@accelerated
def normalized_rows(rows: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Each row of a matrix normalised, scaled and shifted; its mean and 1 / standard deviation, as columns."""
    if type(rows) is _array_type and rows.size < SMALL and rows.dtype.char in "fd":  # the same with less overhead
        average = averaging(rows.shape[1], rows.dtype)
        mean = rows.dot(average)
        out = rows - mean
        rstd = np.square(out).dot(average)
        rstd += eps
        np.reciprocal(np.sqrt(rstd, rstd), rstd)
    else:
        mean = mean_of_rows(rows)
        out = rows - mean
        rstd = 1 / np.sqrt(mean_products(out, out) + eps)
    out *= rstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, rstd


@accelerated
def normalized_rows_backward(rows: Any, g: Any, weight: Any, mean: Any, rstd: Any, needs: Any) -> Any:
    """Gradients of rows, weight and bias; with y the normalised rows and d = g * weight, that of the rows is
    rstd * (d - average(d) - y * average(d * y)).
    """
    y = rows - mean
    y *= rstd
    rows_g = None
    weight_g = add_up(g * y, 0) if needs[1] else None
    bias_g = add_up(g, 0) if needs[2] else None
    if needs[0]:
        d = g if weight is None else g * weight
        along = mean_products(d, y)
        y *= along
        rows_g = d - y
        rows_g -= mean_of_rows(d)
        rows_g *= rstd
    return rows_g, weight_g, bias_g


def _layer_norm_gradients(
    g: Any, input: Any, weight: Any, bias_shape: Any, normalized_shape: Any, eps: Any, mean: Any, rstd: Any, needs: Any
) -> Any:
    """Gradients of input, weight and bias."""
    ends = tuple(normalized_shape)
    shape, count = input.shape, math.prod(ends)
    rows = reshaped(input, (math.prod(shape[: len(shape) - len(ends)]), count))
    vector = _shaped(weight, (count,))
    rows_g, weight_g, bias_g = normalized_rows_backward(rows, reshaped(g, rows.shape), vector, mean, rstd, needs)
    return _shaped(rows_g, shape), _shaped(weight_g, ends), _shaped(bias_g, ends)


def _shaped(array: Any, shape: Any) -> Any:
    return None if array is None else reshaped(array, shape)


@general(
    inputs=("input", "weight", "bias"),
    joint_vjp=_layer_norm_gradients,
    decomposition=_layer_norm_meaning,
    bias=lambda g, bias_shape: late.sum_to_size(g, bias_shape),
    residuals=("mean", "rstd"),
    node="NativeLayerNormBackward0",
    dtypes="f",
    same_dtype=True,
    cost="cheap",
    saved_as="input normalized_shape result1=mean result2=rstd weight",
)
def _layer_norm(
    input: Array, normalized_shape: Sizes, weight: Array = None, bias: Array = None, eps: float = 1e-05
) -> Any:
    """Layer normalisation, with mean and 1 / standard deviation of each row for backward."""
    if len(normalized_shape) == 1 and len(input.shape) == 2:
        return normalized_rows(input, weight, bias, eps)
    count = math.prod(normalized_shape)
    rows = reshaped(input, (math.prod(input.shape[: len(input.shape) - len(normalized_shape)]), count))
    out, mean, rstd = normalized_rows(rows, _shaped(weight, (count,)), _shaped(bias, (count,)), eps)
    return reshaped(out, input.shape), mean, rstd


def _check_normalized(op: str, input: Tensor, shape: Any, weight: Any, bias: Any = None) -> tuple[int, ...]:
    if isinstance(shape, int):
        raise TypeError(f"{op}(): argument 'normalized_shape' (position 2) must be tuple of ints, not int")
    shape = tuple(shape)
    fits = input._shape[-len(shape) :] == shape and (weight is None or weight._shape == shape)
    if fits and shape and (bias is None or bias._shape == shape):
        return shape
    for n in shape:
        if isinstance(n, bool) or not hasattr(n, "__index__") or not -(1 << 63) <= n < 1 << 63:
            raise TypeError(
                f"{op}(): argument 'normalized_shape' (position 2) must be tuple of ints of 64 bits, but found {n!r}"
            )
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            f"normalized_shape = {list(shape)}: {op}()"
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(value._shape)} and normalized_shape = {list(shape)} in {op}()"
            )
    if input._shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{'' if op == 'rms_norm' else ', '}"
            f"{', '.join(map(str, shape))}], but got input of size{list(input._shape)}: {op}()"
        )
    return shape


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """Bring the last dimensions to mean 0 and variance 1, then scale and shift.

    Args:
        input: shape (..., *normalized_shape).
        normalized_shape: the sizes of the last dimensions, which are normalized together.
        weight, bias: shape `normalized_shape`, or None.
        eps: what is added to the variance before its root is divided by.
        cudnn_enable: accepted; there is one implementation.

    Raises:
        RuntimeError: if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    """
    shape = _check_normalized("layer_norm", input, normalized_shape, weight, bias)
    if input._spec.dtype.low:
        given = [t.dtype for t in (weight, bias) if t is not None]
        if given and all(d is dtypes.float32 for d in given):  # as under autocast
            return _layer_norm(input.to(dtypes.float32), shape, weight, bias, eps).to(input.dtype)
    return _layer_norm(input, shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Divide by the root of the mean square over the last dimensions: `input / sqrt(mean(input ** 2) + eps) * weight`.

    Source: arXiv 1910.07467.

    Args:
        input: shape (..., *normalized_shape).
        normalized_shape: the sizes of the last dimensions, which are normalized together.
        weight: shape `normalized_shape`, or None.
        eps: what is added to the mean; None takes the precision of the dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.rms_norm(torch.tensor([3.0, 4.0]), (2,))
        tensor([0.8485, 1.1314])
    """
    shape = _check_normalized("rms_norm", input, normalized_shape, weight)
    refuse("rms_norm", input._spec.dtype, "biul")
    dims = tuple(range(-len(shape), 0))
    small = limits_of(dtypes.computed_in(input._spec.dtype)).eps if eps is None else eps
    low = input._spec.dtype.low  # squares of half precision numbers overflow
    wide = input.to(float32) if low else input
    out = wide * late.rsqrt(late.mean(wide * wide, dims, True) + small)
    out = out if weight is None else out * (weight.to(float32) if low else weight)
    out = out if out.dtype is input.dtype else out.to(input.dtype)
    return out if out.is_contiguous() else out.contiguous()
