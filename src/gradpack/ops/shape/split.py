"""Splitting tensors into views: unbind, split, chunk and the like."""

from __future__ import annotations

from itertools import pairwise
from operator import index
from typing import Any

from ...base import late
from ...base.dtypes import int64
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array, Sizes
from ...declare.decorators import linear
from ..index.subscript import FULL
from .dims import wrap_dim
from .shape import view_op

FUNCTIONS = (
    "split split_with_sizes chunk tensor_split hsplit vsplit dsplit unbind unsafe_split unsafe_chunk "
    "unsafe_split_with_sizes"
)
METHODS = FUNCTIONS
Parts = tuple[Tensor, ...]


@view_op(
    input=lambda g, input_shape, dim: late._stack(_defined(g, _without(input_shape, dim)), dim),
    many=True,
    axis=True,
    saved_as="dim",
)
def unbind(input: Array, dim: int = 0) -> Any:
    """All slices along a dimension, with it removed. Views, which must not be modified in-place under grad mode.

    Example::

        >>> import gradpack as torch
        >>> torch.unbind(torch.tensor([[1, 2], [3, 4]]), 1)
        (tensor([1, 3]), tensor([2, 4]))
    """
    if not len(input.shape):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(dim, len(input.shape))
    before = (FULL,) * d
    return tuple([input[(*before, i, ...)] for i in range(input.shape[d])])


def _without(shape: Any, dim: int) -> list[tuple[int, ...]]:
    d = wrap_dim(dim, len(shape))
    return [(*shape[:d], *shape[d + 1 :])] * shape[d]


def _defined(parts: Any, shapes: Any) -> list[Any]:
    """Gradients of several outputs, with None replaced by zeros."""
    if not isinstance(parts, tuple):  # a single output's gradient comes without a tuple
        return [parts]
    like = next(p for p in parts if p is not None)
    return [late.zeros_as(like, shape) if p is None else p for p, shape in zip(parts, shapes, strict=True)]


def _joined(g: Any, input_shape: Any, sizes: Any, dim: int) -> Any:
    """The gradient of a tensor split into parts of these sizes."""
    d = wrap_dim(dim, len(input_shape))
    return late._cat(_defined(g, [(*input_shape[:d], n, *input_shape[d + 1 :]) for n in sizes]), dim)


def _joined_evenly(g: Any, input_shape: Any, split_size: int, dim: int) -> Any:
    return _joined(g, input_shape, _even(input_shape, split_size, dim), dim)


@view_op(input=_joined_evenly, many=True, name="split")
def _split(input: Array, split_size: int, dim: int = 0) -> Any:
    """Split into parts of one size; the last one may be smaller."""
    return _cut(input, _even(input.shape, split_size, dim), dim)


@view_op(input=_joined, many=True, name="split_with_sizes", saved_as="dim self_sym_sizes=input.shape split_sizes=sizes")
def _split_sizes(input: Array, sizes: Sizes, dim: int = 0) -> Any:
    """Split into parts of given sizes."""
    d = wrap_dim(dim, len(input.shape))
    total, size = 0, input.shape[d] if len(input.shape) else 1
    for n in sizes:
        if n < 0:
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(sizes)}"
            )
        total += n
    if total != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {d}), "
            f"but got split_sizes={list(sizes)}"
        )
    return _cut(input, sizes, dim)


def _even(shape: Any, split_size: int, dim: int) -> list[int]:
    """The sizes of the parts of `split`, for one size."""
    if not len(shape):
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    n = shape[wrap_dim(dim, len(shape))]
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if split_size == 0:
        if n:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        return [0]
    return [min(split_size, n - start) for start in range(0, max(n, 1), split_size)]


def _cut(input: Any, sizes: Any, dim: int) -> tuple[Any, ...]:
    before = (FULL,) * wrap_dim(dim, len(input.shape))
    parts = []
    start = 0
    for n in sizes:
        end = start + n
        parts.append(input[(*before, slice(start, end), ...)] if before else input[start:end])
        start = end
    return tuple(parts)


@linear(input=_joined_evenly, many=True, data_movement=True, name="unsafe_split")
def _unsafe_split(input: Array, split_size: int, dim: int = 0) -> Any:
    """`_split` whose parts are not recorded as views by autograd."""
    return _cut(input, _even(input.shape, split_size, dim), dim)


@linear(
    input=lambda g, input_shape, split_sizes, dim: _joined(g, input_shape, split_sizes, dim),
    many=True,
    data_movement=True,
)
def unsafe_split_with_sizes(input: Array, split_sizes: Sizes, dim: int = 0) -> Any:
    """`split_with_sizes` whose parts may be modified in-place: autograd does not record them as views.

    Example::

        >>> import gradpack as torch
        >>> torch.unsafe_split_with_sizes(torch.arange(3), [1, 2])
        (tensor([0]), tensor([1, 2]))
    """
    return _cut(input, split_sizes, dim)


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> Parts:
    """`split` whose parts may be modified in-place: autograd does not record them as views; do not use them as such.

    Example::

        >>> import gradpack as torch
        >>> torch.unsafe_split(torch.arange(3), 2)
        (tensor([0, 1]), tensor([2]))
    """
    return _unsafe_split(input, split_size, dim)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> Parts:
    """`chunk` whose parts may be modified in-place: see `unsafe_split`.

    Example::

        >>> import gradpack as torch
        >>> torch.unsafe_chunk(torch.arange(3), 2)
        (tensor([0, 1]), tensor([2]))
    """
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input._shape[wrap_dim(dim, len(input._shape))]
    return _unsafe_split(input, -(-size // chunks), dim) if size else unsafe_split_with_sizes(input, [0] * chunks, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> Parts:
    """Split along a dimension into parts of one size, or of given sizes. Views, not to be modified under grad mode.

    Args:
        tensor: the tensor.
        split_size_or_sections: the size of each part (the last may be smaller), or a list of sizes.
        dim: the dimension; negative ones count from the last.

    Raises:
        RuntimeError: for sizes that are negative or do not sum up.

    Example::

        >>> import gradpack as torch
        >>> torch.split(torch.arange(5), [1, 4])
        (tensor([0]), tensor([1, 2, 3, 4]))
        >>> torch.split(torch.arange(5), 2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if isinstance(split_size_or_sections, list | tuple):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    if not hasattr(split_size_or_sections, "__index__"):
        raise TypeError(
            f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not "
            f"{type(split_size_or_sections).__name__}"
        )
    return _split(tensor, split_size_or_sections.__index__(), dim)


def _method_split(self: Tensor, split_size: Any, dim: int = 0) -> Parts:
    """Parts along a dimension: of one size, or of given sizes. Views: see `gradpack.split`.

    Args:
        split_size: the size of each part (the last may be smaller), or a list of sizes.
        dim: the dimension; negative ones count from the last.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return split(self, split_size, dim)


def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> Parts:
    """Split along a dimension into parts of given sizes. Views, which must not be modified in-place under grad mode.

    Raises:
        RuntimeError: for sizes that are negative or do not sum up.

    Example::

        >>> import gradpack as torch
        >>> torch.split_with_sizes(torch.arange(5), (2, 3))
        (tensor([0, 1]), tensor([2, 3, 4]))
    """
    return _split_sizes(input, tuple(n.__index__() for n in split_sizes), dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> Parts:
    """Split along a dimension into at most `chunks` parts of equal size, of which the last may be smaller. Views.

    There may be fewer: `tensor_split` gives just as many.

    Args:
        chunks: the number of parts.
        dim: the dimension; negative ones count from the last.

    Raises:
        RuntimeError: unless `chunks` is positive.

    Example::

        >>> import gradpack as torch
        >>> torch.chunk(torch.arange(5), 2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        >>> torch.chunk(torch.arange(5), 4)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if not input._shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input._shape[wrap_dim(dim, input.ndim)]
    size = (n + chunks - 1) // chunks
    return _split(input, size, dim) if size else _split_sizes(input, (0,) * chunks, dim)


def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0,
    *, indices: Any = None, sections: Any = None, tensor_indices_or_sections: Any = None,
) -> Parts:  # fmt: skip
    """Split along a dimension into a number of parts whose sizes differ by at most 1, or at given indices. Views.

    Args:
        indices_or_sections: the number of parts; or the indices at which they begin, as a sequence. Either as a tensor
            of int64, too.
        indices: the indices, by name.
        sections: the number of parts, by name.
        tensor_indices_or_sections: either, as a tensor, by name.

    Raises:
        RuntimeError: for a number of parts that is not positive, or a tensor of another dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor_split(torch.arange(5), 2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        >>> torch.tensor_split(torch.arange(5), (1, 3))
        (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """
    if not input._shape:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    given = (indices_or_sections, indices, sections, tensor_indices_or_sections)
    where: Any = next((w for w in given if w is not None), None)
    if where is None:
        raise TypeError("tensor_split() missing 1 required positional arguments: indices_or_sections")
    if isinstance(where, Tensor):
        if where._spec.dtype is not int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{scalar_type(where._spec.dtype)}"
            )
        if where.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                f"but got a tensor with {where.ndim} dims"
            )
        where = where.tolist()
    d = wrap_dim(dim, input.ndim)
    n = input._shape[d]
    if hasattr(where, "__index__"):
        count = where.__index__()
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        small, larger = divmod(n, count)
        bounds = [0]
        for k in range(count):
            bounds.append(bounds[-1] + small + (k < larger))
        pairs = list(pairwise(bounds))
    else:
        cuts = [0, *(w.__index__() for w in where), n]
        pairs = list(pairwise(cuts))
    return tuple(late._slice(input, (*(FULL,) * d, slice(a, b), ...)) for a, b in pairs)


def _split_along(name: str, input: Tensor, given: tuple[Any, ...], dim: int, least: int) -> Parts:
    where: Any = next((w for w in given if w is not None), None)
    if input.ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
            "dimensions!"
        )
    if not isinstance(where, int | Tensor) and hasattr(type(where), "__index__"):
        where = index(where)  # an integer of NumPy's
    if not isinstance(where, int | tuple | list | Tensor) or type(where) is bool:
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (Tensor, {type(where).__name__}), but "
            "expected one of:\n * (Tensor input, int sections)\n * (Tensor input, tuple of ints indices)"
        )
    if isinstance(where, int):
        n = input._shape[dim]
        if where <= 0 or n % where:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {n} is not "
                f"divisible by the split_size {where}!"
            )
    return tensor_split(input, where, dim)


def hsplit(input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> Parts:
    """Parts along the second dimension, of a vector along its only one. Views.

    Example::

        >>> import gradpack as torch
        >>> torch.hsplit(torch.arange(4), 2)
        (tensor([0, 1]), tensor([2, 3]))
    """
    return _split_along("hsplit", input, (indices_or_sections, indices, sections), 0 if input.ndim == 1 else 1, 1)


def vsplit(input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> Parts:
    """Parts along the first dimension. Views.

    Example::

        >>> import gradpack as torch
        >>> torch.vsplit(torch.tensor([[1, 2], [3, 4]]), 2)
        (tensor([[1, 2]]), tensor([[3, 4]]))
    """
    return _split_along("vsplit", input, (indices_or_sections, indices, sections), 0, 2)


def dsplit(input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None) -> Parts:
    """Parts along the third dimension. Views.

    Example::

        >>> import gradpack as torch
        >>> [part.shape for part in torch.dsplit(torch.zeros(1, 1, 2), 2)]
        [gradpack.Size([1, 1, 1]), gradpack.Size([1, 1, 1])]
    """
    return _split_along("dsplit", input, (indices_or_sections, indices, sections), 2, 3)
