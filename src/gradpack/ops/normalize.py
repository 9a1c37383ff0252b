"""Normalisation over the last dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import dtypes
from ..declare.kinds import general
from ..tensor.tensor import Tensor
from .kernels import add_up

FUNCTIONS = "layer_norm rms_norm"


def _layer_norm_meaning(input: Any, weight: Any, normalized_shape: Any, eps: float) -> Any:
    """Layer normalisation without its bias, composed of other operations."""
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - mean(input, dims, True)
    out = centred * rsqrt(mean(centred * centred, dims, True) + eps)
    return out if weight is None else out * weight


def _layer_norm_gradients(
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: Any,
    normalized_shape: Any,
    eps: float,
    mean: Any,
    rstd: Any,
    needs: Any,
) -> Any:
    """Gradients of input, weight and bias; with y the normalised input and d = g * weight, that of the
    input is rstd * (d - average(d) - y * average(d * y)).
    """
    count = math.prod(normalized_shape)
    shape = input.shape
    g = np.reshape(g, (-1, count))
    y = np.reshape(input, (-1, count)) - mean
    y *= rstd
    weight_g = bias_g = input_g = None
    if needs[1]:
        weight_g = np.reshape(add_up(g * y, 0), tuple(normalized_shape))
    if needs[2]:
        bias_g = np.reshape(add_up(g, 0), tuple(normalized_shape))
    if needs[0]:
        d = g if weight is None else g * np.reshape(weight, (count,))
        along = add_up(d * y, 1, True)
        along /= count
        y *= along
        input_g = d - y
        input_g -= add_up(d, 1, True) / count
        input_g *= rstd
        input_g = np.reshape(input_g, shape)
    return input_g, weight_g, bias_g


@general(
    inputs=("input", "weight", "bias"),
    joint=_layer_norm_gradients,
    meaning=_layer_norm_meaning,
    bias=lambda g, bias_shape: sum_to_size(g, bias_shape),
    extra=("mean", "rstd"),
    node="NativeLayerNormBackward0",
    dtypes="f",
    uniform=True,
)
def _layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Any:
    """Layer normalisation, with mean and 1 / standard deviation of each row for backward."""
    count = math.prod(normalized_shape)
    rows = np.reshape(input, (-1, count))
    mean = add_up(rows, 1, True) / count
    out = rows - mean
    variance = add_up(out * out, 1, True) / count
    rstd = 1 / np.sqrt(variance + eps)
    out *= rstd
    if weight is not None:
        out *= np.reshape(weight, (count,))
    if bias is not None:
        out += np.reshape(bias, (count,))
    return np.reshape(out, input.shape), mean, rstd


def _check_normalized(op: str, input: Tensor, shape: Any, weight: Any, bias: Any = None) -> tuple[int, ...]:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if not shape:
        raise RuntimeError(f"Expected normalized_shape to be at least 1-dimensional in {op}(), got {list(shape)}")
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(value._shape)} and normalized_shape = {list(shape)} in {op}()"
            )
    if input._shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but "
            f"{op}() got input of size {list(input._shape)}"
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
        weight, bias: shape `normalized_shape`, or None.

    Raises:
        RuntimeError: if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    """
    shape = _check_normalized("layer_norm", input, normalized_shape, weight, bias)
    given = [t.dtype for t in (weight, bias) if t is not None]
    if input.dtype.low and given and all(d is dtypes.float32 for d in given):  # as under autocast
        return _layer_norm(input.to(dtypes.float32), shape, weight, bias, eps).to(input.dtype)
    return _layer_norm(input, shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Divide by the root of the mean square over the last dimensions (arXiv 1910.07467).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.rms_norm(torch.tensor([3.0, 4.0]), (2,))
        tensor([0.8485, 1.1314])
    """
    from ..base.info import finfo

    shape = _check_normalized("rms_norm", input, normalized_shape, weight)
    dims = tuple(range(-len(shape), 0))
    small = finfo(input._spec.dtype).eps if eps is None else eps
    low = input._spec.dtype.low  # squares of half precision numbers overflow
    wide = input.to(float32) if low else input
    out = wide * rsqrt(mean(wide * wide, dims, True) + small)
    out = out if weight is None else out * (weight.to(float32) if low else weight)
    return out.to(input.dtype) if low else out


from ..base.dtypes import float32  # noqa: E402
from .exponential import rsqrt  # noqa: E402
from .reduce import mean, sum_to_size  # noqa: E402 - adjoints name each other
