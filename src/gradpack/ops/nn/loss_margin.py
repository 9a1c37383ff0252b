"""Losses that want a margin between right and wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import INTEGRAL
from ...base.errors import refuse, scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import looking_at
from ...declare.decorators import general
from ...declare.dispatch.autocast import in_float32
from ..create.making import beside
from ..random.floats import host_of
from ..reduce.kernels import add_up, take_along
from .reduction import MEAN, NONE, reduced, refuse_gradient

FUNCTIONS = "margin_ranking_loss cosine_embedding_loss triplet_margin_loss"


@in_float32
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = NONE
) -> Tensor:
    """`max(0, -target * (input1 - input2) + margin)`: target 1 wants `input1` larger, -1 `input2`.

    Example::

        >>> import gradpack as torch
        >>> torch.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
        tensor([2.])
    """
    return reduced(late.clamp_min(-target * (input1 - input2) + margin, 0), reduction)


@in_float32
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = NONE
) -> Tensor:
    """`1 - cos` for pairs with target 1, `max(0, cos - margin)` for those with -1.

    Args:
        input1, input2: shape (N, D) or (D).
        target: shape (N) or ().

    Raises:
        RuntimeError: for other shapes.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 0.0]])
        >>> torch.cosine_embedding_loss(x, x, torch.tensor([1]))
        tensor([0.])
    """
    sizes = f"{list(input1._shape)} and {list(input2._shape)}."
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and (input1.ndim != 2 or input2.ndim != 2):
        raise RuntimeError(f"1D target tensor expects 2D input tensors, but found inputs with sizes {sizes}")
    if target.ndim == 0 and (input1.ndim != 1 or input2.ndim != 1):
        raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with sizes {sizes}")
    dim = target.ndim
    lengths = (late.sum(input1 * input1, dim) + 1e-12) * (late.sum(input2 * input2, dim) + 1e-12)
    cos = late.sum(input1 * input2, dim) / late.sqrt(lengths)
    together = late.where(late.eq(target, 1), 1 - cos, 0.0)
    apart = late.where(late.eq(target, -1), late.clamp_min(cos - margin, 0), 0.0)
    return reduced(together + apart, reduction)


def _check_dims(anchor: int, positive: int, negative: int) -> None:
    if not anchor == positive == negative:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor}D, positive {positive}D, and negative {negative}D inputs"
        )


@in_float32
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, reduction: int = NONE,
) -> Tensor:  # fmt: skip
    """`max(0, |anchor - positive| - |anchor - negative| + margin)`.

    Args:
        anchor, positive, negative: the vectors that are compared: shape (..., n).
        margin: by how much closer the positive one is to be.
        p, eps: of `pairwise_distance`.
        swap: take the distance of positive and negative where it is the smaller.
        reduction: 0 none, 1 mean, 2 sum.

    Example::

        >>> import gradpack as torch
        >>> a = torch.zeros(1, 2)
        >>> torch.triplet_margin_loss(a, a, a)
        tensor([1.])
    """
    _check_dims(anchor.ndim, positive.ndim, negative.ndim)
    far = late.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = late.minimum(late.pairwise_distance(positive, negative, p, eps), far)
    return reduced(late.clamp_min(margin + late.pairwise_distance(anchor, positive, p, eps) - far, 0), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` for any distance `d`.

    Args:
        anchor, positive, negative: what is compared.
        distance_function: a function of two tensors that returns their distances; None for `pairwise_distance`.
        margin: by how much closer the positive one is to be.
        swap: take the distance of positive and negative where it is the smaller.

    Raises:
        ValueError: for another `reduction`, or a `margin` that is not positive.

    Example::

        >>> import gradpack as torch
        >>> def cityblock(x, y):
        ...     return (x - y).abs().sum(-1)
        >>> anchor, near, far = torch.zeros(1, 2), torch.ones(1, 2), torch.full((1, 2), 1.2)
        >>> torch.nn.functional.triplet_margin_with_distance_loss(anchor, near, far, distance_function=cityblock)
        tensor(0.6000)
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _check_dims(anchor.ndim, positive.ndim, negative.ndim)
    distance = late.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = late.minimum(far, distance(positive, negative))
    return reduced(late.clamp_min(margin + near - far, 0), reduction)


# -- several classes --


@general(
    input=lambda g, input, target, scales, p, margin, divisor: (
        _by_rows(g, divisor) * _multi_slope(input, target, scales, p, margin)
    ),
    node="MultiMarginLossBackward0",
    flat=True,
    promote=("input",),
    dtypes="f",
)
def _multi_margin(input: Array, target: Array, scales: Array, p: int, margin: float, divisor: Array = None) -> Any:
    """The sum of `scale * max(0, margin - right + other) ** p` for each row; the scale of the right class is 0."""
    short = margin - take_along(input, target[:, None], 1) + input
    above = np.where(short > 0, short, 0)
    each = add_up((above if p == 1 else above**p) * scales, 1)
    return each if divisor is None else add_up(each) / divisor


def _by_rows(g: Any, divisor: Any) -> Any:
    return late.unsqueeze(g, 1) if divisor is None else g / divisor


def _multi_slope(input: Any, target: Any, scales: Any, p: int, margin: float) -> Any:
    z = margin - late.gather(input, 1, late.unsqueeze(target, 1)) + input
    wrong = late.where(late.gt(z, 0), scales if p == 1 else scales * z * 2, 0.0)
    return wrong + late._put_by_class(late.sum(wrong, 1), target, 1.0, input.shape)


@looking_at("target")
@in_float32
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """The mean over the other classes of `max(0, margin - right + other) ** p`.

    Args:
        input: scores, shape (N, C) or (C).
        target: classes, shape (N) or ().
        p: 1 or 2.
        weight: how much each class counts, shape (C).

    Raises:
        RuntimeError: for shapes that do not fit and classes out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.multi_margin_loss(torch.zeros(1, 4), torch.tensor([2]))
        tensor(0.7500)
    """
    if p not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")
    refuse("multi_margin_loss_cpu_kernel", input._spec.dtype, "bluihc")
    refuse_gradient("multi_margin_loss", weight=weight)
    scores, flat = _rows(input), target if target.ndim == 1 else late.reshape(target, (-1,))
    n, classes = scores._shape
    if target.ndim > 1 or flat._shape != (n,):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{n}], but got {list(target._shape)}. Input has shape {list(input._shape)}."
        )
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight._shape)}")
    _check_long(target)
    index = host_of(flat)
    if n and (index.min() < 0 or index.max() >= classes):
        raise RuntimeError("target out of range")
    native = input._spec.native
    scales = np.full((n, classes), 1 / max(classes, 1), native)
    if weight is not None:
        scales *= np.reshape(host_of(weight), (-1,))[index][:, None]
    scales[np.arange(n), index] = 0
    scale = beside(scales, input)
    if reduction == NONE:
        each = _multi_margin(scores, flat, scale, p, margin)
        return each if each._shape == target._shape else late.reshape(each, target._shape)
    divisor = float(n or math.nan) if reduction == MEAN else 1.0
    return _multi_margin(scores, flat, scale, p, margin, divisor)


def _rows(input: Tensor) -> Tensor:
    if input.ndim not in (0, 1, 2) or (input.ndim and input._shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input._shape)}"
        )
    return input if input.ndim == 2 else late.reshape(input, (1, -1))


def _check_long(target: Tensor) -> None:
    if target._spec.dtype.category != INTEGRAL or target._spec.dtype.itemsize != 8:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type(target._spec.dtype)}")


@general(
    input=lambda g, input, pairs, divisor: _multilabel_back(g, input, pairs, divisor),
    node="MultilabelMarginLossBackward0",
    flat=True,
    promote=("input",),
    dtypes="f",
)
def _multilabel_margin(input: Array, pairs: Array, divisor: Array = None) -> Any:
    """For each row, the mean of `max(0, 1 - right + wrong)` over all pairs; `pairs[n, r, w]` counts them."""
    z = 1 - input[:, :, None] + input[:, None, :]
    z = np.where(z > 0, z, 0)
    each = np.sum(np.where(pairs != 0, z * pairs, 0), axis=(1, 2)) / input.shape[1]
    return each if divisor is None else np.sum(each) / divisor


def _multilabel_back(g: Any, input: Any, pairs: Any, divisor: Any) -> Any:
    z = 1 - late.unsqueeze(input, 2) + late.unsqueeze(input, 1)
    hot = late.where(late.gt(z, 0), pairs, 0.0) * (1 / input.shape[1])
    return _by_rows(g, divisor) * (late.sum(hot, 1) - late.sum(hot, 2))


@looking_at("target")
@in_float32
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """The mean of `max(0, 1 - right + wrong)` over all pairs of a right class and a wrong one.

    Args:
        input: scores, shape (N, C) or (C).
        target: the right classes of each row first, then -1; the shape of `input`.

    Raises:
        RuntimeError: for shapes that do not fit and classes out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.multilabel_margin_loss(torch.zeros(1, 4), torch.tensor([[3, 0, -1, 1]]))
        tensor(1.)
    """
    refuse("multilabel_margin_loss_forward_out_frame", input._spec.dtype, "bluihc")
    scores = _rows(input)
    if target._shape != input._shape and not (input.ndim < 2 and target.numel() == input.numel() and target.ndim < 2):
        raise RuntimeError(f"inconsistent target size: {list(target._shape)} for input of size: {list(input._shape)}")
    _check_long(target)
    index = np.reshape(host_of(target), scores._shape)
    if np.any((index < -1) | (index >= scores._shape[1])):
        raise RuntimeError("argument #2 'target' is out of range")
    valid = np.logical_and.accumulate(index >= 0, axis=1)
    rows, places = np.nonzero(valid)
    counts = np.zeros(index.shape, input._spec.native)
    np.add.at(counts, (rows, index[rows, places]), 1)
    pairs = beside(counts[:, :, None] * (counts == 0)[:, None, :], input)
    if reduction == NONE:
        each = _multilabel_margin(scores, pairs)
        return each if input.ndim == 2 else late.reshape(each, input._shape[:-1])
    divisor = float(scores._shape[0] or math.nan) if reduction == MEAN else 1.0
    return _multilabel_margin(scores, pairs, divisor)
