"""Eigenvalues, with their vectors.

Vectors are determined up to a sign, complex ones up to a phase, and those of equal values up to a rotation. A
loss may depend on none of these: for complex phases that is checked, as torch does; equal values give infinities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING
from ...base.errors import LinAlgError, scalar_type
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array
from ...declare.decorators import general
from ..pointwise.operands import is_complex
from .check import conjugating_op, floats, followed, matrix_op, square, with_out
from .matrix_parts import adjoint_of, array_of, as_like, diagonal_of


def no_phase(name: str, what: str, ending: str, phase: Any) -> None:
    """Raise where a loss depends on the phase of complex vectors."""
    found = np.abs(array_of(phase))
    if found.size and not np.all(found <= 1e-2):
        if np.all(np.isfinite(found)):
            raise RuntimeError(
                f"{name}: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
                f"specified loss function depends on this {ending}"
            )


_QUANTITY = "quantity, so it is ill-defined."


def gaps_of(values: Any) -> Any:
    """`values[j] - values[i]` at row i and column j, ones on the diagonal."""
    made = values[..., None, :] - values[..., :, None]
    n = made.shape[-1]
    eye: Any = np.eye(n, dtype=bool)
    return late.where(wrap(eye) if isinstance(made, Tensor) else eye, 1.0, made)


# -- Hermitian matrices --


def _eigh_gradient(g: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    g_l, g_v = g
    V = eigenvectors
    if g_v is None:
        return (V * g_l[..., None, :]) @ adjoint_of(V)
    inner = adjoint_of(V) @ g_v
    if is_complex(V):
        no_phase("linalg_eigh_backward", "eigenvectors", _QUANTITY, late.imag(diagonal_of(inner)))
    inner = (inner - adjoint_of(inner)) / 2 / gaps_of(eigenvalues)
    inner = inner - late.diag_embed(diagonal_of(inner))
    if g_l is not None:
        inner = inner + late.diag_embed(as_like(g_l, V))
    return V @ inner @ adjoint_of(V)


def converged(function: Callable[..., Any], *args: Any) -> Any:
    """Return `function(*args)`, or raise torch's error where the iteration does not converge."""
    try:
        return function(*args)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too "
            "many repeated eigenvalues."
        ) from None


def _eigh_tangent(input_t: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    V = eigenvectors
    inner = adjoint_of(V) @ input_t @ V
    inner = (inner + adjoint_of(inner)) / 2
    middle = diagonal_of(inner)
    turn = (inner - late.diag_embed(middle)) / gaps_of(eigenvalues)
    return late.real(middle), V @ turn


@conjugating_op(
    input=lambda g, eigenvalues, eigenvectors: _eigh_gradient(g, eigenvalues, eigenvectors),
    jvp=lambda input_t, eigenvalues, eigenvectors: _eigh_tangent(input_t, eigenvalues, eigenvectors),
    results=("eigenvalues", "eigenvectors"),
    check=floats("linalg.eigh", "linalg_eigh_cpu", "linalg_eigh_cpu"),
    name="linalg_eigh",
)
def _eigh(input: Array, UPLO: Any = "L") -> Any:
    """Eigenvalues, in ascending order, and eigenvectors."""
    square("linalg.eigh", input)
    found = converged(np.linalg.eigh, input, UPLO)
    return found[0], found[1]


def _triangle(UPLO: str) -> str:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


@with_out
def linalg_eigh(input: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices, as a named tuple (eigenvalues, eigenvectors).

    Args:
        input: of shape (..., n, n).
        UPLO: which triangle is looked at, "L" or "U".

    Raises:
        RuntimeError: in backward, if a loss depends on the phase of complex vectors.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([1., 2.])
    """
    return _eigh(input, _triangle(UPLO))


@with_out
def linalg_eigvalsh(input: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues of Hermitian matrices, in ascending order.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.eigvalsh(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([1., 2.])
    """
    UPLO = _triangle(UPLO)
    return _eigh(input, UPLO)[0] if followed(input) else _eigvalsh(input, UPLO)


@matrix_op(promote=("input",), check=floats("linalg.eigh", "linalg_eigh_cpu", "linalg_eigh_cpu"))
def _eigvalsh(input: Array, UPLO: Any = "L") -> Any:
    """Eigenvalues, where no gradient is asked for."""
    square("linalg.eigh", input)
    return converged(np.linalg.eigvalsh, input, UPLO)


# -- other square matrices --


def _eig_gradient(g: Any, eigenvalues: Any, eigenvectors: Any, dtype: Any) -> Any:
    """Return the gradient of the matrix: its real part if the matrix is real, as its factors are complex."""
    g_l, g_v = g
    V = eigenvectors
    turned = adjoint_of(V)
    if g_v is None:
        whole = late._solve_ex(turned, g_l[..., None] * turned)[0]
        return whole if dtype.is_complex else late.real(whole)
    inner = turned @ g_v
    length = diagonal_of(inner)
    no_phase("linalg_eig_backward", "eigenvectors", _QUANTITY, late.imag(length))
    inner = inner - (turned @ V) * late.real(length)[..., None, :]
    inner = inner / late.conj(gaps_of(eigenvalues))
    inner = inner - late.diag_embed(diagonal_of(inner))
    if g_l is not None:
        inner = inner + late.diag_embed(g_l)
    whole = late._solve_ex(turned, inner @ turned)[0]
    return whole if dtype.is_complex else late.real(whole)


@general(
    input=lambda g, eigenvalues, eigenvectors, input_dtype: _eig_gradient(g, eigenvalues, eigenvectors, input_dtype),
    results=("eigenvalues", "eigenvectors"),
    result="complex",
    holomorphic=False,
    check=lambda op, values, common: _check_eig(values),
    name="linalg_eig",
)
def _eig(input: Array) -> Any:
    """Eigenvalues and eigenvectors."""
    return _eigen("linalg.eig", np.linalg.eig, input)


@general(result="complex", promote=("input",), check=lambda op, values, common: _check_eig(values))
def _eigvals(input: Array) -> Any:
    """Eigenvalues, where no gradient is asked for."""
    return _eigen("linalg.eigvals", np.linalg.eigvals, input)


def _eigen(name: str, function: Any, input: Any) -> Any:
    square(name, input)
    if not np.all(np.isfinite(input)):
        raise RuntimeError(f"torch.{name}: input tensor should not contain infs or NaNs.")
    native = input.dtype if input.dtype.kind == "c" else (np.complex64 if input.itemsize == 4 else np.complex128)
    found = function(input)
    return tuple(np.asarray(x, dtype=native) for x in found) if isinstance(found, tuple) else found.astype(native)


def _check_eig(values: Any) -> None:
    dtype = values[0]._spec.dtype
    if dtype.category < FLOATING:
        raise RuntimeError(f"Unknown Complex ScalarType for {scalar_type(dtype)}")
    if dtype.low:
        raise NotImplementedError(
            f"\"linalg_eig_out_cpu\" not implemented for '{scalar_type(dtype)}': convert with .to(dtype) first"
        )


@with_out
def linalg_eig(input: Tensor) -> Any:
    """Eigenvalues and eigenvectors, always complex, as a named tuple (eigenvalues, eigenvectors).

    Args:
        input: of shape (..., n, n).

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.eig(torch.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
        tensor([0.+1.j, 0.-1.j])
    """
    return _eig(input)


@with_out
def linalg_eigvals(input: Tensor) -> Any:
    """Eigenvalues, always complex, in no order.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.eigvals(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """
    if isinstance(input, Tensor):
        square("linalg.eigvals", input)
    return _eig(input)[0] if followed(input) else _eigvals(input)
