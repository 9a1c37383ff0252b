"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np

from ...backends.numpy import NATIVE
from ...base import dtypes, late
from ...base.dtypes import dtype
from ...base.errors import dim_out_of_range
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import linear
from ...declare.generate.profiling import profiled
from ..create.making import finish, with_parameters_of
from ..reduce.kernels import SMALL, _array_type
from .dims import wrap_dim
from .shape import view_op

FUNCTIONS = "tril triu tril_indices triu_indices diag diagonal diag_embed diagflat"
METHODS = "tril triu diag diagonal diag_embed diagflat"
INPLACE = "tril_ triu_"

_triangular = partial(linear, data_movement=True, contiguous=True, refuses="unsigned", overlap="read_first")


def _check_matrix(op: str, input: Any, diagonal: Any) -> None:
    if len(input.shape) < 2:
        raise RuntimeError(f"{op}: input tensor must have at least 2 dimensions, and this one has {len(input.shape)}")
    if not hasattr(diagonal, "__index__"):
        raise TypeError(f"{op}(): argument 'diagonal' (position 2) must be int, not {type(diagonal).__name__}")


@_triangular(input=lambda g, diagonal: tril(g, diagonal))
def tril(input: Array, diagonal: int = 0) -> Any:
    """The lower triangle of a matrix or batch of matrices, zeros elsewhere.

    Args:
        diagonal: the last diagonal to keep: 0 the main one, positive above it, negative below.

    Raises:
        RuntimeError: for fewer than two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.tril(torch.ones(2, 3))
        tensor([[1., 0., 0.],
                [1., 1., 0.]])
    """
    _check_matrix("tril", input, diagonal)
    if type(input) is _array_type and input.itemsize in _BITS:
        return _triangle(input, diagonal.__index__(), True)
    return np.tril(input, k=diagonal)


@_triangular(input=lambda g, diagonal: triu(g, diagonal))
def triu(input: Array, diagonal: int = 0) -> Any:
    """The upper triangle of a matrix or batch of matrices, zeros elsewhere.

    Args:
        diagonal: the first diagonal to keep.

    Example::

        >>> import gradpack as torch
        >>> torch.triu(torch.ones(2, 3), diagonal=1)
        tensor([[0., 1., 1.],
                [0., 0., 1.]])
    """
    _check_matrix("triu", input, diagonal)
    if type(input) is _array_type and input.itemsize in _BITS:
        return _triangle(input, diagonal.__index__(), False)
    return np.triu(input, k=diagonal)


@lru_cache(128)
def triangle_mask(rows: int, columns: int, diagonal: int, lower: bool) -> Any:
    """The bool mask of a triangle of a matrix."""
    whole = np.ones((rows, columns), bool)
    made = np.tril(whole, diagonal) if lower else np.triu(whole, diagonal)
    made.flags.writeable = False
    return made


_BITS = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
_KEPT = 1 << 16  # elements of a mask that is worth its memory


def _triangle(input: Any, diagonal: int, lower: bool) -> Any:
    """A triangle of matrices, and zeros: the bits of any numbers times 0 or 1, in a quarter of the time of `where`."""
    rows, columns = input.shape[-2:]
    mask = (triangle_mask if rows * columns <= _KEPT else triangle_mask.__wrapped__)(rows, columns, diagonal, lower)
    return np.multiply(input.view(_BITS[input.itemsize]), mask).view(input.dtype)


def _indices(places: Callable[..., Any]) -> Any:
    """Make a function that gives the indices `places(row, col, offset)` as a tensor."""
    name = places.__name__

    def indices(
        row: int, col: int, offset: int = 0,
        *, dtype: dtype = dtypes.int64, device: Any = None, layout: Any = None, pin_memory: bool = False,
    ) -> Tensor:  # fmt: skip
        for label, n in (("row", row), ("col", col)):
            if n < 0:
                raise RuntimeError(f"{label} must be non-negative, got {n} ({name}())")
        if dtype not in (dtypes.int64, dtypes.int32):
            raise NotImplementedError(f'"{name}" not implemented for {dtype.name}: dtype is int64 or int32')
        native = NATIVE[dtype]
        if type(row) is type(col) is type(offset) is int and row * col < SMALL:
            return finish(few(row, col, offset, native).copy(), False, device)
        return finish(np.stack(places(row, col, offset)).astype(native), False, device)

    @lru_cache(32)
    def few(row: int, col: int, offset: int, native: Any) -> Any:
        made = np.stack(places(row, col, offset)).astype(native)
        made.flags.writeable = False
        return made

    return profiled(with_parameters_of(places, indices, given=3))


@_indices
def tril_indices(row: int, col: int, offset: int) -> Any:
    """Row and column numbers of the lower triangle of a `row` by `col` matrix, as a tensor of two rows.

    Args:
        row: the number of rows.
        col: the number of columns.
        dtype: int64 or int32.

    Raises:
        RuntimeError: for negative numbers.
        NotImplementedError: for another dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """
    return np.tril_indices(row, offset, col)


@_indices
def triu_indices(row: int, col: int, offset: int) -> Any:
    """Row and column numbers of the upper triangle of a `row` by `col` matrix, as a tensor of two rows.

    Args:
        row: the number of rows.
        col: the number of columns.
        dtype: int64 or int32.

    Raises:
        RuntimeError: for negative numbers.
        NotImplementedError: for another dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.triu_indices(2, 2, offset=1)
        tensor([[0],
                [1]])
    """
    return np.triu_indices(row, offset, col)


# -- diagonals --


@view_op(input=lambda g, input_shape, offset, dim1, dim2: _diagonal_backward(g, input_shape, offset, dim1, dim2))
def diagonal(input: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A diagonal with respect to two dimensions, as the last dimension of a view.

    Args:
        offset: which one: positive above the main diagonal, negative below.

    Raises:
        IndexError: if a dimension is out of range.
        RuntimeError: if the two are the same.

    Example::

        >>> import gradpack as torch
        >>> torch.diagonal(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    if type(input) is _array_type and input.ndim == 2 and dim1 == 0 and dim2 == 1 and type(offset) is int:
        height, width = input.shape
        if -height <= offset <= width:
            found = input.diagonal(offset)
            if input.flags.writeable:
                found.flags.writeable = True  # NumPy drops it
            return found
    a, b = _two_dims(dim1, dim2, len(input.shape))
    moved = np.moveaxis(input, (a, b), (-2, -1))
    height, width = moved.shape[-2:]
    moved = moved[..., max(-offset, 0) :, max(offset, 0) :]
    n = max(min(height - max(-offset, 0), width - max(offset, 0)), 0)
    square = moved[..., :n, :n]
    # NumPy's `diagonal` returns a read-only view; that of einsum is writable.
    return np.einsum("...ii->...i", square) if hasattr(np, "einsum") else np.linalg.diagonal(square)


def _two_dims(dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return a, b


@linear(
    input=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2), data_movement=True, name="diagonal_backward"
)
def _diagonal_backward(input: Array, shape: Any = (), offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Zeros of `shape` with `input` on a diagonal."""
    out = np.zeros(tuple(shape), dtype=input.dtype)
    if type(out) is _array_type and out.ndim == 2 and offset == 0 and dim1 == 0 and dim2 == 1:
        count = min(out.shape)
        out.reshape(-1)[: count * (out.shape[1] + 1) : out.shape[1] + 1] = input
        return out
    diagonal(out, offset, dim1, dim2)[...] = input
    return out


@linear(input=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2), data_movement=True)
def diag_embed(input: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the last dimension of `input` on a diagonal, zeros elsewhere.

    Args:
        offset: on which diagonal.
        dim1, dim2: the dimensions of the result that the matrices are in.

    Example::

        >>> import gradpack as torch
        >>> torch.diag_embed(torch.tensor([1, 2]), offset=1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
    """
    if type(input) is _array_type and input.ndim and dim1 == -2 and dim2 == -1:
        *rest, count = input.shape
        n = count + abs(offset)
        out = np.zeros((*rest, n, n), input.dtype)
        start = offset if offset > 0 else -offset * n
        out.reshape((*rest, n * n))[..., start : start + count * (n + 1) : n + 1] = input
        return out
    ndim = len(input.shape) + 1
    a, b = _two_dims(dim1, dim2, ndim)
    if not len(input.shape):
        raise dim_out_of_range(dim1, 0)
    n = input.shape[-1] + abs(offset)
    others = iter(input.shape[:-1])
    out = np.zeros(tuple(n if k in (a, b) else next(others) for k in range(ndim)), dtype=input.dtype)
    diagonal(out, offset, dim1, dim2)[...] = input
    return out


def diag(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The diagonal of a matrix, as a copy; or the matrix with a vector on its diagonal.

    Raises:
        RuntimeError: for other than one or two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.diag(torch.tensor([[1, 2], [3, 4]]), 1)
        tensor([2])
        >>> torch.diag(torch.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """
    if input.ndim == 1:
        return diag_embed(input, diagonal) if out is None else diag_embed(input, diagonal, out=out)
    if input.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    part = _diagonal_of(input, diagonal)
    return late.clone(part) if out is None else late.clone(part, out=out)


_diagonal_of = diagonal


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of `input` on a diagonal.

    Example::

        >>> import gradpack as torch
        >>> torch.diagflat(torch.tensor([[1], [2]]))
        tensor([[1, 0],
                [0, 2]])
    """
    return diag_embed(late.reshape(input, (prod(input._shape),)), offset)
