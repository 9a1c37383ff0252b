"""The cross entropy of probabilities of classes, and of what label smoothing spreads over all classes."""

from __future__ import annotations

import math
from typing import Any

from ...base import late
from ...core.tensor import Tensor
from .reduction import MEAN, NONE, SUM, kind_of


def of_all_classes(
    log_p: Tensor, target: Tensor, weight: Tensor | None, kind: int, ignored: int | None, dim: int
) -> Tensor:
    """Minus the sum of log-probabilities over classes, weighted and reduced as the loss of the targets is.

    Args:
        ignored: the target that does not count; None if all of them are known to count.
    """
    scaled = log_p if weight is None else log_p * _by_class(weight, log_p.ndim, dim)
    smooth = -late.sum(scaled, dim)
    if ignored is None:
        total: Any = target.numel() if weight is None else late.sum(weight[target])
    else:
        counted = late.ne(target, ignored)
        smooth = late.where(counted, smooth, 0.0)
        each = counted if weight is None else late.where(counted, weight[late.where(counted, target, 0)], 0.0)
        total = late.sum(each)
    if kind != NONE:
        smooth = late.sum(smooth)
    return smooth / total if kind == MEAN else smooth


def _by_class(weight: Tensor, ndim: int, dim: int) -> Tensor:
    return late.reshape(weight, (1,) * dim + (-1,) + (1,) * (ndim - dim - 1))


def soft_cross_entropy(
    log_p: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, dim: int
) -> Tensor:
    """The cross entropy of log-probabilities and probabilities of classes."""
    classes = log_p._shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    terms = log_p * target
    if weight is not None:
        terms = terms * _by_class(weight, log_p.ndim, dim)
    kind = kind_of(reduction)
    if kind == NONE:
        return -late.sum(terms, dim)
    total = -late.sum(terms)
    return total if kind == SUM else total / (terms.numel() / max(classes, 1) or math.nan)
