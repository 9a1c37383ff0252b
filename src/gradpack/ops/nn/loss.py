"""Losses of squared and absolute differences, and of classes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...backends.numpy import as_intp
from ...base import late
from ...base.dtypes import FLOATING, int64
from ...base.errors import scalar_type
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array, Sizes
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import elementwise, general, linear
from ...declare.dispatch.autocast import in_float32
from ..conv.spatial import check_tensor
from ..index.places import FEW
from ..reduce.kernels import SMALL, _array_type, _maximum, add_up
from ..shape.broadcasting import check_broadcast
from .loss_probabilities import of_all_classes, soft_cross_entropy
from .reduction import MEAN, NONE, SUM, kind_of, reduce_array, reduced, refuse_gradient, spread_back

FUNCTIONS = ""


@elementwise(
    input=lambda g, input, target: (input - target) * (g * 2),
    target=lambda g, input, target: (input - target) * (g * -2),
    node="MseLossBackward0",
    dtypes="f",
    autocast="float32",
    saved_as="reduction=:0 self target",
)
def _squared_difference(input: Array, target: Array) -> Any:
    """`(input - target) ** 2`."""
    return np.square(input - target)


@general(
    input=lambda g, input, target, reduction: (input - target) * (spread_back(g, input.shape, reduction) * 2),
    target=lambda g, input, target, reduction: (input - target) * (spread_back(g, input.shape, reduction) * -2),
    node="MseLossBackward0",
    dtypes="f",
    autocast="float32",
    saved_as="reduction=:1 self target",
)
def _mean_squared_difference(input: Array, target: Array, reduction: int = MEAN) -> Any:
    """The mean or sum of `(input - target) ** 2` for equal shapes: no matrix of differences is kept."""
    d = input - target
    d *= d
    return reduce_array(d, reduction)


@in_float32
def mse_loss(input: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """The squared difference, averaged, summed, or for each element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """
    if input._shape != target._shape:
        check_broadcast("mse_loss", input, target)
        input, target = late.broadcast_tensors(input, target)
    return _mean_squared_difference(input, target, reduction) if reduction else _squared_difference(input, target)


@in_float32
def l1_loss(input: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """The absolute difference, averaged, summed, or for each element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    return reduced(late.abs(input - target), reduction)


def _take(input: Array, target: Array, weights: Array, divisor: Array = None) -> Any:
    """`-weights * input[i, target[i]]`, class in dimension 1: shape of `target`; or the sum of that, divided."""
    if type(input) is _array_type and input.ndim == 2:
        if type(weights) is float and type(divisor) is float and 0 < input.size < SMALL and input.dtype.char in "fd":
            picked = input.reshape(-1).take(as_intp(_starts(*input.shape) + target))
            total = picked.dot(_factors(len(target), input.dtype, -weights / divisor if divisor else math.nan))
            return total + 0.0  # no negative zero
        picked = input[np.arange(len(target)), target]
    else:
        picked = np.reshape(np.take_along_axis(input, np.expand_dims(target, 1), axis=1), target.shape)
    if type(weights) is float and divisor is not None:
        return (0.0 - add_up(picked)) * weights / divisor
    each = picked * -weights
    return each if divisor is None else (add_up(each) + 0.0) / divisor


@lru_cache(64)
def _starts(rows: int, length: int) -> Any:
    """Return the flat index where each row of a matrix begins (cached)."""
    starts = np.arange(rows) * length
    starts.flags.writeable = False
    return starts


@lru_cache(64)
def _factors(count: int, native: Any, factor: float) -> Any:
    """Return a vector of `count` equal numbers (cached)."""
    factors = np.full(count, factor, native)
    factors.flags.writeable = False
    return factors


def _taking(name: str, node: str) -> Any:
    return linear(
        input=lambda g, target, weights, input_shape, divisor: _put_by_class(g, target, weights, input_shape, divisor),
        node=node,
        flat=True,
        name=name,
        promote=("input",),
        dtypes="f",
        contiguous=True,
        autocast="float32",
        saved_as="target" if name == "_take_by_class" else None,
    )(_take)


_take_by_class = _taking("_take_by_class", "NllLossBackward0")
_take_by_class_2d = _taking("_take_by_class_2d", "NllLoss2DBackward0")


@linear(
    input=lambda g, target, weights, divisor: _take_by_class(g, target, weights, divisor),
    node="NllLossBackwardBackward0",
    promote=("input",),
    dtypes="f",
)
def _put_by_class(input: Array, target: Array, weights: Array, shape: Sizes, divisor: Array = None) -> Any:
    """The adjoint of `_take_by_class`."""
    out = np.zeros(tuple(shape), input.dtype)
    each = input * -weights
    if divisor is not None:
        each = each / divisor
    if type(weights) is not float:
        each = np.where(weights == 0, 0, each)  # what does not count, whatever comes for it
    if type(out) is _array_type and out.ndim == 2 and out.size < SMALL:
        out.reshape(-1)[_starts(*out.shape) + target] = each
    elif type(out) is _array_type and out.ndim == 2:
        out[np.arange(len(target)), target] = each
    else:
        each = np.broadcast_to(each, target.shape)  # one number, where the losses were summed up
        np.put_along_axis(out, np.expand_dims(target, 1), np.expand_dims(each, 1), 1)
    return out


@in_float32
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: Any = "mean", ignore_index: int = -100
) -> Tensor:
    """The negative log likelihood of classes.

    Args:
        input: log-probabilities, shape (C), (N, C) or (N, C, d1, ...).
        target: class indices, shape (), (N) or (N, d1, ...).
        weight: shape (C): how much each class counts.
        ignore_index: targets of this value do not count.
        reduction: "mean" (weighted), "sum" or "none".

    Raises:
        IndexError: for a class outside of [0, C).
        ValueError, RuntimeError: for shapes or dtypes that do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.nll_loss(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))
        tensor(2.)
    """
    return _nll_loss(input, target, weight, reduction, ignore_index)


def _nll_loss(input: Tensor, target: Tensor, weight: Any, reduction: Any, ignore_index: int) -> Tensor:
    if not isinstance(input, Tensor) or not isinstance(target, Tensor):
        check_tensor("nll_loss_nd", input=input, target=target)
    kind = kind_of(reduction)
    shape = input._shape
    if len(shape) < 2 or (shape[0], *shape[2:]) != target._shape or target._spec.dtype is not int64:
        _check_classes(input, target)
        if len(shape) == 1:
            out = _nll_loss(late.unsqueeze(input, 0), late.reshape(target, (1,)), weight, kind, ignore_index)
            return late.reshape(out, target._shape) if kind == NONE else out
    if is_batched(target) or (weight is not None and (is_batched(weight) or is_batched(input))):
        return _nll_of_examples(input, target, weight, ignore_index, kind)
    if target._spec.backend.later:
        return _nll_later(input, target, weight, ignore_index, kind)
    take = _take_by_class if len(shape) == 2 else _take_by_class_2d
    if weight is None and _all_count(target._data, shape[1], ignore_index):
        return take(input, target, 1.0, _DIVISORS.get(kind, float(target.numel())))
    return take(input, *counted(input._spec, shape[1], target, weight, ignore_index, kind))


def _nll_later(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, kind: int) -> Tensor:
    """`nll_loss` of values that are not known yet: a class that there is not gives NaN, where others raise."""
    classes = late.reshape(late.arange(input._shape[1], device=target.device), (-1, *[1] * (input.ndim - 2)))
    hit = late.eq(late.unsqueeze(target, 1), classes)
    counts, nothing = late.ne(target, ignore_index), late.zeros((), dtype=input.dtype, device=input.device)
    if weight is None:
        each = counts.to(input.dtype)
    else:
        _check_weight(weight, input._shape[1], input.dtype)
        each = late._sum_dim(late.where(hit, late.reshape(weight, classes._shape), nothing), 1)
        each = late.where(counts, each, nothing)
    each = late.where(late.logical_and(counts, ~late.any(hit, 1)), math.nan, each)
    losses = late._sum_dim(late.where(hit, -input, nothing), 1) * each
    if kind == NONE:
        return losses
    return late.sum(losses) if kind == SUM else late.sum(losses) / late.sum(each)


def _check_classes(input: Tensor, target: Tensor) -> None:
    """Raise for shapes and dtypes that do not go together."""
    if not input.ndim:
        raise ValueError(f"Expected 1 or more dimensions (got {input.ndim})")
    if input.ndim == 1 and target.ndim == 1 and target._shape != (1,):
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target._shape[0]}")
    if input.ndim != 1 and input._shape[0] != (target._shape or (0,))[0]:
        raise ValueError(
            f"Expected input batch_size ({input._shape[0]}) to match target batch_size ({(target._shape or (0,))[0]})."
        )
    if (input.ndim == 2 and target.ndim != 1) or (input.ndim == 1 and target.ndim > 1):
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.ndim == 4 and target.ndim != 3:
        raise RuntimeError(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.ndim}"
        )
    if target._spec.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {scalar_type(target._spec.dtype)}")
    if input.ndim > 1 and (input._shape[0], *input._shape[2:]) != target._shape:
        raise RuntimeError(f"Expected target size {[input._shape[0], *input._shape[2:]]}, got {list(target._shape)}")


_DIVISORS = {NONE: None, SUM: 1.0}


def _all_count(index: Any, classes: int, ignored: int) -> bool:
    """Return whether all indices are valid classes that count. Read as unsigned, negative numbers are large."""
    if 0 <= ignored < classes or index.dtype != np.int64 or not index.size:
        return False
    if hasattr(index, "recorder"):  # of a program, which asks the same at each call
        return bool(np.logical_and(np.less(np.max(index), classes), np.greater_equal(np.min(index), 0)))
    if type(index) is not _array_type:
        return False
    if index.size < FEW:
        found = index.ravel().tolist()
        return max(found) < classes and min(found) >= 0
    return bool(_maximum(index.view(np.uint64), None) < classes)


def counted(
    spec: Any, classes: int, target: Tensor, weight: Tensor | None, ignore_index: int, kind: int
) -> tuple[Tensor, Tensor, Any]:
    """Return the target with ignored classes set to 0, the weight of each element, and the divisor of their sum."""
    refuse_gradient("nll_loss_forward", weight=weight)
    if weight is not None:
        _check_weight(weight, classes, spec.dtype)
    index, native = target._data.astype(np.int64, copy=False), spec.native
    counts = index != ignore_index
    bad = counts & ((index < 0) | (index >= classes))
    if np.any(bad):
        raise IndexError(f"Target {int(index[bad].flat[0])} is out of bounds.")
    safe = np.where(counts, index, np.zeros_like(index))
    each = counts.astype(native)
    if weight is not None:
        each = np.where(counts, weight._data[safe], np.zeros_like(each))
    if kind != MEAN:
        return wrap(safe), wrap(each), None if kind == NONE else 1.0
    total = np.sum(each, dtype=np.float64)
    if hasattr(index, "recorder"):  # of a program, for which the number may be another one at each call
        return wrap(safe), wrap(each), wrap(total.astype(native))
    return wrap(safe), wrap(each), float(total)


def _check_weight(weight: Tensor, classes: int, dtype: Any) -> None:
    if weight._shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight._shape)}"
        )
    if weight._spec.dtype is not dtype:
        words = scalar_type(dtype), scalar_type(weight._spec.dtype)
        raise RuntimeError(f"expected scalar type {words[0]} but found {words[1]}")


def _nll_of_examples(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, kind: int) -> Tensor:
    """`nll_loss` under `vmap` with batched targets or weights. Weights have gradients here."""
    whole = target
    while is_batched(whole):
        whole = whole._data.value
    index = whole._data
    wrong = (index != ignore_index) & ((index < 0) | (index >= input._shape[1]))
    if np.any(wrong):
        raise IndexError(f"Target {int(index[wrong].flat[0])} is out of bounds.")
    counts = late.ne(target, ignore_index)
    safe = late.where(counts, target, 0)
    each = counts.to(input.dtype)
    losses = _take_by_class(input, safe, each)
    if weight is not None:
        _check_weight(weight, input._shape[1], input.dtype)
        each = late.where(counts, weight[safe], 0.0)
        losses = losses * each
    if kind == NONE:
        return losses
    return late.sum(losses) if kind == SUM else late.sum(losses) / late.sum(each)


@in_float32
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Any = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy between logits and classes, or class probabilities.

    Args:
        input: logits, shape (C), (N, C) or (N, C, d1, ...).
        target: class indices, shape (), (N) or (N, d1, ...); or probabilities, the shape of `input`.
        weight: shape (C): how much each class counts.
        ignore_index: target indices of this value do not count.
        reduction: "mean" (weighted), "sum" or "none".
        label_smoothing: how much of the target is spread over all classes.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.cross_entropy(torch.zeros(1, 4), torch.tensor([2]))
        tensor(1.3863)
    """
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if not isinstance(input, Tensor) or not isinstance(target, Tensor):
        check_tensor("cross_entropy_loss", input=input, target=target)
    dim = 0 if len(input._shape) == 1 else 1
    if target._shape == input._shape and input.ndim:
        if target._spec.dtype.category < FLOATING:
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                + scalar_type(target._spec.dtype)
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        classes = input._shape[dim]
        if weight is not None and weight._shape != (classes,):
            raise RuntimeError(
                f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but "
                f"got weight tensor of shape: {list(weight._shape)}"
            )
        return soft_cross_entropy(late.log_softmax(input, dim), target, weight, reduction, label_smoothing, dim)
    log_p = late._log_softmax(input, dim) if input._shape else input
    loss = _nll_loss(log_p, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return loss
    whole = type(target._data) is _array_type and _all_count(target._data, input._shape[dim], ignore_index)
    spread = of_all_classes(log_p, target, weight, kind_of(reduction), None if whole else ignore_index, dim)
    return loss * (1 - label_smoothing) + spread * (label_smoothing / input._shape[dim])
