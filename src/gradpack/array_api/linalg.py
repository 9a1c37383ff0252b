"""Linear algebra: `gradpack.linalg` with the standard's names, promotion and broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.dtypes import dtype
from ..core.tensor import Tensor
from ..ops.numpy_api import forms
from ._lookup import ours
from ._manipulation import matrix_transpose
from ._promotion import promoted
from ._statistics import sum
from ._types import Axes

Tolerance = float | Tensor | None


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the product of matrices, or of a matrix and a vector."""
    return ours("matmul", *promoted(x1, x2))


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Return the sum of products over some axes of both tensors."""
    return ours("tensordot", *promoted(x1, x2), axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the sum of products along an axis, of conjugates of the first operand's elements.

    Raises:
        ValueError: if the tensors differ in the size of the axis.
    """
    x1, x2 = promoted(x1, x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot(): sizes differ along axis {axis}: shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    return ours("sum", ours("conj", x1) * x2, axis, dtype=x1.dtype)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the cross product of vectors of 3 elements along an axis.

    Raises:
        ValueError: if the axis has another size.
    """
    x1, x2 = promoted(x1, x2)
    if not x1.shape[axis] == x2.shape[axis] == 3:
        raise ValueError(f"cross(): axis {axis} must have size 3, not shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    return ours("linalg.cross", *ours("broadcast_tensors", x1, x2), dim=axis)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the products of all elements of two vectors."""
    return ours("outer", *promoted(x1, x2))


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return `inv(x1) @ x2`: `x2` is a vector if it has one dimension, else matrices."""
    x1, x2 = promoted(x1, x2)
    if x2.ndim > 1 and x1.shape[:-1] == x2.shape:  # which would be vectors in torch
        x2 = x2[None]
    return ours("linalg.solve", x1, x2)


def trace(x: Tensor, /, *, offset: int = 0, dtype: dtype | None = None) -> Tensor:
    """Return the sum of a diagonal of each matrix."""
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Return a diagonal of each matrix."""
    return ours("diagonal", x, offset, -2, -1)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Return the norm of each matrix."""
    return ours("linalg.matrix_norm", x, ord, keepdim=keepdims)


def vector_norm(x: Tensor, /, *, axis: Axes | None = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    """Return the norm of vectors along some axes, or all."""
    if axis == ():  # all axes, in torch
        return (x != 0).to(x.real.dtype if x.is_complex() else x.dtype) if ord == 0 else ours("abs", x)
    return ours("linalg.vector_norm", x, ord, axis, keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Return the `n`-th power of each matrix."""
    return ours("linalg.matrix_power", x, n)


def matrix_rank(x: Tensor, /, *, rtol: Tolerance = None) -> Tensor:
    """Return how many singular values are above `rtol` times the largest one."""
    return ours("linalg.matrix_rank", x, rtol=rtol)


def pinv(x: Tensor, /, *, rtol: Tolerance = None) -> Tensor:
    """Return the pseudoinverse of each matrix, without singular values below `rtol` times the largest one."""
    return ours("linalg.pinv", x, rtol=rtol)


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """Return the triangular factor of each positive-definite matrix."""
    return ours("linalg.cholesky", x, upper=upper)


def qr(x: Tensor, /, *, mode: str = "reduced") -> Any:
    """Return the factors `Q, R` of each matrix."""
    return forms.ours("linalg.qr", x, mode)


def svd(x: Tensor, /, *, full_matrices: bool = True) -> Any:
    """Return the factors `U, S, Vh` of each matrix."""
    return forms.ours("linalg.svd", x, full_matrices)


det, eigh, eigvalsh, inv, slogdet, svdvals = (
    forms.found(f"linalg.{name}") for name in "det eigh eigvalsh inv slogdet svdvals".split()
)

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
