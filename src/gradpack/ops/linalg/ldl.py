"""LDL factors of symmetric matrices that need not be positive definite. LAPACK's, through SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.errors import missing_extra
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ..pointwise.operands import no_gradient
from .check import checked, floats, matrices, matrix_op, result_type, square, with_out
from .lapack import stacked


def _lapack(name: str, hermitian: bool, array: Any) -> Any:
    """A routine of LAPACK for symmetric or Hermitian matrices of this dtype."""
    try:
        from scipy.linalg import get_lapack_funcs
    except ImportError:
        raise missing_extra(f"linalg.ldl: {name}", "SciPy", "special") from None
    kind = "he" if hermitian and array.dtype.kind == "c" else "sy"
    return get_lapack_funcs((kind + name,), (array,))[0]


@matrix_op(
    input=lambda g: no_gradient("linalg_ldl_factor_ex"),
    jvp=lambda input_t: no_gradient("linalg_ldl_factor_ex"),
    results=("LD", "pivots", "info"),
    differentiable=1,
    check=floats("torch.linalg.ldl_factor_ex", kernel="ldl_factor_kernel_cpu"),
    node="NotImplemented",
    name="linalg_ldl_factor_ex",
)
def _ldl_factor(input: Array, hermitian: bool = False) -> Any:
    """L and the blocks of D in one matrix, the exchanges of rows, and where D has its first zero block."""
    square("torch.linalg.ldl_factor_ex", input)
    n = input.shape[-1]
    flat = stacked(input)
    found, pivots = np.zeros(flat.shape, dtype=input.dtype), np.zeros(flat.shape[:2], dtype=np.int32)
    info = np.zeros(flat.shape[0], dtype=np.int32)
    if input.size:
        factor = _lapack("trf", hermitian, flat)
        for nr in range(flat.shape[0]):
            found[nr], pivots[nr], info[nr] = factor(flat[nr], lower=1)
    lead = input.shape[:-2]
    return np.tril(found).reshape(input.shape), pivots.reshape(*lead, n), info.reshape(lead)


_LDLFactor = result_type("linalg_ldl_factor", "LD pivots")


@with_out
def ldl_factor_ex(input: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """As `ldl_factor`, without an error for singular matrices, as a named tuple (LD, pivots, info).

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.ldl_factor_ex(torch.eye(2)).info
        tensor(0, dtype=gradpack.int32)
    """
    result = _ldl_factor(input, hermitian)
    return checked(result, check_errors, "torch.linalg.ldl_factor_ex" + _ZERO_BLOCK, RuntimeError)


_ZERO_BLOCK = (
    ": {place}D[{info},{info}] is zero: the matrix is singular, and ldl_solve would divide by zero. "
    "linalg.ldl_factor_ex(A) gives the factors all the same"
)


@with_out
def ldl_factor(input: Tensor, *, hermitian: bool = False) -> Any:
    """`A = L @ D @ L^T` for symmetric matrices, in LAPACK's form, as a named tuple (LD, pivots). No gradient.

    Needs SciPy (the extra `special`).

    Args:
        input: of shape (..., n, n); its lower triangle is looked at.
        hermitian: take complex matrices as Hermitian: `L @ D @ L^H`.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.ldl_factor(torch.tensor([[4.0, 2.0], [2.0, 5.0]])).LD
        tensor([[4.0000, 0.0000],
                [0.5000, 4.0000]])
    """
    found = checked(_ldl_factor(input, hermitian), True, "torch.linalg.ldl_factor" + _ZERO_BLOCK, RuntimeError)
    return _LDLFactor(*found[:2])


@matrix_op(
    LD=lambda g: no_gradient("linalg_ldl_solve"),
    B=lambda g: no_gradient("linalg_ldl_solve"),
    jvp=lambda LD_t: no_gradient("linalg_ldl_solve"),
    check=floats("torch.linalg.ldl_solve", "ldl_solve_kernel_cpu"),
    node="NotImplemented",
    name="linalg_ldl_solve",
)
def _ldl_solve(LD: Array, pivots: Array, B: Array, hermitian: bool = False) -> Any:
    """Solutions of systems by LDL factors."""
    lead = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    n, k = B.shape[-2:]
    made = np.zeros((*lead, n, k), dtype=B.dtype)
    if not made.size:
        return made
    factors = stacked(np.broadcast_to(LD, (*lead, n, n)))
    rows = np.broadcast_to(pivots, (*lead, n)).reshape(-1, n)
    right, out = stacked(np.broadcast_to(B, made.shape)), stacked(made)
    solve = _lapack("trs", hermitian, LD)
    for nr in range(out.shape[0]):
        out[nr] = solve(factors[nr], rows[nr], right[nr], lower=1)[0]
    return made


@with_out
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Any:
    """`X` with `A @ X = B`, by the factors that `ldl_factor` gives. No gradient. Needs SciPy (the extra `special`).

    Example::

        >>> import gradpack as torch
        >>> LD, pivots = torch.linalg.ldl_factor(2 * torch.eye(2))
        >>> torch.linalg.ldl_solve(LD, pivots, torch.ones(2, 1))
        tensor([[0.5000],
                [0.5000]])
    """
    name = "torch.linalg.ldl_solve"
    square(name, LD, "LD")
    if LD._shape[-1] != B._shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {LD._shape[-1]} by {LD._shape[-1]} but each b "
            f"matrix is {B._shape[-2]} by {B._shape[-1]}"
        )
    matrices(name, B, "B")
    if pivots._shape != LD._shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots._shape)} instead"
        )
    if pivots.is_floating_point() or pivots.is_complex():
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype}")
    if LD.dtype != B.dtype:
        raise RuntimeError(f"{name}: LD dtype {LD.dtype} does not match b dtype {B.dtype}")
    return _ldl_solve(LD, pivots, B, hermitian)
