"""LU factors of matrices, and systems that are solved by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import looking_at
from ...declare.dispatch.out_argument import put
from . import lapack
from .check import checked, conjugating_op, floats, matrices, matrix_op, result_type, same_sizes, square, with_out
from .matrix_parts import adjoint_of, array_of, cat_of, identity, padded, sum_of

FUNCTIONS = "lu lu_unpack lu_solve"
METHODS = "lu lu_solve"


# -- LU --


def _lu_gradient(g_l: Any, g_u: Any, L: Any, U: Any, P: Any) -> Any:
    """The gradient of `A` with `A = P @ L @ U`, P a constant."""
    m, n, k = L.shape[-2], U.shape[-1], L.shape[-1]
    first_l, first_u = L[..., :k, :], U[..., :k]
    inner_l = None if g_l is None else first_l.mT @ g_l[..., :k, :]
    inner_u = None if g_u is None else g_u[..., :k] @ first_u.mT
    if n > k and g_u is not None:
        inner_l = sum_of(inner_l, -(g_u[..., k:] @ U[..., k:].mT))
    if m > k and g_l is not None:
        inner_u = sum_of(inner_u, -(L[..., k:, :].mT @ g_l[..., k:, :]))
    inner = sum_of(None if inner_l is None else late.tril(inner_l, -1), None if inner_u is None else late.triu(inner_u))
    turned = late._solve_triangular(first_l.mT, inner, True, True, True)
    whole = late._solve_triangular(first_u.mT, turned, False, False)
    if n > k:
        right = g_u[..., k:] if g_u is not None else U[..., k:] * 0
        whole = cat_of([whole, late._solve_triangular(first_l.mT, right, True, True, True)])
    elif m > k:
        below = g_l[..., k:, :] if g_l is not None else L[..., k:, :] * 0
        whole = late._cat([whole, late._solve_triangular(first_u.mT, below, False, False)], -2)
    return P @ whole


def _lu_parts(LU: Any) -> tuple[Any, Any]:
    """The two factors from one matrix."""
    m, n = LU.shape[-2:]
    k = min(m, n)
    L = late.tril(LU[..., :k], -1)
    return L + identity(m, LU, k), late.triu(LU[..., :k, :])


def _from_packed(g: Any, LU: Any, pivots: Any) -> Any:
    L, U = _lu_parts(LU)
    m, n = LU.shape[-2:]
    k = min(m, n)
    P = permuting(pivots, m, LU)
    return _lu_gradient(late.tril(g[..., :k], -1), late.triu(g[..., :k, :]), L, U, P)


def permuting(pivots: Any, m: int, like: Any) -> Any:
    """The permutation matrix of pivots, as an array or tensor like another."""
    if isinstance(like, Tensor):
        return wrap(lapack.permutation_matrix(array_of(pivots), m, like._data.dtype))
    return lapack.permutation_matrix(pivots, m, like.dtype)


_check_lu = floats("lu", "lu_cpu", "lu_cpu")


@matrix_op(
    A=lambda g, LU, pivots: _from_packed(g, LU, pivots),
    results=("LU", "pivots", "info"),
    differentiable=1,
    check=_check_lu,
    name="linalg_lu_factor_ex",
)
def _lu_factor(A: Array) -> Any:
    """Both factors in one matrix, the exchanges of rows, and where U has its first zero."""
    _check_matrix("torch.lu_factor", A)
    return lapack.lu_factor(A)


@matrix_op(
    A=lambda g, L, U, P: _lu_gradient(g[0], g[1], L, U, P),
    results=("L", "U", "P"),
    differentiable=2,
    check=_check_lu,
    name="linalg_lu",
)
def _lu(A: Array) -> Any:
    """The factors, each a matrix."""
    _check_matrix("linalg.lu", A)
    packed, pivots, _ = lapack.lu_factor(A)
    L, U = _lu_parts(packed)
    return L, U, lapack.permutation_matrix(pivots, A.shape[-2], A.dtype)


def _check_matrix(name: str, A: Any) -> None:
    if len(A.shape) < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")


def _check_pivot(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


_LUFactor = result_type("linalg_lu_factor", "LU pivots")
_LU = result_type("linalg_lu", "P L U")
_Unpacked = result_type("lu_unpack", "P L U")


@with_out
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """`A = P @ L @ U`: a permutation, a unit lower and an upper triangular matrix, as a named tuple (P, L, U).

    Args:
        A: of shape (..., m, n).
        pivot: True: there is no other way on the CPU.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.lu(torch.tensor([[0.0, 1.0], [2.0, 3.0]])).U
        tensor([[2., 3.],
                [0., 1.]])
    """
    _check_pivot(pivot)
    L, U, P = _lu(A)
    return _LU(P, L, U)


@with_out
def linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """The factors of `A` in one matrix, and the exchanges of rows, as a named tuple (LU, pivots).

    Args:
        A: of shape (..., m, n).
        pivot: True: there is no other way on the CPU.

    Raises:
        RuntimeError: for a singular matrix.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.lu_factor(torch.tensor([[0.0, 1.0], [2.0, 3.0]])).pivots
        tensor([2, 2], dtype=gradpack.int32)
    """
    _check_pivot(pivot)
    return _LUFactor(*checked(_lu_factor(A), True, "torch.linalg.lu_factor" + _ZERO_PIVOT, RuntimeError)[:2])


_ZERO_PIVOT = (
    ": {place}U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you still want "
    "to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


@with_out
def linalg_lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """As `lu_factor`, without an error for singular matrices, as a named tuple (LU, pivots, info).

    Args:
        A: of shape (..., m, n).
        pivot: True: there is no other way on the CPU.
        check_errors: raise for singular matrices all the same.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info
        tensor(1, dtype=gradpack.int32)
    """
    _check_pivot(pivot)
    return checked(_lu_factor(A), check_errors, "torch.linalg.lu_factor_ex" + _ZERO_PIVOT, RuntimeError)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """The factors of `A` in one matrix and the exchanges of rows: `linalg.lu_factor` by its old name.

    Args:
        A: shape (..., m, n).
        pivot: True: exchange rows, which keeps the factors from growing. False is for other devices than the CPU.
        get_infos: return also, for each matrix, the number of the first zero on the diagonal of U, or 0.

    Raises:
        RuntimeError: without `pivot`.

    Example::

        >>> import gradpack as torch
        >>> LU, pivots = torch.lu(torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
        >>> LU, pivots
        (tensor([[2., 3.],
                [0., 1.]]), tensor([2, 2], dtype=gradpack.int32))
    """
    _check_pivot(pivot)
    packed, pivots, info = _lu_factor(A)
    found: Any = _LUInfo(packed, pivots, info) if get_infos else (packed, pivots)
    if out is not None:
        if not isinstance(out, tuple | list) or len(out) != len(found):
            raise TypeError(f"expected tuple of {len(found)} elements but got {out!r}")
        for target, value in zip(out, found, strict=True):
            put("lu", target, value)
        return out
    return found


_LUInfo = result_type("_lu_with_info", "LU pivots info")


def _method_lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The factors in one matrix and the exchanges of rows: see `gradpack.lu`.

    Args:
        pivot: True: exchange rows, which keeps the factors from growing. False is for other devices than the CPU.
        get_infos: return also, for each matrix, whether U has a zero on the diagonal.

    Raises:
        RuntimeError: without `pivot`.

    Example::

        >>> import gradpack as torch
        >>> LU, pivots = torch.tensor([[0.0, 1.0], [2.0, 3.0]]).lu()
        >>> LU, pivots
        (tensor([[2., 3.],
                [0., 1.]]), tensor([2, 2], dtype=gradpack.int32))
    """
    return tuple(lu(self, pivot, get_infos))


def _check_pivots(name: str, pivots: Any) -> None:
    if str(getattr(pivots, "dtype", "")) not in ("torch.int32", "gradpack.int32", "int32"):
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
            if name == "lu_unpack"
            else "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32"
        )


@matrix_op(
    LU_data=lambda g, LU_data_shape: _packed_gradient(g, LU_data_shape),
    results=("L", "U"),
    check=_check_lu,
    name="lu_unpack",
)
def _unpack(LU_data: Array) -> Any:
    """The two factors from one matrix."""
    return _lu_parts(LU_data)


def _packed_gradient(g: Any, shape: Any) -> Any:
    m, n = shape[-2:]
    k = min(m, n)
    g_l, g_u = g
    of_l = None if g_l is None else padded(late.tril(g_l, -1), columns=n - k)
    return sum_of(of_l, None if g_u is None else padded(late.triu(g_u), rows=m - k))


@looking_at("LU_pivots")
@with_out
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The factors that `linalg.lu_factor` gives in one matrix, as a named tuple (P, L, U).

    Args:
        LU_data: the factors in one matrix: shape (..., m, n).
        LU_pivots: the exchanges of rows: shape (..., min(m, n)), of dtype int32.
        unpack_data: False leaves L and U empty.
        unpack_pivots: False leaves P empty.

    Raises:
        RuntimeError: for pivots of another dtype, or out of range.

    Example::

        >>> import gradpack as torch
        >>> P, L, U = torch.lu_unpack(*torch.linalg.lu_factor(torch.tensor([[0.0, 1.0], [2.0, 3.0]])))
        >>> P @ L @ U
        tensor([[0., 1.],
                [2., 3.]])
    """
    _check_matrix("torch.lu_unpack", LU_data)
    m = LU_data._shape[-2]
    nothing = wrap(np.zeros((0,), dtype=LU_data._data.dtype))
    P = nothing
    if unpack_pivots:
        _check_pivots("lu_unpack", LU_pivots)
        pivots = LU_pivots._data
        if pivots.size and (pivots.min() < 1 or pivots.max() > m):
            raise RuntimeError(
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                "Did you properly pass the result of lu_factor?"
            )
        P = permuting(LU_pivots, m, LU_data)
    if not unpack_data:
        return _Unpacked(P, nothing, wrap(np.zeros((0,), dtype=LU_data._data.dtype)))
    L, U = _unpack(LU_data)
    return _Unpacked(P, L, U)


@with_out
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Any:
    """`X` with `A @ X = B`, by the factors of `A` that `lu_factor` gives.

    Args:
        LU: the factors: shape (..., n, n).
        pivots: the exchanges of rows: shape (..., n), of dtype int32.
        B: the right sides: shape (..., n, k); (..., k, n) for `left=False`.
        left: False for `X @ A = B`.
        adjoint: solve with the conjugate transpose of `A`.

    Raises:
        RuntimeError: if the shapes do not fit, for different dtypes, or pivots of another dtype.

    Example::

        >>> import gradpack as torch
        >>> LU, pivots = torch.linalg.lu_factor(torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
        >>> torch.linalg.lu_solve(LU, pivots, torch.tensor([[1.0], [3.0]]))
        tensor([[0.],
                [1.]])
    """
    square("torch.linalg.lu_solve", LU, "LU")
    _check_pivots("lu_solve", pivots)
    if B.dtype != LU.dtype:
        raise RuntimeError(
            "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
            f"{LU.dtype} and B of type {B.dtype} instead"
        )
    matrices("linalg.lu_solve", B, "B")
    same_sizes("torch.linalg.lu_solve", LU._shape, B._shape, left)
    if LU._shape[:-1] != pivots._shape:
        raise RuntimeError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix: got "
            f"{list(pivots._shape)} for {list(LU._shape)}"
        )
    return _lu_solve(LU, pivots, B, left, adjoint)


def _lu_system(LU: Any, pivots: Any, B: Any, left: bool, adjoint: bool) -> Any:
    """The solution by triangular systems, which is differentiated."""
    P = permuting(pivots, LU.shape[-1], LU)
    if not left:  # X A = B is A^H X^H = B^H
        return adjoint_of(_lu_system(LU, pivots, adjoint_of(B), True, not adjoint))
    if not adjoint:
        half = late._solve_triangular(LU, P.mT @ B, False, True, True)
        return late._solve_triangular(LU, half, True)
    turned = adjoint_of(LU)
    half = late._solve_triangular(turned, B, False)
    return P @ late._solve_triangular(turned, half, True, True, True)


def _lu_solve_gradient(g: Any, LU: Any, pivots: Any, out: Any, left: bool, adjoint: bool) -> Any:
    """The gradient of the packed factors: that of A, which is their product, taken apart."""
    g_b = _lu_system(LU, pivots, g, left, not adjoint)
    whole = -(g_b @ adjoint_of(out)) if left else -(adjoint_of(out) @ g_b)
    if adjoint:
        whole = adjoint_of(whole)
    L, U = _lu_parts(LU)
    whole = permuting(pivots, LU.shape[-1], LU).mT @ whole
    return late.tril(whole @ adjoint_of(U), -1) + late.triu(adjoint_of(L) @ whole)


@conjugating_op(
    LU=lambda g, LU, pivots, out, left, adjoint: _lu_solve_gradient(g, LU, pivots, out, left, adjoint),
    B=lambda g, LU, pivots, left, adjoint: _lu_system(LU, pivots, g, left, not adjoint),
    broadcasts=True,
    check=floats("linalg.lu_solve", "lu_solve_cpu", "lu_solve_cpu"),
    name="linalg_lu_solve",
)
def _lu_solve(LU: Array, pivots: Array, B: Array, left: bool = True, adjoint: bool = False) -> Any:
    """The solution of systems by LU factors."""
    return _lu_system(LU, pivots, B, left, adjoint)


@with_out
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """`X` with `A @ X = input`, by the factors of `A`: `linalg.lu_solve(LU_data, LU_pivots, input)`.

    Args:
        input: the right sides: shape (..., n, k).
        LU_data: the factors, as `linalg.lu_factor` gives them: shape (..., n, n).
        LU_pivots: the exchanges of rows: shape (..., n), of dtype int32.

    Example::

        >>> import gradpack as torch
        >>> torch.lu_solve(torch.ones(2, 1), *torch.linalg.lu_factor(2 * torch.eye(2)))
        tensor([[0.5000],
                [0.5000]])
    """
    return linalg_lu_solve(LU_data, LU_pivots, input)
