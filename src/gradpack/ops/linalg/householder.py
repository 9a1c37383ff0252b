"""QR factors as LAPACK keeps them: Householder vectors below the diagonal, and their scales.

With V the vectors and tau the scales, H1 @ H2 @ ... = I - V @ T @ V^H, where T is the solution of a
triangular system: products of reflections become products of matrices, which autograd knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ..pointwise.operands import not_implemented
from .check import conjugating_op, floats, matrices, matrix_op, with_out
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
