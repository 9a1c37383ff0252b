"""Factors as LAPACK keeps them: Householder vectors of QR, and LDL factors of symmetric matrices.

Householder vectors stand below the diagonal, with their scales beside. With V the vectors and tau the scales,
H1 @ H2 @ ... = I - V @ T @ V^H, where T is the solution of a triangular system: products of reflections become products
of matrices, which autograd knows. LDL factors come from LAPACK itself, through SciPy; their matrices need not be
positive definite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.errors import missing_extra
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ..pointwise.operands import no_gradient, not_implemented
from ..shape.dims import wrap_dim
from .check import checked, conjugating_op, floats, matrices, matrix_op, result_type, square, with_out
from .lapack import stacked
from .matrix_parts import adjoint_of, diagonal_of, identity, padded

FUNCTIONS = METHODS = "geqrf orgqr ormqr"


@matrix_op(
    input=lambda g: not_implemented("geqrf"),
    jvp=lambda input_t: not_implemented("geqrf"),
    results=("a", "tau"),
    check=floats("torch.geqrf", kernel="geqrf_cpu"),
    name="geqrf",
)
def _geqrf(input: Array) -> Any:
    """Householder vectors and their scales."""
    matrices("torch.geqrf", input, "input")
    if not input.size:
        k = min(input.shape[-2:])
        return np.array(input), np.zeros((*input.shape[:-2], k), dtype=input.dtype)
    turned, tau = np.linalg.qr(input, mode="raw")
    return np.ascontiguousarray(turned.mT), tau


@with_out
def geqrf(input: Tensor) -> Any:
    """The QR factorization as `orgqr` and `ormqr` take it, as a named tuple (a, tau). It has no gradient.

    Example::

        >>> import gradpack as torch
        >>> torch.geqrf(torch.ones(3, 2)).tau.shape
        gradpack.Size([2])
    """
    return _geqrf(input)


def _kernel(V: Any, tau: Any) -> Any:
    """T of `I - V @ T @ V^H`."""
    k = V.shape[-1]
    inner = late.triu(adjoint_of(V) @ V, 1)
    return late._solve_triangular(identity(k, V) + tau[..., None] * inner, late.diag_embed(tau), True, True)


def _vectors(input: Any, k: int) -> Any:
    """The Householder vectors: ones on the diagonal and zeros above."""
    return late.tril(input[..., :k], -1) + identity(input.shape[-2], input, k)


def _check_tau(name: str, input: Any, tau: Any) -> None:
    matrices(f"torch.{name}", input, "input")
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(f"torch.{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if n < tau.shape[-1]:
        raise RuntimeError(f"torch.{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if len(input.shape) - len(tau.shape) != 1:
        raise RuntimeError(
            f"torch.{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{len(tau.shape)} and input.ndim is equal to {len(input.shape)}"
        )
    if tuple(tau.shape[:-1]) != tuple(input.shape[:-2]):
        raise RuntimeError(
            f"torch.{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(f"torch.{name}: tau dtype {tau.dtype} does not match input dtype {input.dtype}")


@conjugating_op(
    input=lambda g, input, tau: _reflected_back(g, input, tau)[0],
    tau=lambda g, input, tau: _reflected_back(g, input, tau)[1],
    check=floats("torch.linalg.householder_product", kernel="orgqr_cpu", whole="orgqr_cpu"),
    name="linalg_householder_product",
)
def _product(input: Array, tau: Array) -> Any:
    """The first columns of products of reflections."""
    n, k = input.shape[-1], tau.shape[-1]
    start = identity(input.shape[-2], input, n)
    if not k:
        return start + input * 0
    V = _vectors(input, k)
    return start - V @ (_kernel(V, tau) @ adjoint_of(V[..., :n, :]))


def _reflected_back(g: Any, input: Any, tau: Any) -> tuple[Any, Any]:
    """The gradients of `I - V @ T @ V^H`, of which the first columns are taken."""
    n, k = input.shape[-1], tau.shape[-1]
    if not k or not input.shape[-2]:
        return None, None
    V = _vectors(input, k)
    top = V[..., :n, :]
    T = _kernel(V, tau)
    left, right = V @ T, adjoint_of(top)
    g_v, g_top = -(g @ adjoint_of(T @ right)), -(adjoint_of(g) @ left)
    more_v, g_tau = _kernel_back(-(adjoint_of(V) @ g @ top), V, tau, T)
    g_v = g_v + more_v + padded(g_top, rows=input.shape[-2] - n)
    return padded(late.tril(g_v, -1), columns=n - k), g_tau


def _kernel_back(g: Any, V: Any, tau: Any, T: Any) -> tuple[Any, Any]:
    """The gradients of `T = (I + tau * S)^-1 @ diag(tau)`, S the strict upper triangle of `V^H @ V`."""
    inner = late.triu(adjoint_of(V) @ V, 1)
    system = identity(V.shape[-1], V) + tau[..., None] * inner
    g_right = late._solve_triangular(adjoint_of(system), g, False)
    g_system = late.triu(-(g_right @ adjoint_of(T)), 1)
    g_tau = diagonal_of(g_right) + late._sum_dim(g_system * late.conj(inner), -1)
    g_inner = g_system * late.conj(tau)[..., None]
    return V @ (g_inner + adjoint_of(g_inner)), g_tau


@with_out
def householder_product(input: Tensor, tau: Tensor) -> Any:
    """The first n columns of the product of the reflections `I - tau[i] * v[i] @ v[i]^H`.

    Args:
        input: of shape (..., m, n), m >= n: the vectors v below the diagonal.
        tau: of shape (..., k), k <= n.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.householder_product(*torch.geqrf(torch.ones(3, 2))).shape
        gradpack.Size([3, 2])
    """
    _check_tau("linalg.householder_product", input, tau)
    return _product(input, tau)


@with_out
def orgqr(input: Tensor, input2: Tensor) -> Any:
    """`linalg.householder_product`.

    Example::

        >>> import gradpack as torch
        >>> torch.orgqr(*torch.geqrf(torch.ones(3, 2))).shape
        gradpack.Size([3, 2])
    """
    return householder_product(input, input2)


@with_out
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Any:
    """The product of a matrix with Q, given by Householder vectors, of which all columns are taken.

    Args:
        input: of shape (..., m, k): the vectors below the diagonal.
        input2: their scales, of shape (..., k).
        input3: the matrix.
        left: `Q @ input3`; False for `input3 @ Q`.
        transpose: take the adjoint of Q.

    Example::

        >>> import gradpack as torch
        >>> torch.ormqr(*torch.geqrf(torch.ones(3, 2)), torch.eye(3)).shape
        gradpack.Size([3, 3])
    """
    if input.ndim < 2:
        raise RuntimeError("torch.ormqr: input must have at least 2 dimensions.")
    if input3.ndim < 2:
        raise RuntimeError("torch.ormqr: other must have at least 2 dimensions.")
    size, place = (input3._shape[-2], -2) if left else (input3._shape[-1], -1)
    if size < input2._shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{place}] must be greater than or equal to tau.shape[-1]")
    if input2._shape[-1] != min(size, input._shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{place}], input.shape[-1])")
    if size != input._shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{place}] must be equal to input.shape[-2]")
    if input.ndim - input2.ndim != 1 or input.ndim != input3.ndim:
        raise RuntimeError(
            "torch.ormqr: Expected tau to have one dimension less than input, and other to have as many dimensions: "
            f"got {input2.ndim}, {input.ndim} and {input3.ndim}"
        )
    for label, t in (("tau", input2), ("other", input3)):
        if t.dtype != input.dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {label} to have the same dtype, but input has dtype {input.dtype} "
                f"and {label} has dtype {t.dtype}"
            )
    floats("torch.ormqr", "ormqr_cpu", "ormqr_cpu")(None, (input,), None)
    k = input2._shape[-1]
    if not k:
        return input3 + 0
    V = _vectors(input, k)
    T = _kernel(V, input2)
    if transpose:
        T = adjoint_of(T)
    if left:
        return input3 - V @ (T @ (adjoint_of(V) @ input3))
    return input3 - ((input3 @ V) @ T) @ adjoint_of(V)


# -- LDL factors --


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

    Args:
        LD: the factors: shape (..., n, n).
        pivots: the exchanges of rows: shape (..., n), of dtype int32.
        B: the right sides: shape (..., n, k).
        hermitian: whether `A` is Hermitian rather than symmetric: the same as for `ldl_factor`.

    Example::

        >>> import gradpack as torch
        >>> LD, pivots = torch.linalg.ldl_factor(2 * torch.eye(2))
        >>> torch.linalg.ldl_solve(LD, pivots, torch.ones(2, 1))
        tensor([[0.5000],
                [0.5000]])
    """
    name = "torch.linalg.ldl_solve"
    square(name, LD, "LD")
    if LD._shape[-1] != B._shape[wrap_dim(-2, B.ndim)]:
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
