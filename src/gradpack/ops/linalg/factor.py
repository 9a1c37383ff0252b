"""Cholesky and QR factors of matrices.

Gradients are those of the matrix that the factors stand for: R and L are taken with a real diagonal, Q with
orthonormal columns, so that each small change of the matrix changes them in one way.
"""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ..reduce.kernels import _add, _array_type
from .check import checked, conjugating_op, floats, matrices, result_type, square, with_out
from .lapack import stacked
from .matrix_parts import adjoint_of, as_like, cat_of, diagonal_of, padded, sum_of

FUNCTIONS = METHODS = "cholesky qr"


# -- Cholesky --


def _cholesky_gradient(g: Any, L: Any, upper: bool) -> Any:
    """`L^-H @ sym(L^H @ g) @ L^-1`, where `sym` keeps half of the lower triangle and mirrors it."""
    if upper:
        g, L = adjoint_of(g), adjoint_of(L)
    inner = adjoint_of(L) @ g
    lower = late.tril(inner, -1)
    inner = (lower + adjoint_of(lower) + late.diag_embed(diagonal_of(inner))) / 2
    turned = adjoint_of(L)
    inner = late._solve_triangular(turned, inner, True)
    return late._solve_triangular(L, inner, False, False)


def _cholesky_tangent(tangent: Any, L: Any, upper: bool) -> Any:
    """`L @ half(L^-1 @ tangent @ L^-H)`, where `half` keeps the lower triangle and half of the diagonal."""
    if upper:
        L = adjoint_of(L)
    inner = late._solve_triangular(adjoint_of(L), late._solve_triangular(L, tangent, False), True, False)
    made = L @ (late.tril(inner) - late.diag_embed(diagonal_of(inner)) / 2)
    return adjoint_of(made) if upper else made


_factoring = partial(
    conjugating_op,
    input=lambda g, L, upper: _cholesky_gradient(g, L, upper),
    jvp=lambda input_t, L, upper: _cholesky_tangent(input_t, L, upper),
    results=("L", "info"),
    differentiable=1,
    check=floats("linalg.cholesky", kernel="cholesky_cpu"),
)


@_factoring(name="linalg_cholesky_ex")
def _cholesky_ex(input: Array, upper: bool = False) -> Any:
    """Cholesky factors, and 0 for each or the order of the first minor that is not positive."""
    return _factored("linalg.cholesky", input, upper)


@_factoring(name="cholesky", node="CholeskyBackward0")
def _cholesky(input: Array, upper: bool = False) -> Any:
    """Cholesky factors, as `torch.cholesky` gives them."""
    return _factored("cholesky", input, upper)


def _factored(name: str, input: Any, upper: bool) -> tuple[Any, Any]:
    square(name, input)
    lower = np.conj(input.mT) if upper else input
    info = np.zeros(input.shape[:-2], dtype=np.int32)
    try:
        factor = np.linalg.cholesky(lower)
        if not _is_finite(factor):
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        factor, info = _factored_one_by_one(lower)
    return (np.conj(factor.mT) if upper else factor), info


def _is_finite(factor: Any) -> bool:
    """Return whether the diagonals are finite."""
    if type(factor) is _array_type:
        return isfinite(_add(factor.diagonal(0, -2, -1), None).real)
    return bool(np.all(np.isfinite(np.linalg.diagonal(factor))))


def _factored_one_by_one(lower: Any) -> tuple[Any, Any]:
    """Factor matrices one by one where some are not positive definite: those get partial factors."""
    flat = stacked(lower)
    out, info = np.tril(flat), np.zeros(flat.shape[0], dtype=np.int32)
    for nr in range(flat.shape[0]):
        a = out[nr]
        for j in range(a.shape[0]):
            square_of = (a[j, j] - np.vecdot(a[j, :j], a[j, :j])).real
            if not square_of > 0:
                info[nr] = j + 1
                a[j, j] = square_of
                break
            a[j, j] = np.sqrt(square_of)
            a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ np.conj(a[j, :j])) / a[j, j]
    return np.reshape(out, lower.shape), np.reshape(info, lower.shape[:-2])


_NOT_POSITIVE = (
    ": {place}The factorization could not be completed because the input is not positive-definite (the leading minor "
    "of order {info} is not positive-definite)."
)


@with_out
def linalg_cholesky(input: Tensor, *, upper: bool = False) -> Any:
    """The lower triangular `L` with `A = L @ L^H`, for Hermitian positive definite matrices.

    Args:
        input: of shape (..., n, n). Only its lower triangle is looked at (the upper one for `upper=True`).
        upper: give `L^H` instead.

    Raises:
        linalg.LinAlgError: for a matrix that is not positive definite.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """
    return checked(_cholesky_ex(input, upper), True, "linalg.cholesky" + _NOT_POSITIVE).L


@with_out
def linalg_cholesky_ex(input: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """As `cholesky`, without an error for other matrices, as a named tuple (L, info).

    Args:
        input: of shape (..., n, n).
        upper: give the upper factor instead.
        check_errors: raise for matrices that are not positive definite all the same.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.cholesky_ex(-torch.eye(2)).info
        tensor(1, dtype=gradpack.int32)
    """
    return checked(_cholesky_ex(input, upper), check_errors, "torch.linalg.cholesky_ex" + _NOT_POSITIVE)


@with_out
def cholesky(input: Tensor, upper: bool = False) -> Any:
    """The Cholesky factor of positive definite matrices: `linalg.cholesky`.

    Args:
        upper: return the upper factor, with `A = U^H @ U`, instead of the lower one, with `A = L @ L^H`.

    Example::

        >>> import gradpack as torch
        >>> torch.cholesky(torch.tensor([[4.0]]))
        tensor([[2.]])
    """
    return checked(_cholesky(input, upper), True, "cholesky" + _NOT_POSITIVE).L


# -- QR --


def _qr_gradient(g: Any, Q: Any, R: Any, A_shape: Any, mode: str) -> Any:
    m, n = A_shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    g_q, g_r = g
    if m >= n:
        return _qr_tall(g_q, g_r, Q, R)
    # A = [X, Y] and Q^H @ Y is the right part of R
    wide = None if g_r is None else g_r[..., m:]
    if wide is not None:
        g_q = sum_of(g_q, Q @ (R[..., m:] @ adjoint_of(wide)))
    left = _qr_tall(g_q, None if g_r is None else g_r[..., :m], Q, R[..., :m])
    return padded(left, columns=n - m) if wide is None else cat_of([left, Q @ wide])


def _qr_tall(g_q: Any, g_r: Any, Q: Any, R: Any) -> Any:
    inner = sum_of(None if g_r is None else g_r @ adjoint_of(R), None if g_q is None else -(adjoint_of(Q) @ g_q))
    upper = adjoint_of(late.triu(inner))
    lower = late.tril(upper, -1)
    both = lower + adjoint_of(lower) + late.diag_embed(as_like(late.real(diagonal_of(upper)), Q))
    whole = sum_of(Q @ both, g_q)
    return late._solve_triangular(adjoint_of(R), whole, False, False)


@conjugating_op(
    A=lambda g, Q, R, A_shape, mode: _qr_gradient(g, Q, R, A_shape, mode),
    results=("Q", "R"),
    check=floats("linalg.qr", kernel="geqrf_cpu"),
    name="linalg_qr",
)
def _qr(A: Array, mode: Any = "reduced") -> Any:
    """Q and R."""
    matrices("linalg.qr", A)
    if mode == "r":
        return np.zeros((0,), dtype=A.dtype), np.linalg.qr(A, mode="r")
    found = np.linalg.qr(A, mode=mode)
    return found[0], found[1]


@with_out
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """`A = Q @ R` with orthonormal columns in Q and an upper triangular R, as a named tuple (Q, R).

    Differentiable if the first min(m, n) columns of A are independent.

    Args:
        A: of shape (..., m, n).
        mode: "reduced"; "complete" for all m columns of Q (not differentiable for m > n); "r" for R only.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.qr(torch.ones(3, 2)).R.shape
        gradpack.Size([2, 2])
    """
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return _qr(A, mode)


_QR = result_type("qr", "Q R")


@with_out
def qr(input: Tensor, some: bool = True) -> Any:
    """The QR factorization, as a named tuple (Q, R): `linalg.qr` by its old name.

    Args:
        input: shape (..., m, n).
        some: return min(m, n) columns of Q, and as many rows of R; False for all.

    Example::

        >>> import gradpack as torch
        >>> torch.qr(torch.ones(3, 2), some=False).Q.shape
        gradpack.Size([3, 3])
    """
    return _QR(*_qr(input, "reduced" if some else "complete"))
