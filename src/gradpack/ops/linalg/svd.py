"""Singular values, with their vectors: determined as those of eigenvalues are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING, get_default_dtype
from ...base.errors import LinAlgError
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array
from ..pointwise.operands import is_complex
from .check import conjugating_op, floats, followed, matrices, matrix_op, result_type, with_out
from .factor import linalg_cholesky, linalg_qr
from .matrix_parts import adjoint_of, as_like, diagonal_of, sum_of
from .spectral import gaps_of, linalg_eigh, no_phase
from .triangular import linalg_solve_triangular

FUNCTIONS = "svd svd_lowrank pca_lowrank lobpcg"
METHODS = "svd"

# -- singular values --


def _svd_gradient(g: Any, U: Any, S: Any, Vh: Any, A_shape: Any) -> Any:
    g_u, g_s, g_vh = g
    m, n = A_shape[-2:]
    k = min(m, n)
    U, Vh = U[..., :k], Vh[..., :k, :]
    if g_u is None and g_vh is None:
        return (U * g_s[..., None, :]) @ Vh if m >= n else U @ (g_s[..., None] * Vh)
    g_u = None if g_u is None else g_u[..., :k]
    g_v = None if g_vh is None else adjoint_of(g_vh[..., :k, :])
    V = adjoint_of(Vh)
    skew_u = None if g_u is None else _skew(adjoint_of(U) @ g_u)
    skew_v = None if g_v is None else _skew(Vh @ g_v)
    phase = None
    if is_complex(U):
        turns = [diagonal_of(s) for s in (skew_u, skew_v) if s is not None]
        no_phase(
            "svd_backward", "singular vectors", "phase term, making it ill-defined.", late.imag(sum_of(*turns)) / 2
        )
        of_u = 0 if skew_u is None else diagonal_of(skew_u)
        of_v = 0 if skew_v is None else diagonal_of(skew_v)
        phase = (of_u - of_v) / (4 * S)
    gaps = gaps_of(S * S)
    inner = sum_of(
        None if skew_u is None else (_off_diagonal(skew_u) / gaps) * S[..., None, :],
        None if skew_v is None else S[..., None] * (_off_diagonal(skew_v) / gaps),
    )
    middle = sum_of(None if g_s is None else as_like(g_s, U), phase)
    if middle is not None:
        inner = inner + late.diag_embed(middle)
    left = U @ inner
    if m > k and g_u is not None:
        rest = g_u - U @ (adjoint_of(U) @ g_u)
        left = left + rest / S[..., None, :]
    whole = left @ Vh
    if n > k and g_v is not None:
        rest = g_v - V @ (Vh @ g_v)
        whole = whole + U @ adjoint_of(rest / S[..., None, :])
    return whole


def _skew(x: Any) -> Any:
    return x - adjoint_of(x)


def _off_diagonal(x: Any) -> Any:
    return x - late.diag_embed(diagonal_of(x))


@conjugating_op(
    A=lambda g, U, S, Vh, A_shape: _svd_gradient(g, U, S, Vh, A_shape),
    results=("U", "S", "Vh"),
    check=floats("linalg.svd", kernel="linalg_svd_cpu"),
    name="linalg_svd",
)
def _svd(A: Array, full_matrices: bool = True) -> Any:
    """Singular values, in descending order, and vectors."""
    return decompose(A, full_matrices)


def _lose(found: Any, lost: Any) -> Any:
    """Overwrite the results for some matrices of a batch with NaN."""
    where_lost = np.reshape(lost, (*lost.shape, *(1,) * (len(found.shape) - len(lost.shape))))
    return np.where(where_lost, np.nan, found).astype(found.dtype)


def _empty_svd(A: Any, full: bool) -> tuple[Any, Any, Any]:
    m, n = A.shape[-2:]
    k, lead = min(m, n), A.shape[:-2]
    S = np.zeros((*lead, k), dtype=np.real(A).dtype)
    U, Vh = np.eye(m, m if full else k, dtype=A.dtype), np.eye(n if full else k, n, dtype=A.dtype)
    return np.array(np.broadcast_to(U, (*lead, *U.shape))), S, np.array(np.broadcast_to(Vh, (*lead, *Vh.shape)))


def decompose(A: Any, full: bool = False) -> tuple[Any, Any, Any]:
    """Singular values and vectors of arrays. NaN is refused; infinities give NaN, as in torch.

    Raises:
        LinAlgError: for NaN, and where the iteration does not converge.
    """
    matrices("linalg.svd", A)
    if not A.size:
        return _empty_svd(A, full)
    lost = ~np.all(np.isfinite(A), axis=(-2, -1))
    reason = "the input matrix is ill-conditioned or has too many repeated singular values."
    try:
        if not np.any(lost):
            U, S, Vh = np.linalg.svd(A, full_matrices=full)
            return U, S, Vh
        bad = np.flatnonzero(np.any(np.isnan(A), axis=(-2, -1)))
        if not bad.size:
            found = np.linalg.svd(np.where(lost[..., None, None], 0, A), full_matrices=full)
            return _lose(found[0], lost), _lose(found[1], lost), _lose(found[2], lost)
        place = f"(Batch element {int(bad[0])}): " if len(A.shape) > 2 else ""
        reason = "the input matrix contained non-finite values."
    except np.linalg.LinAlgError:
        place = ""
    raise LinAlgError(f"linalg.svd: {place}The algorithm failed to converge because {reason}") from None


@matrix_op(promote=("A",), check=floats("linalg.svd", kernel="linalg_svd_cpu"))
def _svdvals(A: Array) -> Any:
    """Singular values, where no gradient is asked for."""
    matrices("linalg.svd", A)
    if not A.size or not np.all(np.isfinite(A)):
        return decompose(A)[1]
    return np.linalg.svd(A, compute_uv=False)


def _check_driver(driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@with_out
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """`A = U @ diag(S) @ Vh`, singular values in descending order, as a named tuple (U, S, Vh).

    Args:
        A: of shape (..., m, n).
        full_matrices: all columns of U and rows of Vh, also those without a singular value; these have no gradient.
        driver: None: there is a choice on CUDA only.

    Raises:
        RuntimeError: in backward, if a loss depends on the phase of complex vectors.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.svd(torch.tensor([[3.0, 0.0], [0.0, 4.0]])).S
        tensor([4., 3.])
    """
    _check_driver(driver)
    return _svd(A, full_matrices)


@with_out
def linalg_svdvals(A: Tensor, *, driver: Any = None) -> Any:
    """Singular values, in descending order.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.svdvals(torch.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor([4., 3.])
    """
    _check_driver(driver)
    return _svd(A, False)[1] if followed(A) else _svdvals(A)


_SVD = result_type("svd", "U S V")


@with_out
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """`input = U @ diag(S) @ V^H`, as a named tuple (U, S, V).

    Args:
        some: only the columns of U and V that have a singular value.
        compute_uv: False gives zeros for U and V.

    Example::

        >>> import gradpack as torch
        >>> torch.svd(torch.ones(3, 2)).V.shape
        gradpack.Size([2, 2])
    """
    if isinstance(input, Tensor):
        matrices("linalg.svd", input)
    if not compute_uv:
        S = linalg_svdvals(input)
        m, n = input._shape[-2:]
        zeros = [wrap(np.zeros((*input._shape[:-2], size, size), input._data.dtype)) for size in (m, n)]
        return _SVD(zeros[0], S, zeros[1])
    U, S, Vh = _svd(input, not some)
    return _SVD(U, S, Vh.mH)


# -- of low rank: a few singular values or eigenvalues and their vectors --


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
        A: the data: shape (..., m, n), a row for each observation.
        q: how many components: min(6, m, n) by default.
        center: subtract the means.
        niter: the number of iterations of the subspace: more of them for singular values that decrease slowly.

    Returns:
        The tuple (U, S, V): the columns of V are the principal directions, `S ** 2 / (m - 1)` the variances along them.

    Raises:
        ValueError: for a `q` greater than min(m, n), or a negative `niter`.

    Example::

        >>> import gradpack as torch
        >>> data = torch.tensor([[-1.0, 2.0], [0.0, 2.0], [1.0, 2.0]])  # varies along the first coordinate
        >>> U, S, V = torch.pca_lowrank(data, q=1)
        >>> torch.allclose(S ** 2 / 2, torch.ones(1)), torch.allclose(V.abs(), torch.tensor([[1.0], [0.0]]))
        (True, True)
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
    if A.is_sparse:
        A = A.to_dense()
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

    torch finds them by iteration. Here they come from all eigenvalues, exactly: what concerns the iteration is ignored.

    Args:
        A: of shape (..., m, m), m >= 3 * k. The mean of it and its transpose is taken.
        k: how many eigenvalues; None for the number of columns of `X`, or 1.
        B: symmetric positive definite: eigenvalues of `A @ x = E * B @ x`. None for the identity.
        X: where the iteration would start: shape (..., m, n). Only n is looked at.
        n: accepted, for the number of vectors that the iteration would keep, if `X` is not given.
        iK: accepted, for the preconditioner.
        niter: accepted, for the greatest number of iterations.
        tol: accepted, for the tolerance.
        largest: whether to take the largest eigenvalues, which is the default, rather than the smallest.
        method: accepted, for "basic" or "ortho".
        tracker: accepted, for a function that would be called at each iteration.
        ortho_iparams, ortho_fparams, ortho_bparams: accepted, for dicts of parameters of the iteration.

    Raises:
        ValueError: if m is less than 3 * k.
        AssertionError: if the matrix is not square.

    Example::

        >>> import gradpack as torch
        >>> E, X = torch.lobpcg(torch.diag(torch.tensor([1.0, 2.0, 3.0])), k=1)
        >>> E, X.abs()
        (tensor([3.]), tensor([[0.],
                [0.],
                [1.]]))
    """
    k = (1 if X is None else X._shape[-1]) if k is None else k
    wanted = X._shape[-1] if X is not None else k if n is None else n
    m = A._shape[-1]
    assert A._shape[-2] == m, f"A must be square, got shape {list(A._shape)}"
    if m < 3 * wanted:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
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
