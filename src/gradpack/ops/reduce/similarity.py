"""Angles and distances between vectors along a dimension."""

from __future__ import annotations

from ...base import late
from ...base.dtypes import FLOATING, promote_types
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ..nn.loss_pointwise import limited
from .dimensions import numpy_names

FUNCTIONS = "cosine_similarity pairwise_distance"


@numpy_names
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension: `x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))`.

    Args:
        x1, x2: tensors that broadcast together.
        dim: the dimension of the vectors.
        eps: the least length to divide by; gradients ignore this limit.

    Raises:
        RuntimeError: for tensors of integers.

    Example::

        >>> import gradpack as torch
        >>> torch.cosine_similarity(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """
    common = promote_types(x1._spec.dtype, x2._spec.dtype)
    if common.category != FLOATING:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {scalar_type(common)}")
    lead = late.broadcast_shapes(x1._shape, x2._shape)
    x1, x2 = (x if x._shape == lead else late.expand(x, lead) for x in (x1.to(common), x2.to(common)))
    units = (x / limited(late.linalg_vector_norm(x, 2, dim, True), eps) for x in (x1, x2))
    return late.sum(next(units) * next(units), dim)


@numpy_names
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.pairwise_distance(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2), eps=0.0)
        tensor([5.])
    """
    return late.norm(x1 - x2 + eps, p, -1, keepdim)
