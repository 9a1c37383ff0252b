"""Triangular systems, and those of Cholesky factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from .check import conjugating_op, floats, matrices, matrix_op, raise_if_bad, same_dtype, same_sizes, square, with_out
from .lapack import solve_triangle
from .matrix_parts import adjoint_of, sum_of
from .solve import SINGULAR

FUNCTIONS = METHODS = "triangular_solve cholesky_solve cholesky_inverse"


# -- triangular systems --


def _triangular_gradient(g: Any, A: Any, out: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    other = _solve_triangular(A.mT, g, not upper, left, unitriangular)
    whole = -(other @ out.mT) if left else -(out.mT @ other)
    step = 1 if unitriangular else 0
    return late.triu(whole, step) if upper else late.tril(whole, -step)


@matrix_op(
    A=lambda g, A, out, upper, left, unitriangular: _triangular_gradient(g, A, out, upper, left, unitriangular),
    B=lambda g, A, upper, left, unitriangular: _solve_triangular(A.mT, g, not upper, left, unitriangular),
    broadcasts=True,
    check=floats("linalg.solve_triangular", "triangular_solve_cpu", "triangular_solve_cpu", same=True),
    name="linalg_solve_triangular",
)
def _solve_triangular(A: Array, B: Array, upper: bool = True, left: bool = True, unitriangular: bool = False) -> Any:
    """The solution of triangular systems."""
    square("linalg.solve_triangular", A)
    matrices("linalg.solve_triangular", B, "B")
    same_sizes("linalg.solve_triangular", A.shape, B.shape, left)
    if left:
        return solve_triangle(A, B, upper, unitriangular)
    return solve_triangle(A.mT, B.mT, not upper, unitriangular).mT


@with_out
def linalg_solve_triangular(
    input: Tensor, B: Tensor, *, upper: Any = None, left: bool = True, unitriangular: bool = False
) -> Any:
    """`X` with `input @ X = B` for a triangular `input`; the other triangle is not looked at.

    Args:
        input: of shape (..., n, n).
        B: of shape (..., n, k).
        upper: which triangle.
        left: False for `X @ input = B`.
        unitriangular: take the diagonal as ones.

    Example::

        >>> import gradpack as torch
        >>> A = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> torch.linalg.solve_triangular(A, torch.tensor([[4.0], [4.0]]), upper=True)
        tensor([[1.5000],
                [1.0000]])
    """
    if upper is None:
        raise TypeError('linalg_solve_triangular() missing 1 required positional arguments: "upper"')
    if isinstance(input, Tensor) and isinstance(B, Tensor):
        square("linalg.solve_triangular", input)
        same_dtype("linalg.solve_triangular", input, B)
    return _solve_triangular(input, B, upper, left, unitriangular)


def _coefficient_gradient(g: Any, A: Any, solution: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    """The gradient of `A`: that of the matrix solved with, and that of the copy."""
    if g[0] is None:
        return g[1]
    A = A.mT if transpose else A
    part = _triangular_gradient(g[0], A, solution, upper is not transpose, True, unitriangular)
    return sum_of(g[1], part.mT if transpose else part)


def _right_side_gradient(g: Any, A: Any, shape: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    if g[0] is None:
        return late.zeros_as(A, shape)
    return _solve_triangular(A if transpose else A.mT, g[0], upper is transpose, True, unitriangular)


@matrix_op(
    input=lambda g, A, input_shape, upper, transpose, unitriangular: _right_side_gradient(
        g, A, input_shape, upper, transpose, unitriangular
    ),
    A=lambda g, A, solution, upper, transpose, unitriangular: _coefficient_gradient(
        g, A, solution, upper, transpose, unitriangular
    ),
    results=("solution", "cloned_coefficient"),
    broadcasts=True,
    check=floats("triangular_solve", "triangular_solve_cpu", "triangular_solve_cpu"),
    name="triangular_solve",
)
def _triangular(
    input: Array, A: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of triangular systems, and a copy of their matrices."""
    lead = np.broadcast_shapes(input.shape[:-2], A.shape[:-2])
    matrix = A.mT if transpose else A
    found = solve_triangle(matrix, input, upper is not transpose, unitriangular)
    return found, np.array(np.broadcast_to(A, (*lead, *A.shape[-2:])))


@with_out
def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """As `linalg.solve_triangular(A, input)`, as a named tuple (solution, cloned_coefficient).

    Args:
        transpose: solve with the transpose of `A`.

    Example::

        >>> import gradpack as torch
        >>> torch.triangular_solve(torch.ones(1, 1), torch.tensor([[2.0]])).solution
        tensor([[0.5000]])
    """
    for label, t in (("b", input), ("A", A)):
        if t.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {label} to have at least 2 dimensions, but it has {t.ndim} "
                "dimensions instead"
            )
    same_dtype("triangular_solve", input, A, ("b", "A"))
    square("triangular_solve", A)
    if A.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {A.shape[-1]} by {A.shape[-1]} but each "
            f"b matrix is {input.shape[-2]} by {input.shape[-1]}"
        )
    return _triangular(input, A, upper, transpose, unitriangular)


# -- by Cholesky factors --


def _check_solve_cholesky(input: Any, L: Any) -> None:
    for label, t in (("b", input), ("u", L)):
        if len(t.shape) < 2:
            raise RuntimeError(f"{label} should have at least 2 dimensions, but has {len(t.shape)} dimensions instead")
    square("cholesky_solve", L)
    if L.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {L.shape[-1]} by {L.shape[-1]} but each "
            f"b matrix is {input.shape[-2]} by {input.shape[-1]}"
        )


@conjugating_op(
    input=lambda g, L, upper: _cholesky_solve(g, L, upper),
    L=lambda g, L, out, upper: _factor_gradient(_cholesky_solve(g, L, upper) @ adjoint_of(out), L, upper),
    broadcasts=True,
    check=floats("cholesky_solve", "cholesky_solve_cpu", "cholesky_solve_cpu"),
    name="cholesky_solve",
)
def _cholesky_solve(input: Array, L: Array, upper: bool = False) -> Any:
    """The solution of positive definite systems by their Cholesky factors."""
    _check_solve_cholesky(input, L)
    first, second = (np.conj(L.mT), L) if upper else (L, np.conj(L.mT))
    return solve_triangle(second, solve_triangle(first, input, False), True)


def _factor_gradient(common: Any, L: Any, upper: bool) -> Any:
    """The gradient of the factor, from `common`, minus that of its product with its adjoint."""
    both = common + adjoint_of(common)
    return -(L @ both) if upper else -(both @ L)


@with_out
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Any:
    """`X` with `A @ X = input`, where `input2` is the Cholesky factor of `A`.

    Args:
        input2: of shape (..., n, n): A = L @ L^H, or L^H @ L for `upper=True`.

    Example::

        >>> import gradpack as torch
        >>> torch.cholesky_solve(torch.tensor([[8.0]]), torch.tensor([[2.0]]))
        tensor([[2.]])
    """
    same_dtype("cholesky_solve", input, input2, ("b", "A"))
    return _cholesky_solve(input, input2, upper)


@with_out
def cholesky_inverse(input: Tensor, upper: bool = False) -> Any:
    """The inverse of `A`, where `input` is the Cholesky factor of it.

    Example::

        >>> import gradpack as torch
        >>> torch.cholesky_inverse(torch.tensor([[2.0]]))
        tensor([[0.2500]])
    """
    return _cholesky_inverse(input, upper)


@conjugating_op(
    L=lambda g, L, out, upper: _factor_gradient(out @ g @ out, L, upper),
    check=floats("cholesky_inverse", "cholesky_inverse_cpu", "cholesky_inverse_cpu"),
    name="cholesky_inverse",
)
def _cholesky_inverse(L: Array, upper: bool = False) -> Any:
    """The inverse of positive definite matrices by their Cholesky factors."""
    square("cholesky_inverse", L)
    zero = np.diagonal(L, axis1=-2, axis2=-1) == 0
    if L.shape[-1]:
        raise_if_bad(np.argmax(zero, axis=-1) + np.any(zero, axis=-1), "cholesky_inverse" + SINGULAR)  # counted from 1
    eye = np.broadcast_to(np.eye(L.shape[-1], dtype=L.dtype), L.shape)
    half = solve_triangle(np.conj(L.mT) if upper else L, eye, False)
    return np.matmul(np.conj(half.mT), half)
