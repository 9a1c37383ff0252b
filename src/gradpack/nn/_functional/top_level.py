"""Functions of `nn.functional` that torch also has at its top, with arguments of their own: `torch.embedding`."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`nn.functional.bilinear`.

    Example::

        >>> import gradpack as torch
        >>> torch.bilinear(torch.ones(1, 2), torch.ones(1, 2), torch.ones(1, 2, 2))
        tensor([[4.]])
    """
    return F.bilinear(input1, input2, weight, bias)


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """`nn.functional.embedding`, the table first. No row is left out of the gradient for `padding_idx=-1`.

    Args:
        weight: the table: shape (rows, features).
        indices: the indices, of dtype int64 or int32, of any shape.
        padding_idx: a row that gets no gradient; -1 for none.

    Example::

        >>> import gradpack as torch
        >>> torch.embedding(torch.tensor([[1.0], [2.0]]), torch.tensor([1]))
        tensor([[2.]])
    """
    padding = None if padding_idx < 0 else padding_idx
    return F.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
