"""Low-rank decompositions: a few singular values or eigenvalues and their vectors."""

from __future__ import annotations

from typing import Any

from ...base import late
from ...base.dtypes import FLOATING, get_default_dtype
from ...core.tensor import Tensor
from .factor import linalg_cholesky, linalg_qr
from .spectral import linalg_eigh
from .svd import linalg_svd
from .triangular import linalg_solve_triangular

FUNCTIONS = "svd_lowrank pca_lowrank lobpcg"


def _basis(A: Tensor, q: int, niter: int, M: Any) -> Tensor:
    """Orthonormal columns that span most of the range of `A - M`: randomized subspace iteration (Halko et al. 2009)."""
    apply = (lambda x: A @ x) if M is None else (lambda x: A @ x - M @ x)
    apply_adjoint = (lambda x: A.mH @ x) if M is None else (lambda x: A.mH @ x - M.mH @ x)
    Q: Any = linalg_qr(apply(late.randn(A._shape[-1], q, dtype=A.dtype, device=A.device))).Q
    for _ in range(niter):
        Q = linalg_qr(apply_adjoint(Q)).Q
        Q = linalg_qr(apply(Q)).Q
    return Q


def svd_lowrank(A: Tensor, q: Any = 6, niter: Any = 2, M: Any = None) -> Any:
    """The `q` largest singular values of a matrix that has hardly more, with their vectors: (U, S, V).

    Args:
        A: of shape (..., m, n).
        q: a little more than the rank.
        niter: how many iterations; 2 are enough for most.
        M: subtracted from A first; broadcast.

    Example::

        >>> import gradpack as torch
        >>> torch.svd_lowrank(torch.ones(4, 3), q=2)[1].shape
        gradpack.Size([2])
    """
    q = 6 if q is None else q
    niter = 2 if niter is None else niter
    m, n = A._shape[-2:]
    if M is not None:
        M = late.broadcast_to(M, A._shape)
    if m < n:
        A, M = A.mH, None if M is None else M.mH
    Q = _basis(A, q, niter, M)
    inner = Q.mH @ A
    if M is not None:
        inner = inner - Q.mH @ M
    U, S, Vh = linalg_svd(inner, full_matrices=False)
    V, U = Vh.mH, Q @ U
    return (V, S, U) if m < n else (U, S, V)


def pca_lowrank(A: Tensor, q: Any = None, center: bool = True, niter: int = 2) -> Any:
    """Principal components of rows of data: `svd_lowrank` of the matrix with the means of its columns subtracted.

    Args:
        q: how many: min(6, m, n) by default.
        center: subtract the means.

    Example::

        >>> import gradpack as torch
        >>> torch.pca_lowrank(torch.ones(4, 3), q=2)[2].shape
        gradpack.Size([3, 2])
    """
    m, n = A._shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not (q >= 0 and q <= min(m, n)):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if A._spec.dtype.category < FLOATING:
        A = A.to(get_default_dtype())
    if center:
        A = A - late.mean(A, -2, True)
    return svd_lowrank(A, q, niter)


def lobpcg(
    A: Tensor,
    k: Any = None,
    B: Any = None,
    X: Any = None,
    n: Any = None,
    iK: Any = None,
    niter: Any = None,
    tol: Any = None,
    largest: Any = None,
    method: Any = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> Any:
    """The `k` largest or smallest eigenvalues of a symmetric matrix, with their vectors: (E, X).

    torch finds them by iteration. Here they come from all eigenvalues, exactly: what concerns the iteration
    (`X`, `iK`, `niter`, `tol`, `method`, `tracker`, ...) is ignored, but for the default of `k`.

    Args:
        A: of shape (..., m, m), m >= 3 * k.
        B: symmetric positive definite: eigenvalues of `A @ x = E * B @ x`.
        largest: True by default.

    Raises:
        ValueError: if m is less than 3 * k.

    Example::

        >>> import gradpack as torch
        >>> torch.lobpcg(torch.diag(torch.tensor([1.0, 2.0, 3.0])), k=1)[0]
        tensor([3.])
    """
    k = (1 if X is None else X._shape[-1]) if k is None else k
    wanted = k if n is None else n
    m = A._shape[-1]
    if m < 3 * wanted:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
            f"requested eigenpairs (={wanted})"
        )
    A = (A + A.mT) / 2
    factor = None if B is None else linalg_cholesky(B)
    if factor is not None:
        A = linalg_solve_triangular(factor, A, upper=False)
        A = linalg_solve_triangular(factor.mH, A, upper=True, left=False)
    values, vectors = linalg_eigh(A)
    if largest is None or largest:
        values, vectors = late.flip(values[..., m - k :], (-1,)), late.flip(vectors[..., m - k :], (-1,))
    else:
        values, vectors = values[..., :k], vectors[..., :k]
    if factor is not None:
        vectors = linalg_solve_triangular(factor.mH, vectors, upper=True)
    return values, vectors
