"""`torch.nn.functional`: layers, activations and losses as functions."""

from __future__ import annotations

from typing import Any

from ..base.dtypes import int64 as _int64
from ..core.tensor import Tensor
from ..declare.batching.batch_tensor import is_batched as _is_batched
from ..declare.generate.profiling import profiled as _noted
from ..declare.signature.wrapper import wrap_module as _wrap_module
from ..ops.nn.embedding import embedding as _embedding
from ..ops.nn.embedding import one_hot_of_few as _one_hot_of_few
from ..ops.pointwise.division import div as _div
from . import _functional
from . import grad as _grad
from ._functional import *
from ._public import adopt as _adopt

grad = _grad


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` at the indices in `input`: vectors of words, for example.

    Args:
        input: the indices, of dtype int64 or int32, of any shape.
        weight: the table: shape (rows, features).
        padding_idx: a row that gets no gradient.
        max_norm: rows that are looked up and longer than this are shortened to it first, in place.
        norm_type: the exponent of that norm.
        scale_grad_by_freq: divide the gradient of a row by how often it was looked up.
        sparse: whether the gradient by `weight` is a sparse tensor, with entries for the rows that were looked up.

    Returns:
        Shape (*input.shape, features).

    Raises:
        IndexError: for an index that is no row.
        RuntimeError: for indices of another dtype.

    Example::

        >>> import gradpack as torch
        >>> rows = torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
        >>> torch.nn.functional.embedding(torch.tensor([2, 0]), rows)
        tensor([[4., 5.],
                [0., 1.]])
    """
    return _embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide by the norm along a dimension: `input / max(norm(input), eps)`.

    Args:
        p: the exponent of the norm.
        dim: the dimension, or dimensions, of the vectors.
        eps: the least norm to divide by.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    if out is None:
        size = input.norm(p, dim, True).clamp_min(eps)
        return input / (size.expand_as(input) if size.requires_grad else size)
    return _div(input, input.norm(p, dim, True).clamp_min_(eps).expand_as(input), out=out)


@_noted
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Vectors of zeros, with a one at the place of each class.

    Args:
        input: the classes, of dtype int64, of any shape.
        num_classes: the number of classes: the size of the new, last dimension; -1 for one more than the largest class.

    Raises:
        RuntimeError: for another dtype, or a class that is negative or not less than `num_classes`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
        >>> torch.nn.functional.one_hot(torch.tensor([[0], [2]]), num_classes=4).shape
        gradpack.Size([2, 1, 4])
    """
    from ..ops.create.ranges import arange

    if input.dtype is not _int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {input.dtype}")
    if _is_batched(input):
        if num_classes <= 0:
            raise RuntimeError(
                "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
            )
        return (input.unsqueeze(-1) == arange(num_classes, device=input.device)).to(_int64)
    made = _one_hot_of_few(input, num_classes)
    if made is not None:
        return made
    if not input.numel() and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty input.")
    if input.numel() and input.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(input.max()) + 1
    elif input.numel() and input.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (input.unsqueeze(-1) == arange(num_classes, device=input.device)).to(_int64).contiguous()


_adopt(globals(), _functional.__name__)
_names = sorted(n for n, found in globals().items() if n[0] != "_" and callable(found) and not isinstance(found, type))
globals()["__all__"] = _names  # as in `_functional`
_wrap_module(
    globals(),
    _names,
    options="training align_corners log_target log_input ceil_mode count_include_pad sparse scale_grad_by_freq "
    "use_input_stats zero_infinity swap include_last_offset",
)
