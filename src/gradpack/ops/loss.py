"""Losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.dtypes import FLOATING
from ..declare.autocast import in_float32
from ..declare.kinds import elementwise, general, linear
from ..tensor.tensor import Tensor
from .kernels import add_up

FUNCTIONS = ""


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The loss of each element, their mean, or their sum."""
    if reduction == "mean":
        return mean(loss)
    if reduction == "sum":
        return sum(loss)
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction: choose none, mean or sum")
    return loss


def legacy(size_average: Any, reduce: Any, reduction: str) -> str:
    """`reduction` as the two arguments before it meant it."""
    if size_average is None and reduce is None:
        return reduction
    average = size_average is None or size_average
    return ("mean" if average else "sum") if reduce is None or reduce else "none"


def _same_shape(op: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    if input._shape != target._shape:
        import warnings

        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            UserWarning,
            stacklevel=3,
        )
    return input, target


@elementwise(
    input=lambda g, input, target: (input - target) * (g * 2),
    target=lambda g, input, target: (input - target) * (g * -2),
    node="MseLossBackward0",
    dtypes="fc",
)
def _squared_difference(input: Any, target: Any) -> Any:
    """`(input - target) ** 2`."""
    return np.square(input - target)


@general(
    input=lambda g, input, target: (input - target) * (g * (2 / _count(input.shape))),
    target=lambda g, input, target: (input - target) * (g * (-2 / _count(input.shape))),
    node="MseLossBackward0",
    dtypes="fc",
)
def _mean_squared_difference(input: Any, target: Any) -> Any:
    """The mean of `(input - target) ** 2` for equal shapes: no matrix of differences is kept."""
    d = input - target
    d *= d
    return add_up(d) / _count(d.shape)


def _count(shape: Any) -> float:
    """The number of elements; nan for none, of which there is no mean."""
    return math.prod(shape) or math.nan


@in_float32
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference, averaged, summed, or for each element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """
    _same_shape("mse_loss", input, target)
    if (
        reduction == "mean"
        and weight is None
        and reduce is None
        and size_average is None
        and input._shape == target._shape
    ):
        return _mean_squared_difference(input, target)
    loss = _squared_difference(input, target)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, legacy(size_average, reduce, reduction))


@in_float32
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference, averaged, summed, or for each element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    _same_shape("l1_loss", input, target)
    loss = abs(input - target)
    if weight is not None:
        loss = loss * weight
    return reduced(loss, legacy(size_average, reduce, reduction))


@linear(
    input=lambda g, target, weights, input_shape: _put_by_class(g, target, weights, input_shape),
    node="NllLossBackward0",
    promote=("input",),
    dtypes="f",
)
def _take_by_class(input: Any, target: Any, weights: Any) -> Any:
    """`-weights * input[i, target[i]]`, class in dimension 1 (the rest flattened): shape of `target`."""
    picked = np.take_along_axis(input, np.expand_dims(target, 1), axis=1)
    return np.reshape(picked, target.shape) * -weights


@linear(
    input=lambda g, target, weights: _take_by_class(g, target, weights),
    node="NllLossBackwardBackward0",
    promote=("input",),
    dtypes="f",
)
def _put_by_class(input: Any, target: Any, weights: Any, shape: Any) -> Any:
    """The adjoint of `_take_by_class`."""
    out = np.zeros(tuple(shape), input.dtype)
    np.put_along_axis(out, np.expand_dims(target, 1), np.expand_dims(input * -weights, 1), axis=1)
    return out


@in_float32
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
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
    reduction = legacy(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction: choose none, mean or sum")
    if not input.ndim:
        raise RuntimeError("nll_loss(): input must have a dimension of classes, got a 0-dim tensor")
    if target._spec.dtype.category >= FLOATING:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.name} for the target of nll_loss()")
    if input.ndim == 1:
        if target.ndim > 1 or target.numel() != 1:
            raise RuntimeError(
                f"nll_loss(): input of shape {list(input._shape)} needs one target, got {list(target._shape)}"
            )
        out = nll_loss(unsqueeze(input, 0), reshape(target, (1,)), weight, None, ignore_index, None, reduction)
        return reshape(out, target._shape) if reduction == "none" else out
    classes = input._shape[1]
    if (input._shape[0], *input._shape[2:]) != target._shape:
        if input._shape[0] != (target._shape or (0,))[0]:
            raise ValueError(
                f"Expected input batch_size ({input._shape[0]}) to match target batch_size "
                f"({(target._shape or (0,))[0]})."
            )
        raise RuntimeError(
            f"Expected target size {[input._shape[0], *input._shape[2:]]}, got {list(target._shape)} for input of "
            f"shape {list(input._shape)}"
        )
    if weight is not None and weight._shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight._shape)}"
        )
    index = target._data
    counted = index != ignore_index
    bad = counted & ((index < 0) | (index >= classes))
    if np.any(bad):
        raise IndexError(f"Target {int(index[bad].flat[0])} is out of bounds: nll_loss() has {classes} classes.")
    safe = np.where(counted, index, np.zeros_like(index))
    native = input._spec.native
    each = counted.astype(native) if weight is None else np.where(counted, weight._data[safe], np.zeros((), native))
    losses = _take_by_class(input, wrap(safe), wrap(each))
    if reduction == "none":
        return losses
    total = sum(losses)
    return total if reduction == "sum" else total / float(np.sum(each, dtype=np.float64))


@in_float32
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
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
    reduction = legacy(size_average, reduce, reduction)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if not input.ndim:
        raise RuntimeError("cross_entropy(): input must have a dimension of classes, got a 0-dim tensor")
    dim = 0 if input.ndim == 1 else 1
    log_p = log_softmax(input, dim)
    if target._shape == input._shape and target._spec.dtype.category >= FLOATING:
        return _soft_cross_entropy(log_p, target, weight, reduction, label_smoothing, dim)
    if target._spec.dtype.category >= FLOATING:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities to have the shape of the input, "
            f"{list(input._shape)}, got {list(target._shape)}; class indices must be Long, got {target.dtype.name}"
        )
    loss = nll_loss(log_p, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    counted = ne(target, ignore_index)
    scaled = log_p if weight is None else log_p * _by_class(weight, input.ndim, dim)
    smooth = where(counted, -sum(scaled, dim), 0.0)
    if reduction == "none":
        spread = smooth
    elif reduction == "sum":
        spread = sum(smooth)
    elif weight is None:
        spread = sum(smooth) / sum(counted)
    else:
        safe = where(counted, target, 0)
        spread = sum(smooth) / sum(where(counted, weight[safe], 0.0))
    return loss * (1 - label_smoothing) + spread * (label_smoothing / input._shape[dim])


def _by_class(weight: Tensor, ndim: int, dim: int) -> Tensor:
    return reshape(weight, (1,) * dim + (-1,) + (1,) * (ndim - dim - 1))


def _soft_cross_entropy(
    log_p: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, dim: int
) -> Tensor:
    classes = log_p._shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    terms = log_p * target
    if weight is not None:
        terms = terms * _by_class(weight, log_p.ndim, dim)
    loss = -sum(terms, dim)
    if reduction == "mean":
        count = max(loss.numel(), 1)
        return sum(loss) / count
    return reduced(loss, reduction)


from ..tensor.tensor import wrap  # noqa: E402
from .compare import ne  # noqa: E402
from .reduce import mean, sum  # noqa: E402 - adjoints name each other
from .rounding import abs, where  # noqa: E402
from .shape import reshape, unsqueeze  # noqa: E402
from .softmax import log_softmax  # noqa: E402
