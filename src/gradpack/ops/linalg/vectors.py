"""Products of batches of vectors, and matrices of their powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import BOOL, int64
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import bilinear
from ...declare.generate.profiling import profiled
from ..reduce.dimensions import numpy_names
from ..shape.dims import wrap_dim
from .check import refuse_dtype, same_dtype, with_out

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library

_MANY = 512  # elements, of which one part after another takes less time than all parts twice
_AHEAD = np.array([1, 2, 0], np.intp)

FUNCTIONS = "cross vander"
METHODS = "cross"


@bilinear(
    input=lambda g, other, dim: linalg_cross(other, g, dim),
    other=lambda g, input, dim: linalg_cross(g, input, dim),
    same_dtype=True,
    dtypes="ifc",
    name="linalg_cross",
    refuses="unsigned complex32",
)
def linalg_cross(input: Array, other: Array, dim: int = -1) -> Any:
    """The cross products of vectors of three elements, along a dimension."""
    if len(input.shape) != len(other.shape):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis_of = wrap_dim(dim, len(input.shape))
    if input.shape[axis_of] != 3 or other.shape[axis_of] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[axis_of]} and "
            f"{other.shape[axis_of]}"
        )
    if type(input) is _array_type and input.size >= _MANY:
        a, b = np.moveaxis(input, axis_of, 0), np.moveaxis(other, axis_of, 0)
        made = np.empty(np.broadcast(input, other).shape, input.dtype)
        parts = np.moveaxis(made, axis_of, 0)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            np.multiply(a[j], b[k], out=parts[i])
            parts[i] -= a[k] * b[j]
        return made
    if type(input) is _array_type:  # whose methods take half the time of functions
        turned = input * other.take(_AHEAD, axis_of)
        turned -= input.take(_AHEAD, axis_of) * other
        return turned.take(_AHEAD, axis_of)
    ahead, behind = np.asarray([1, 2, 0]), np.asarray([2, 0, 1])
    return np.take(input, ahead, axis=axis_of) * np.take(other, behind, axis=axis_of) - np.take(
        input, behind, axis=axis_of
    ) * np.take(other, ahead, axis=axis_of)


@numpy_names
@with_out
def public_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Any:
    """The cross products of vectors of three elements, batched and broadcast.

    Args:
        dim: the dimension of size 3.

    Raises:
        RuntimeError: for another size, or different numbers of dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """
    if isinstance(other, Tensor) and input.dtype != other.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_type(input._spec.dtype)} but found {scalar_type(other._spec.dtype)}"
        )
    return linalg_cross(input, other, dim)


@numpy_names
@with_out
def cross(input: Tensor, other: Tensor, dim: Any = None) -> Any:
    """The cross product along `dim`, by default the first dimension of size 3.

    Args:
        other: the second tensor, of a shape that broadcasts.
        dim: the dimension of the vectors, of size 3; None for the first one of that size.

    Example::

        >>> import gradpack as torch
        >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """
    if dim is None:
        found = [d for d, n in enumerate(input._shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    if isinstance(other, Tensor) and input._spec is other._spec:
        return linalg_cross(input, other, dim)
    return public_cross(input, other, dim=dim)


@numpy_names
@with_out
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Any:
    """The dot products of vectors along a dimension, those of `x` conjugated.

    Args:
        x, y: the vectors, of shapes that broadcast, and of the same dtype.
        dim: the dimension of the vectors.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.vecdot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        tensor(11.)
    """
    for t in (x, y):
        refuse_dtype("linalg.vecdot", t._spec.dtype, low=True)
    same_dtype("linalg.vecdot", x, y, ("x", "y"))
    if x.ndim == y.ndim == 1 and x._shape != y._shape:
        a, b = x._shape[0], y._shape[0]
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, but "
            f"got {a} and {b} elements respectively"
        )
    return late.sum(late.conj(x) * y, dim)


def linalg_vander(x: Tensor, *, N: Any = None) -> Any:
    """Matrices of powers: each row is `x[i] ** 0, x[i] ** 1, ...`.

    Args:
        x: of shape (..., n).
        N: the number of columns, n by default.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.vander(torch.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [1, 2, 4],
                [1, 3, 9]])
    """
    d = x._spec.dtype
    if d.category == BOOL or d.low:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {scalar_type(d)}"
        )
    if not x.ndim and N is None:
        raise RuntimeError("N must be greater than 1.")
    n = x._shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    x = x if x.ndim else late.unsqueeze(x, 0)
    return _powers(x, n)


def _powers(x: Tensor, n: int) -> Any:
    """The first `n` powers of each element, two at least, along a new dimension."""
    powers = late._cumprod(late.expand(late.unsqueeze(x, -1), (*x._shape, n - 1)), -1)
    return late.cat([late.ones_like(powers[..., :1]), powers], -1)


@profiled
def vander(x: Tensor, N: Any = None, increasing: bool = False) -> Any:
    """The matrix of powers of a vector, the highest power first.

    Args:
        x: the vector.
        N: the number of columns; None for as many as `x` has elements.
        increasing: the lowest power first.

    Raises:
        RuntimeError: for other than one dimension, or a negative `N`.

    Example::

        >>> import gradpack as torch
        >>> torch.vander(torch.tensor([1, 2, 3]), 2)
        tensor([[1, 1],
                [2, 1],
                [3, 1]])
        >>> torch.vander(torch.tensor([1, 2, 3]), increasing=True)
        tensor([[1, 1, 1],
                [1, 2, 4],
                [1, 3, 9]])
    """
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x._shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    dtype = x.dtype if x.is_floating_point() or x.is_complex() else int64
    if n < 2:
        return late.ones((x._shape[0], n), dtype=dtype, device=x.device)
    made = _powers(x, n)
    return made if increasing else late.flip(made, (-1,))


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of matrices, as a view.

    Args:
        offset: which one: 0 for the main diagonal, positive ones above it, negative ones below.
        dim1, dim2: the dimensions of rows and columns.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    return late.diagonal(A, offset, dim1, dim2)
