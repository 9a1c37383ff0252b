"""Normalisation over a batch: each channel to mean 0 and variance 1."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import float32
from ...base.errors import not_implemented_for
from ...base.modes import MODE, using
from ...core.tensor import Tensor, alias, wrap
from ...declare.annotations import Array
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import general, nondifferentiable
from ...declare.dispatch.tangents import tangent_of
from ...kernels.dispatch import accelerated
from ..conv.products import over_places
from ..conv.spatial import check_tensor
from ..reduce.kernels import SMALL, _add, _array_type, add_up, averaging, reshaped
from ..reduce.reduce import written
from ..shape.memory_formats import rows_or_channels_last
from .reduction import refuse_gradient

FUNCTIONS = "batch_norm native_batch_norm _native_batch_norm_legit"


def as_channels(x: Any) -> Any:
    """(batch, channels, *space) as (batch, channels, places)."""
    return reshaped(x, (*x.shape[:2], prod(x.shape[2:])))


def channel_sums(x: Any) -> Any:
    """The sum of each channel of (batch, channels, places), in float64."""
    if type(x) is _array_type and x.size < SMALL:
        return _add(x, (0, 2), np.float64)
    return np.sum(x[:, :, 0] if x.shape[2] == 1 else add_up(x, 2), axis=0, dtype=np.float64)


def channel_dots(a: Any, b: Any) -> Any:
    """The sum of products in each channel, in float64."""
    if a.shape[2] < 16 or a.size < SMALL:
        return channel_sums(a * b)
    return np.sum(np.vecdot(a, b), axis=0, dtype=np.float64)


def column(values: Any) -> Any:
    """Reshape one number per channel to broadcast against (channels, places)."""
    return reshaped(values, (-1, 1))


@accelerated
def moments(x: Any) -> Any:
    """Mean and (biased) variance of each channel of (batch, channels, places)."""
    count = x.shape[0] * x.shape[2]
    mean = channel_sums(x) / count
    near = mean.astype(x.dtype)
    off = x - column(near)
    # `near` is rounded: the difference is made good here
    var = channel_dots(off, off) / count - (mean - near.astype(mean.dtype)) ** 2
    return near, np.maximum(var, 0).astype(x.dtype)


@nondifferentiable(promote=("input",), dtypes="f", results=("mean", "var"), differentiable=0, result=None)
def _batch_stats(input: Array) -> Any:
    """Mean and (biased) variance of each channel."""
    if type(input) is _array_type and input.ndim == 2 and 0 < input.size < SMALL and input.dtype.char == "f":
        wide, average = input.astype(np.float64), averaging(len(input), np.dtype(np.float64)).T
        mean = average.dot(wide)
        wide -= mean
        return mean[0].astype(np.float32), average.dot(np.square(wide, wide))[0].astype(np.float32)
    x = as_channels(input)
    count = x.shape[0] * x.shape[2]
    if type(x) is _array_type and x.size < SMALL and count:
        mean = _add(x, (0, 2), np.float64) / count
        off = x - mean[:, None]
        return mean.astype(x.dtype), (_add(off * off, (0, 2)) / count).astype(x.dtype)
    return moments(x)


@accelerated
def normalized_channels_backward(x: Any, g: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    """Gradients of input, weight and bias; with y the normalised input and d = g * weight, that of the input is
    rstd * (d - average(d) - y * average(d * y)), in evaluation rstd * d.
    """
    x_g = weight_g = bias_g = None
    scale = column(rstd if weight is None else rstd * weight)
    if training or needs[1]:
        centred = x - column(mean)
        dots = channel_dots(centred, g)
    sums: Any = channel_sums(g) if training or needs[2] else None
    if needs[1]:
        weight_g = (dots * rstd).astype(g.dtype)
    if needs[2]:
        bias_g = sums.astype(g.dtype)
    if needs[0] and training:
        count = x.shape[0] * x.shape[2] or 1
        x_g = centred
        x_g *= column((-dots / count * (rstd * rstd)).astype(g.dtype))
        x_g += g
        x_g -= column((sums / count).astype(g.dtype))
        x_g *= scale
    elif needs[0]:
        x_g = g * scale
    return x_g, weight_g, bias_g


def _gradients(
    g: Any, input: Any, weight: Any, bias_shape: Any, mean: Any, rstd: Any, training: bool, eps: float, needs: Any
) -> Any:
    """Gradients of input, weight and bias."""
    x, g = as_channels(input), as_channels(g)
    mean, rstd = np.asarray(mean, dtype=x.dtype), np.asarray(rstd, dtype=x.dtype)
    made, weight_g, bias_g = normalized_channels_backward(x, g, weight, mean, rstd, training, needs)
    return None if made is None else reshaped(made, input.shape), weight_g, bias_g


def _meaning(input: Any, weight: Any, mean: Any, rstd: Any, training: bool, eps: float) -> Any:
    """The same without its bias, composed of other operations."""
    ends = (1, -1, *(1,) * (len(input.shape) - 2))
    if training:
        dims = (0, *range(2, len(input.shape)))
        centred = input - late.mean(input, dims, True)
        out = centred * late.rsqrt(late.mean(centred * centred, dims, True) + eps)
    else:
        out = (input - late.reshape(mean, ends)) * late.reshape(rstd, ends)
    return out if weight is None else out * late.reshape(weight, ends)


@accelerated
def normalized_channels(x: Any, mean: Any, scale: Any, bias: Any) -> Any:
    """`(x - mean) * scale + bias`, with numbers for each channel."""
    shift = -mean * scale if bias is None else bias - mean * scale
    out = x * column(scale)
    out += column(shift)
    return out


@general(
    inputs=("input", "weight", "bias"),
    joint_vjp=_gradients,
    decomposition=_meaning,
    bias=lambda g: over_places(g),
    node="NativeBatchNormBackward0",
    dtypes="f",
    same_dtype=True,
    promote=("input", "weight", "bias"),
    cost="cheap",
    saved_as="eps input=input result1=mean result2=rstd training weight",
)
def _batch_norm(
    input: Array,
    weight: Array = None,
    bias: Array = None,
    mean: Array = None,
    rstd: Array = None,
    training: bool = True,
    eps: Any = 0,
) -> Any:
    """(input - mean) * rstd * weight + bias; in training, `mean` and `rstd` are those of the input."""
    if type(input) is not _array_type or mean.dtype is not input.dtype or rstd.dtype is not input.dtype:
        mean, rstd = np.asarray(mean, dtype=input.dtype), np.asarray(rstd, dtype=input.dtype)
    scale = rstd if weight is None else rstd * weight
    if len(input.shape) == 2 and type(input) is _array_type and input.size < SMALL:
        out = input * scale
        out += -mean * scale if bias is None else bias - mean * scale
        return out if out.flags.c_contiguous else rows_or_channels_last(out)
    out = normalized_channels(as_channels(input), mean, scale, bias)
    return rows_or_channels_last(reshaped(out, input.shape))


# -- as torch has it --


def _check(op: str, input: Any, training: bool, channels: int, **operands: Any) -> None:
    for name, value in operands.items():
        if value is None:
            continue
        if not isinstance(value, Tensor):
            raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(value).__name__}")
        if value._shape != (channels,) and value.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {value.numel()}")
    if not training:
        for name in ("running_mean", "running_var"):
            if operands[name] is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")


_NOT_BATCHED = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, "
    "were not batched.\nIf you are using a module and do not need eval mode, please set `track_running_stats` to be "
    "False.If you are using a prebuilt module and do not need eval mode, please see the functorch website for "
    "resources on how to patch your module to work with vmap"
)


def _update(running: Tensor | None, new: Any, momentum: float) -> None:
    """Update a running statistic in place; autograd does not record the write, as in torch."""
    if running is None:
        return
    if MODE.get().levels:
        if is_batched(new) and not is_batched(running):
            raise RuntimeError(_NOT_BATCHED)
        running.copy_(running * (1 - momentum) + new * momentum)
        return
    data, backend = running._data, running._spec.backend
    backend.write(data, backend.bind(_mixed)(data, new._data, momentum))


def _mixed(old: Any, new: Any, momentum: float) -> Any:
    wide = old.astype(np.float64) * (1 - momentum) + np.asarray(new, dtype=np.float64) * momentum
    return wide.astype(old.dtype)


def _statistics(input: Tensor, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float) -> Any:
    """Mean and 1 / standard deviation to normalise with; in training, the running ones follow."""
    if training and input._spec.plain and not MODE.get().leaves_fast_path:  # on arrays, which have no history
        mean, var = _batch_stats.op.forward(input._data)
        if running_mean is not None:
            _update(running_mean, wrap(mean), momentum)
        if running_var is not None:
            count = input._data.size // max(1, input._shape[1])
            _update(running_var, wrap(var * (count / (count - 1) if count > 1 else np.nan)), momentum)
        return tuple(alias(a, input._spec, a.shape) for a in (mean, 1 / np.sqrt(var + eps)))
    if not training and running_var._spec.plain and not MODE.get().leaves_fast_path:
        return running_mean, wrap(1 / np.sqrt(running_var._data + eps))
    with using(grad=False, dual=0):
        if not training:
            wide = running_mean._spec.dtype.low
            mean, var = (t.to(float32) if wide else t for t in (running_mean, running_var))
            return mean, late.rsqrt(var + eps)
        mean, var = _batch_stats(input.detach())
        count = input.numel() // max(1, input._shape[1])
        _update(running_mean, mean, momentum)
        if running_var is not None:
            _update(running_var, var * (count / (count - 1) if count > 1 else np.nan), momentum)
        return mean, late.rsqrt(var + eps)


def normalised(
    op: str, input: Any, weight: Any, bias: Any, running: Any, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The normalised input, and the mean and 1 / standard deviation that it was normalised with."""
    running_mean, running_var = running
    check_tensor(op, input=input)
    if input.ndim < 2 and input.numel():
        raise RuntimeError(f"{op}(): Expected at least 2 dimensions for the input, but got shape {list(input._shape)}")
    channels = input._shape[1] if input.ndim > 1 else input._shape[0]
    refuse_gradient("native_batch_norm", running_mean=running_mean, running_var=running_var)
    _check(op, input, training, channels, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if not input.is_floating_point():
        raise not_implemented_for(op, input.dtype)
    if not input.numel():
        if training and op == "native_batch_norm":
            sizes = list(input._shape)
            raise RuntimeError(f"input tensor must have at least one element, but got input_sizes = {sizes}")
        plus = weight if bias is None else bias
        out = input.clone() if weight is None else input * late.sum(weight) + late.sum(plus)
        zero = input.detach().new_zeros(0 if training else channels)
        return out, zero, zero
    mixed = input._spec.dtype.low and weight is not None and weight.dtype is float32
    named = ("weight", weight), ("bias", bias), ("running_mean", running_mean), ("running_var", running_var)
    wide = input._spec.dtype.low and any(value is not None and value.dtype is float32 for _, value in named)
    takes = float32 if wide else input.dtype
    for name, value in named:  # before the running statistics are written to
        if value is not None and value.dtype is not takes:
            raise RuntimeError(
                f"mixed dtype: {op}() expected {name} to have dtype {takes} beside an input of {input.dtype}, but got "
                f"{value.dtype}: convert one with .to(dtype)"
            )
    if MODE.get().forward and tangent_of(input) is not None and any(tangent_of(r) is not None for r in running):
        raise RuntimeError(
            "batch_norm is not differentiable wrt running_mean and running_var, they cannot have forward grad defined"
        )
    mean, rstd = _statistics(input, running_mean, running_var, training, momentum, eps)
    given = input.to(float32) if mixed else input
    wanted = float32 if given._spec.dtype.low else given.dtype
    if mean.dtype is not wanted:
        mean, rstd = mean.to(wanted), rstd.to(wanted)
    out = _batch_norm(given, weight, bias, mean, rstd, training, eps)
    return out.to(input.dtype) if mixed else out, mean, rstd


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Bring each channel, over batch and space, to mean 0 and variance 1, then scale and shift it.

    Args:
        input: shape (batch, channels, *space).
        weight, bias, running_mean, running_var: shape (channels), or None.
        training: normalise by the statistics of the input, and move the running ones towards them; else normalise by
            the running ones.
        momentum: how far the running statistics move: `running = (1 - momentum) * running + momentum * new`.
        eps: what is added to the variance before its root is divided by.
        cudnn_enabled: accepted; there is one implementation.

    Raises:
        RuntimeError: if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 1e-5, True)
        tensor([[-1.0000],
                [ 1.0000]])
    """
    return normalised("batch_norm", input, weight, bias, (running_mean, running_var), training, momentum, eps)[0]


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    *,
    out: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm`, with the mean and 1 / standard deviation of the batch (empty in evaluation).

    Example::

        >>> import gradpack as torch
        >>> torch.native_batch_norm(torch.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0)[1:]
        (tensor([2.]), tensor([1.]))
    """
    running = (running_mean, running_var)
    made, mean, rstd = normalised("native_batch_norm", input, weight, bias, running, training, momentum, eps)
    if not training:
        mean = rstd = input.detach().new_zeros(0)
    results = made, mean.to(input.dtype), rstd.to(input.dtype)
    if out is None:
        return results
    for result, target in zip(results, out, strict=True):
        written("native_batch_norm", result, target, input)
    given: tuple[Tensor, Tensor, Tensor] = out
    return given


def _native_batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any, out: Any = None
) -> Any:
    """`native_batch_norm`, by another name; the running mean and variance may be left out."""
    return native_batch_norm(input, weight, bias, *(rest if len(rest) == 5 else (None, None, *rest)), out=out)
