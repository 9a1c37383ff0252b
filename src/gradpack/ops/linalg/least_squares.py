"""Pseudoinverses and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from .check import conjugating_op, floats, raise_if_bad, square, with_out
from .lapack import solve_triangle
from .matrix_parts import adjoint_of, sum_of
from .norm import tolerances
from .solve import is_vector
from .spectral import converged
from .svd import decompose

FUNCTIONS = METHODS = "pinverse"


# -- pseudoinverses --


def _pinv_gradient(g: Any, P: Any, A: Any) -> Any:
    """By Golub and Pereyra, for matrices of constant rank."""
    P_h, g_h = adjoint_of(P), adjoint_of(g)
    left, right = g_h @ P, P @ g_h
    first = P_h @ right  # P^H P g^H
    second = left @ P_h  # g^H P P^H
    return (first - (first @ P) @ A) + (second - A @ (P @ second)) - adjoint_of(right @ P)


@conjugating_op(
    input=lambda g, input, out: _pinv_gradient(g, out, input),
    check=lambda op, values, common: _check_pinv(values[0]),
    name="linalg_pinv",
)
def _pinv(input: Array, atol: Array = None, rtol: Array = None, hermitian: bool = False) -> Any:
    """Pseudoinverses."""
    if not input.size:
        return np.zeros((*input.shape[:-2], input.shape[-1], input.shape[-2]), dtype=input.dtype)
    if hermitian:
        square("linalg.eigh", input)
        values, V = converged(np.linalg.eigh, input)
        keep = np.abs(values) > tolerances(np.abs(values), input.shape, atol, rtol)
        inverse = np.where(keep, 1 / np.where(keep, values, 1), 0)
        return np.matmul(V * inverse[..., None, :], np.conj(V.mT))
    U, S, Vh = decompose(input)
    keep = tolerances(S, input.shape, atol, rtol) < S
    inverse = np.where(keep, 1 / np.where(keep, S, 1), 0).astype(S.dtype)
    return np.matmul(np.conj(Vh.mT) * inverse[..., None, :], np.conj(U.mT))


def _check_pinv(input: Any) -> None:
    dtype = input._spec.dtype
    if dtype.category < FLOATING or dtype.low or input.ndim < 2:
        raise RuntimeError(
            f"linalg.pinv({scalar_type(dtype)}{{{list(input._shape)}}}): expected a tensor with 2 or more dimensions "
            "of float, double, cfloat or cdouble types"
        )


@with_out
def linalg_pinv(
    input: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """The Moore-Penrose inverse. Its gradient is right where small changes leave the rank as it is.

    Args:
        input: of shape (..., m, n).
        rcond: another name of `rtol`.
        hermitian: take A as Hermitian, which is faster.
        atol, rtol: singular values up to `max(atol, rtol * the largest)` count as zero; numbers, or tensors with one
            for each matrix. `rtol` is max(m, n) times the precision of the dtype by default, 0 where `atol` is given.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.pinv(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
    """
    if rcond is not None:
        if rtol is not None:
            raise TypeError("linalg_pinv() received rcond and rtol, which are the same")
        rtol = rcond
    _check_pinv(input)
    atol, rtol = (t.detach() if isinstance(t, Tensor) else t for t in (atol, rtol))
    return _pinv(input, atol, rtol, hermitian)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
    """The Moore-Penrose inverse: `linalg.pinv` with a relative tolerance.

    Args:
        rcond: singular values below this fraction of the largest count as zero.

    Example::

        >>> import gradpack as torch
        >>> torch.pinverse(torch.tensor([[2.0]]))
        tensor([[0.5000]])
        >>> torch.pinverse(torch.diag(torch.tensor([4.0, 0.001])), rcond=0.01)
        tensor([[0.2500, 0.0000],
                [0.0000, 0.0000]])
    """
    return linalg_pinv(input, rcond)


# -- least squares --


def _columns(x: Any, vector: bool) -> Any:
    return late.unsqueeze(x, -1) if vector else x


def _residual_gradient(g: Any, A: Any, B: Any, X: Any, vector: bool) -> Any:
    """Twice the residuals, times the gradient of their squared length; None where that has none."""
    if g is None or tuple(g.shape) == (0,):
        return None
    rest = A @ X - B
    return rest * (g[..., None] if vector else g[..., None, :]) * 2


def _left_gradient(g: Any, A: Any, B: Any, solution: Any) -> Any:
    vector = is_vector(A.shape, B.shape)
    B, X = _columns(B, vector), _columns(solution, vector)
    through = None if g[0] is None else _pinv_gradient(_columns(g[0], vector) @ adjoint_of(B), _pinv(A), A)
    rest = _residual_gradient(g[1], A, B, X, vector)
    total = sum_of(through, None if rest is None else rest @ adjoint_of(X))
    return A * 0 if total is None else total


def _right_gradient(g: Any, A: Any, B: Any, solution: Any) -> Any:
    vector = is_vector(A.shape, B.shape)
    B, X = _columns(B, vector), _columns(solution, vector)
    through = None if g[0] is None else adjoint_of(_pinv(A)) @ _columns(g[0], vector)
    rest = _residual_gradient(g[1], A, B, X, vector)
    total = sum_of(through, None if rest is None else -rest)
    total = B * 0 if total is None else total
    return late.squeeze(total, -1) if vector else total


@conjugating_op(
    input=lambda g, input, b, solution: _left_gradient(g, input, b, solution),
    b=lambda g, input, b, solution: _right_gradient(g, input, b, solution),
    results=("solution", "residuals", "rank", "singular_values"),
    differentiable=2,
    broadcasts=True,
    check=floats("torch.linalg.lstsq"),
    name="linalg_lstsq",
)
def _lstsq(input: Array, b: Array, rcond: float = -1.0, driver: str = "gelsy") -> Any:
    """Solutions of least squares, and what comes with them."""
    A, (m, n) = input, input.shape[-2:]
    vector = is_vector(A.shape, b.shape)
    B = np.expand_dims(b, -1) if vector else b
    if B.shape[-2] != m:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    lead = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    # LAPACK's gels has no limit of its own, and gelsd takes none from 1 on.
    given = rcond >= 0 and driver != "gels" and not (driver == "gelsd" and rcond >= 1)
    cut = rcond if given else float(np.finfo(np.real(A).dtype).eps) * max(m, n)
    easy = _by_qr(A, B, cut) if A.size and driver in ("gels", "gelsy") else None
    if easy is not None:
        X, S = easy, np.ones((*A.shape[:-2], min(m, n)), dtype=np.real(A).dtype)
        keep = S > 0
    elif A.size:
        U, S, Vh = decompose(A)
        least = cut * S[..., :1]
        keep = (least <= S) & (S > 0) if driver == "gelsy" else least < S
        if driver == "gels":
            rank, full = np.count_nonzero(keep, axis=-1), min(m, n)
            raise_if_bad(np.where(rank < full, rank + 1, 0), _NOT_FULL)
        inverse = np.where(keep, 1 / np.where(keep, S, 1), 0).astype(S.dtype)
        X = np.matmul(np.conj(Vh.mT), inverse[..., None] * np.matmul(np.conj(U.mT), B))
    else:
        S = np.zeros((*A.shape[:-2], 0), dtype=np.real(A).dtype)
        keep = S > 0
        X = np.zeros((*lead, n, B.shape[-1]), dtype=A.dtype)
    rank = np.asarray(np.broadcast_to(np.count_nonzero(keep, axis=-1), lead), dtype=np.int64)
    residuals = np.zeros((0,), dtype=S.dtype)
    if m > n and driver != "gelsy" and (driver == "gels" or bool(np.all(rank == n))):
        rest = np.matmul(A, X) - B
        residuals = np.sum(np.real(rest * np.conj(rest)), axis=-2)
        if vector:
            residuals = residuals[..., 0]
    with_values = driver in ("gelsd", "gelss")
    if driver == "gels":
        rank = np.zeros((0,), dtype=np.int64)
    values = np.array(np.broadcast_to(S, (*lead, S.shape[-1]))) if with_values else np.zeros((0,), dtype=S.dtype)
    return (X[..., 0] if vector else X), residuals, rank, values


def _by_qr(A: Any, B: Any, cut: float) -> Any:
    """The solution by QR, which is faster; None unless the rank is full beyond doubt."""
    wide = A.shape[-2] < A.shape[-1]
    Q, R = np.linalg.qr(np.conj(A.mT) if wide else A)
    size = np.abs(np.linalg.diagonal(R))
    least, largest = np.min(size, axis=-1), np.max(size, axis=-1)
    if not np.all(least > max(cut, 0.0) ** 0.5 * largest):
        return None
    if wide:
        return np.matmul(Q, solve_triangle(np.conj(R.mT), B, False))
    return solve_triangle(R, np.matmul(np.conj(Q.mT), B), True)


_NOT_FULL = (
    "torch.linalg.lstsq: {place}The least squares solution could not be computed because the input matrix does not "
    "have full rank (error code: {info})."
)
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@with_out
def linalg_lstsq(input: Tensor, b: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:
    """`X` with the least `norm(A @ X - B)`, as a named tuple (solution, residuals, rank, singular_values).

    Of several, the shortest. Its gradient is right where small changes leave the rank as it is.

    Args:
        input: of shape (..., m, n).
        b: of shape (..., m, k), or vectors of shape (m,) or (..., m).
        rcond: singular values below `rcond` times the largest count as zero: max(m, n) times the precision of the
            dtype by default.
        driver: "gelsy", the default; "gels" for full rank; "gelsd" and "gelss", which give singular values.

    Raises:
        linalg.LinAlgError: for "gels" without full rank.
        RuntimeError: for shapes that do not fit, two dtypes, another driver.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.lstsq(torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]])).rank
        tensor(1)
    """
    name = "torch.linalg.lstsq"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if input.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{scalar_type(input._spec.dtype)} and other's dtype {scalar_type(b._spec.dtype)}"
        )
    chosen = "gelsy" if driver is None else driver
    if chosen not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    rows = -1 if is_vector(input._shape, b._shape) else -2
    if b._shape[rows] != input._shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({rows})")
    return _lstsq(input, b, -1.0 if rcond is None else float(rcond), chosen)
