"""`torch.linalg`: decompositions, solutions and norms of matrices, with their gradients.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from collections.abc import Sequence
from .. import return_types
from ..core.tensor import Tensor
from ..types import _bool, _dtype, _float, _int

from ..base.errors import LinAlgError as LinAlgError
def cholesky(input: Tensor, *, upper: _bool = False, out: Tensor | None = None) -> Tensor:
    """The lower triangular `L` with `A = L @ L^H`, for Hermitian positive definite matrices."""
def cholesky_ex(
    input: Tensor, *, upper: _bool = False, check_errors: _bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_cholesky_ex:
    """As `cholesky`, without an error for other matrices, as a named tuple (L, info)."""
def cond(
    input: Tensor, p: _int | _float | str | Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The condition number: the norm of A times that of its inverse."""
def cross(input: Tensor, other: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """The cross products of vectors of three elements, batched and broadcast."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of square matrices. Its gradient is the matrix of cofactors, also for a singular matrix."""
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """The diagonals of matrices, as a view."""
def eig(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig:
    """Eigenvalues and eigenvectors, always complex, as a named tuple (eigenvalues, eigenvectors)."""
def eigh(
    input: Tensor, UPLO: str = 'L', *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_eigh:
    """Eigenvalues and eigenvectors of Hermitian matrices, as a named tuple (eigenvalues, eigenvectors)."""
def eigvals(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues, always complex, in no order."""
def eigvalsh(input: Tensor, UPLO: str = 'L', *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of Hermitian matrices, in ascending order."""
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first n columns of the product of the reflections `I - tau[i] * v[i] @ v[i]^H`."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of square matrices. With Y the inverse, its gradient is `-Y^H @ g @ Y^H`."""
def inv_ex(
    A: Tensor, *, check_errors: _bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_inv_ex:
    """The inverse, without an error for singular matrices, as a named tuple (inverse, info)."""
def ldl_factor(
    input: Tensor, *, hermitian: _bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_ldl_factor:
    """`A = L @ D @ L^T` for symmetric matrices, in LAPACK's form, as a named tuple (LD, pivots). No gradient."""
def ldl_factor_ex(
    input: Tensor,
    *,
    hermitian: _bool = False,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_ldl_factor_ex:
    """As `ldl_factor`, without an error for singular matrices, as a named tuple (LD, pivots, info)."""
def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: _bool = False, out: Tensor | None = None
) -> Tensor:
    """`X` with `A @ X = B`, by the factors that `ldl_factor` gives. No gradient. Needs SciPy (the extra `special`)."""
def lstsq(
    input: Tensor,
    b: Tensor,
    rcond: Tensor | _float | None = None,
    *,
    driver: str | None = None,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lstsq:
    """`X` with the least `norm(A @ X - B)`, as a named tuple (solution, residuals, rank, singular_values)."""
def lu(A: Tensor, *, pivot: _bool = True, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu:
    """`A = P @ L @ U`: a permutation, a unit lower and an upper triangular matrix, as a named tuple (P, L, U)."""
def lu_factor(
    A: Tensor, *, pivot: _bool = True, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor:
    """The factors of `A` in one matrix, and the exchanges of rows, as a named tuple (LU, pivots)."""
def lu_factor_ex(
    A: Tensor, *, pivot: _bool = True, check_errors: _bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor_ex:
    """As `lu_factor`, without an error for singular matrices, as a named tuple (LU, pivots, info)."""
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    adjoint: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """`X` with `A @ X = B`, by the factors of `A` that `lu_factor` gives."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of two tensors: also `input @ other`."""
def matrix_exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The exponential of square matrices: `sum(A^k / k!)`."""
def matrix_norm(
    input: Tensor,
    ord: _int | _float | str = 'fro',
    dim: _int | Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A norm of matrices."""
def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """A whole power of square matrices, by repeated squaring; of the inverse if negative."""
def matrix_rank(
    input: Tensor,
    tol: Tensor | _float | None = None,
    hermitian: _bool = False,
    *,
    atol: Tensor | _float | None = None,
    rtol: Tensor | _float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are larger than `max(atol, rtol * the largest)`."""
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices or more, in the order with the fewest multiplications."""
def norm(
    input: Tensor,
    ord: _int | _float | str | None = None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A norm of vectors or matrices: by `ord` and `dim`, that of `vector_norm` or `matrix_norm`."""
def pinv(
    input: Tensor,
    rcond: Tensor | _float | None = None,
    hermitian: _bool = False,
    *,
    atol: Tensor | _float | None = None,
    rtol: Tensor | _float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The Moore-Penrose inverse. Its gradient is right where small changes leave the rank as it is."""
def qr(
    A: Tensor, mode: str = 'reduced', *, out: Sequence[Tensor] | None = None
) -> return_types.linalg_qr:
    """`A = Q @ R` with orthonormal columns in Q and an upper triangular R, as a named tuple (Q, R)."""
def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_slogdet:
    """The sign (a complex number of modulus 1) and the logarithm of the absolute value of the determinant."""
def solve(A: Tensor, B: Tensor, *, left: _bool = True, out: Tensor | None = None) -> Tensor:
    """`X` with `A @ X = B`, or `X @ A = B` for `left=False`."""
def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    check_errors: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_solve_ex:
    """As `solve`, without an error for singular matrices, as a named tuple (result, info)."""
def solve_triangular(
    input: Tensor,
    B: Tensor,
    *,
    upper: _bool | None = None,
    left: _bool = True,
    unitriangular: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """`X` with `input @ X = B` for a triangular `input`; the other triangle is not looked at."""
def svd(
    A: Tensor, full_matrices: _bool = True, *, driver: str | None = None, out: Sequence[Tensor] | None = None
) -> return_types.linalg_svd:
    """`A = U @ diag(S) @ Vh`, singular values in descending order, as a named tuple (U, S, Vh)."""
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values, in descending order."""
def tensorinv(input: Tensor, ind: _int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse with respect to `tensordot` over `ind` dimensions."""
def tensorsolve(
    input: Tensor, other: Tensor, dims: _int | Sequence[_int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`X` with `tensordot(input, X, X.ndim) = other`."""
def vander(x: Tensor, *, N: _int | None = None) -> Tensor:
    """Matrices of powers: each row is `x[i] ** 0, x[i] ** 1, ...`."""
def vecdot(x: Tensor, y: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """The dot products of vectors along a dimension, those of `x` conjugated."""
def vector_norm(
    input: Tensor,
    ord: _int | _float | str = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """`sum(abs(x) ** ord) ** (1 / ord)` over all elements, or those along dimensions."""

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
