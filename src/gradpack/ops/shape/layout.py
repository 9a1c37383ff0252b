"""Tensors of a layout in memory, and indices of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...backends.memory_layout import memory_of
from ...base import dtypes, late
from ...base.errors import not_a_tensor
from ...core.tensor import Tensor
from ...declare.batching.vmap_fallback import each_example
from ..create.making import _native, finish, settled
from ..fft.fourier import fitted
from .copies import _own
from .dims import wrap_dim

FUNCTIONS = "as_strided_scatter fill empty_permuted _chunk_cat nonzero_static unravel_index resolve_neg"
METHODS = "as_strided_scatter nonzero_static resolve_neg"
REFLECTED = {"__rdiv__": "_divided_into"}
INPLACE_OPERATORS = {"__idiv__": "div"}


def _divided_into(self: Tensor, other: Any) -> Any:
    """`other / self`, for Python 2's `__rdiv__`."""
    return self.reciprocal() * other


def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of `input` with `src` written at the elements that `as_strided` reads.

    Raises:
        RuntimeError: if `src` has another shape than `size`.

    Example::

        >>> import gradpack as torch
        >>> torch.as_strided_scatter(torch.zeros(2, 2), torch.tensor([1.0, 2.0]), (2,), (3,))
        tensor([[1., 0.],
                [0., 2.]])
    """
    if src._shape != tuple(size):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._shape)}, slice size = {list(size)}"
        )
    result: Tensor
    memory = memory_of(input._data)
    if memory is None or (input._data.flags.c_contiguous and memory.size == input._data.size):
        result = late._contiguous(input)
        late.as_strided(result, size, stride, storage_offset or 0).copy_(src)
        return result
    whole = late.zeros(
        memory.size, dtype=input.dtype, device=input.device
    )  # of the size of the whole storage, to have the same layout
    layout = input._shape, input.stride(), input.storage_offset()
    late.as_strided(whole, *layout).copy_(input)
    late.as_strided(whole, size, stride, layout[2] if storage_offset is None else storage_offset).copy_(src)
    result = late.as_strided(whole, *layout)
    return result


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` with one value everywhere: a number, or a 0-dim tensor.

    Raises:
        RuntimeError: for a value with dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.fill(torch.zeros(2), 3)
        tensor([3., 3.])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("fill", "input", 1, input)
    if not isinstance(value, Tensor):
        if not isinstance(value, int | float | complex):
            raise not_a_tensor("fill", "value", 2, value)
        value = late.scalar_tensor(value, dtype=input._spec.dtype, device=input.device)
    if value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    made: Tensor = late._filled(input, value)
    return made


def empty_permuted(
    size: Any, physical_layout: Any,
    *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of no particular values whose dimensions lie in memory in the order `physical_layout`.

    Args:
        size: the shape.
        physical_layout: the dimensions from the outermost to the innermost in memory: (0, 2, 3, 1) for channels last.

    Raises:
        RuntimeError: unless that is a permutation of the dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.empty_permuted((2, 3), (1, 0)).stride()
        (1, 2)
        >>> x = torch.empty_permuted((2, 3, 4, 5), (0, 2, 3, 1))
        >>> x.is_contiguous(memory_format=torch.channels_last)
        True
    """
    size, order = tuple(size), tuple(physical_layout)
    if len(size) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(size)} is not equal to len(physical_layout) = {len(order)}"
        )
    if any(not 0 <= d < len(size) for d in order):
        nr, odd = next((i, d) for i, d in enumerate(order) if not 0 <= d < len(size))
        raise RuntimeError(
            f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got {odd} at index {nr}).  NB: "
            "negative dims not currently supported; file an issue if you want it."
        )
    if len(set(order)) != len(order):
        raise RuntimeError(f"Duplicate dim not allowed: {list(order)}")
    array = settled(np.empty(tuple(size[d] for d in order), _native("empty_permuted", dtype, device)))
    return finish(np.transpose(array, np.argsort(order)) if order else array, requires_grad, device)


def _chunk_cat(tensors: Any, dim: int, num_chunks: int, *, out: Any = None) -> Tensor:
    """Each tensor padded with zeros and split into chunks along a dimension; chunks of the same number side by side.

    The result has the dimensions before `dim`, then one for the chunks, then one for their elements.

    Example::

        >>> import gradpack as torch
        >>> torch._chunk_cat([torch.tensor([1, 2]), torch.tensor([3, 4, 5])], 0, 2)
        tensor([[1, 3, 4],
                [2, 5, 0]])
    """
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError(f"_chunk_cat expects positive num_chunks, and got {num_chunks}")
    if dim < 0 and len({x.ndim for x in tensors}) > 1:
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    dim = wrap_dim(dim, tensors[0].ndim)
    if any(dim >= x.ndim for x in tensors):
        raise RuntimeError(f"_chunk_cat expects dim < ndim for all input tensors, and got dim={dim}")
    lead = tensors[0]._shape[:dim]
    rows = []
    for x in tensors:
        d = wrap_dim(dim, x.ndim)
        if not x.numel():
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if x._shape[:d] != lead:
            raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
        if x._spec.dtype is not tensors[0]._spec.dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
        each = -(-x._shape[d] // num_chunks)
        rows.append(late.reshape(fitted(x, (d,), (each * num_chunks,)), (*lead, num_chunks, -1)))
    made = late.cat(rows, len(lead) + 1)
    return made if out is None else _own("_chunk_cat", made, out)


# -- indices --


@each_example
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Any = None) -> Tensor:
    """The first `size` rows of `nonzero`; where there are less, rows of `fill_value` follow.

    Raises:
        RuntimeError: for a negative size.

    Example::

        >>> import gradpack as torch
        >>> torch.nonzero_static(torch.tensor([1, 0, 3]), size=3)
        tensor([[ 0],
                [ 2],
                [-1]])
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, and it is {size}")
    rows = late.nonzero(input)._data[:size]
    made = np.full((size, input.ndim), fill_value, dtype=np.int64)
    made[: rows.shape[0]] = rows
    return finish(made, False) if out is None else _own("nonzero_static", finish(made, False), out)


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The indices along each dimension of a shape that flat indices stand for.

    Raises:
        TypeError: for indices that are not integers, or a shape that is none.
        ValueError: for a negative size.

    Example::

        >>> import gradpack as torch
        >>> torch.unravel_index(torch.tensor([1, 5]), (2, 3))
        (tensor([0, 1]), tensor([1, 2]))
    """
    d = indices.dtype
    if d.is_complex or d.is_floating_point or d is dtypes.bool_:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {d}")
    if not isinstance(shape, int | Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape).__name__}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(hasattr(n, "__index__") for n in sizes):
        wrong = next(n for n in sizes if not hasattr(n, "__index__"))
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(wrong)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    found, rest = [], indices.to(dtypes.int64)
    for n in reversed(sizes):
        found.append(late.remainder(rest, n))
        rest = late.floor_divide(rest, n)
    return tuple(reversed(found))


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negations are never postponed here.

    Example::

        >>> import gradpack as torch
        >>> torch.resolve_neg(torch.tensor([1, 2]))
        tensor([1, 2])
    """
    return input
