"""Distances between vectors as modules."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The p-norm of `x1 - x2 + eps` along the last dimension.

    Args:
        p: the exponent of the norm.
        eps: what is added to each difference, which keeps the gradient of equal vectors finite.
        keepdim: whether the result keeps the last dimension, with size 1.

    Shape:
        x1, x2: (..., n); they broadcast.
        output: (...).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.PairwiseDistance(eps=0.0)(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)).item()
        5.0
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dimension: `x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))`.

    Args:
        dim: the dimension of the vectors.
        eps: the least length to divide by.

    Shape:
        x1, x2: (..., n, ...), with n at `dim`; they broadcast.
        output: the same without `dim`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])).item()
        0.0
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
