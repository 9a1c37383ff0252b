"""Linear systems, inverses and determinants."""

from __future__ import annotations

from math import nan, prod
from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ..pointwise.operands import is_complex
from ..reduce.reduce import products_of_others
from .check import checked, conjugating_op, floats, matrix_op, result_type, same_dtype, same_sizes, square, with_out
from .lapack import solve as solve_rows
from .matrix_parts import adjoint_of, array_of, as_like

FUNCTIONS = METHODS = "inverse det slogdet logdet"


# -- inverse --


@matrix_op(
    A=lambda g, inverse: -(inverse.mT @ g @ inverse.mT),
    jvp=lambda A_t, inverse: -(inverse @ A_t @ inverse),
    results=("inverse", "info"),
    differentiable=1,
    check=floats("linalg.inv"),
    name="linalg_inv_ex",
)
def _inv(A: Array) -> Any:
    """Inverses, and 0 for each or where the first zero on the diagonal of U stands."""
    square("linalg.inv", A)
    try:
        return np.linalg.inv(A), np.zeros(A.shape[:-2], dtype=np.int32)
    except np.linalg.LinAlgError:
        eye = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
        return solve_rows(A, eye)


SINGULAR = (
    ": {place}The diagonal element {info} is zero, the inversion could not be completed because the input matrix is "
    "singular."
)


@with_out
def linalg_inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, without an error for singular matrices, as a named tuple (inverse, info).

    Args:
        A: square matrices, of shape (..., n, n).
        check_errors: raise for singular matrices all the same.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.inv_ex(torch.eye(2)).info
        tensor(0, dtype=gradpack.int32)
    """
    return checked(_inv(A), check_errors, "torch.linalg.inv_ex" + SINGULAR)


@with_out
def linalg_inv(A: Tensor) -> Any:
    """The inverse of square matrices. With Y the inverse, its gradient is `-Y^H @ g @ Y^H`.

    Args:
        A: of shape (..., n, n), floating point or complex.

    Raises:
        linalg.LinAlgError: for a singular matrix.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    return checked(_inv(A), True, "linalg.inv" + SINGULAR).inverse


@with_out
def inverse(input: Tensor) -> Any:
    """The inverse of square matrices: `linalg.inv`.

    Example::

        >>> import gradpack as torch
        >>> torch.inverse(torch.tensor([[2.0]]))
        tensor([[0.5000]])
    """
    return linalg_inv(input)


# -- general systems --


def is_vector(a: Any, b: Any) -> bool:
    """Whether `b` is a batch of vectors: torch's rule."""
    return len(b) == 1 or (len(a) - 1 == len(b) and tuple(a[:-1]) == tuple(b))


def _solve_gradient(g: Any, A: Any, shape: Any, left: bool) -> Any:
    if is_vector(A.shape, shape):
        return late.squeeze(_solve_ex(A.mT, late.unsqueeze(g, -1), True)[0], -1)
    return _solve_ex(A.mT, g, left)[0]


def _matrix_gradient(g: Any, A: Any, shape: Any, result: Any, left: bool) -> Any:
    other = _solve_gradient(g, A, shape, left)
    if is_vector(A.shape, shape):
        return -(late.unsqueeze(other, -1) * late.unsqueeze(result, -2))
    return -(other @ result.mT) if left else -(result.mT @ other)


@matrix_op(
    A=lambda g, A, B_shape, result, left: _matrix_gradient(g, A, B_shape, result, left),
    B=lambda g, A, B_shape, left: _solve_gradient(g, A, B_shape, left),
    results=("result", "info"),
    differentiable=1,
    broadcasts=True,
    check=floats("linalg.solve", kernel="lu_cpu", same=True),
    name="linalg_solve_ex",
)
def _solve_ex(A: Array, B: Array, left: bool = True) -> Any:
    """Solutions, and 0 for each or where the first zero on the diagonal of U stands."""
    square("linalg.solve", A)
    vector = is_vector(A.shape, B.shape)
    if vector and not left:
        raise RuntimeError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. ")
    rows = B[..., None] if vector else B
    same_sizes("linalg.solve", A.shape, rows.shape, left)
    if left:
        x, info = solve_rows(A, rows)
        return (x[..., 0] if vector else x), info
    x, info = solve_rows(A.mT, rows.mT)
    return x.mT, info


def _solved(A: Any, B: Any, left: bool, check: bool) -> Any:
    if isinstance(A, Tensor) and isinstance(B, Tensor):
        square("linalg.solve", A)
        same_dtype("linalg.solve", A, B)
    sentence = "torch.linalg.solve: {place}The solver failed because the input matrix is singular."
    return checked(_solve_ex(A, B, left), check, sentence)


@with_out
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Any:
    """`X` with `A @ X = B`, or `X @ A = B` for `left=False`.

    Args:
        A: square matrices, of shape (..., n, n).
        B: of shape (..., n, k), or vectors of shape (n,) or (..., n) where `A` has as many leading dimensions.

    Raises:
        linalg.LinAlgError: for a singular matrix.
        RuntimeError: for shapes that do not fit, and for two dtypes.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
        tensor([1.0000, 0.5000])
    """
    return _solved(A, B, left, True).result


@with_out
def linalg_solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """As `solve`, without an error for singular matrices, as a named tuple (result, info).

    Args:
        A: square matrices, of shape (..., n, n).
        B: the right sides: see `solve`.
        left: False for `X @ A = B`.
        check_errors: raise for singular matrices all the same.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.solve_ex(torch.eye(1), torch.ones(1)).result
        tensor([1.])
    """
    return _solved(A, B, left, check_errors)


# -- tensors as matrices --


@with_out
def linalg_tensorinv(input: Tensor, ind: int = 2) -> Any:
    """The inverse with respect to `tensordot` over `ind` dimensions.

    `tensordot(tensorinv(A, ind), b, ind)` is the tensor `x` with `tensordot(A, x, A.ndim - ind) = b`.

    Args:
        input: a tensor whose first `ind` sizes have the same product as the others.
        ind: how many dimensions are those of rows.

    Raises:
        RuntimeError: for an `ind` that is not positive, or products that differ.
        LinAlgError: if the tensor is not invertible.

    Example::

        >>> import gradpack as torch
        >>> A = torch.eye(6).reshape(2, 3, 6) * 4
        >>> back = torch.linalg.tensorinv(A, ind=2)
        >>> back.shape
        gradpack.Size([6, 2, 3])
        >>> torch.tensordot(back, torch.ones(2, 3), 2)
        tensor([0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500])
    """
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    before, after = input._shape[:ind], input._shape[ind:]
    rows, columns = prod(before), prod(after)
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    result = checked(_inv(late.reshape(input, (columns, rows))), True, "inv" + SINGULAR)
    return late.reshape(result.inverse, (*after, *before))


@with_out
def linalg_tensorsolve(input: Tensor, other: Tensor, dims: Any = None) -> Any:
    """`X` with `tensordot(input, X, X.ndim) = other`.

    Args:
        dims: dimensions of `input` that are moved to its end first.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.tensorsolve(torch.eye(6).reshape(2, 3, 6), torch.ones(2, 3)).shape
        gradpack.Size([6])
    """
    if dims is not None:
        dims = tuple(dims)
        input = late.movedim(input, dims, tuple(range(input.ndim - len(dims), input.ndim)))
    after = input._shape[other.ndim :]
    rows, columns = other.numel(), prod(after)
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {columns} != {rows}"
        )
    found = linalg_solve(late.reshape(input, (columns, rows)), late.reshape(other, (other.numel(),)))
    return late.reshape(found, after)


# -- determinants --


def _regular(out: Any) -> bool:
    """Whether all determinants are numbers other than zero."""
    found = np.abs(array_of(out))
    return bool(np.all((found > np.finfo(found.dtype).tiny) & np.isfinite(found)))


def _det_gradient(g: Any, A: Any, out: Any) -> Any:
    """The cofactors: `det * A^-T`; by singular values where the matrix has no inverse."""
    if not A.shape[-1]:
        return A * 0
    if _regular(out):
        return (g * out)[..., None, None] * late._inv(A)[0].mT
    lost = late.isnan(out)  # a matrix with NaN has no singular values
    U, S, Vh = late._svd(late.where(lost[..., None, None], 0.0, A), False)
    turned = late.where(lost, out, _det(U) * _det(Vh))
    others = products_of_others(S, -1)
    return (g * turned)[..., None, None] * (late.conj(U) * as_like(others, U)[..., None, :]) @ late.conj(Vh)


@matrix_op(A=lambda g, A, out: _det_gradient(g, A, out), check=floats("linalg.det", kernel="lu_cpu"), name="linalg_det")
def _det(A: Array) -> Any:
    """Determinants."""
    square("linalg.det", A)
    found = np.linalg.det(A)
    return found if found.all() else np.where(_has_nan(A), np.asarray(np.nan, found.dtype), found)


def _has_nan(A: Any) -> Any:
    """Which matrices have NaN: those of a zero pivot before it have a determinant of 0 in LAPACK."""
    return np.any(np.isnan(A), axis=(-2, -1))


@with_out
def linalg_det(A: Tensor) -> Any:
    """The determinant of square matrices. Its gradient is the matrix of cofactors, also for a singular matrix.

    Args:
        A: of shape (..., n, n).

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.det(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor(8.)
    """
    return _det(A)


def det(input: Tensor) -> Any:
    """The determinant: `linalg.det`.

    Example::

        >>> import gradpack as torch
        >>> torch.det(torch.eye(3))
        tensor(1.)
    """
    return _det(input)


def _slogdet_gradient(g: Any, A: Any, sign: Any) -> Any:
    """`(g_logabsdet - i * imag(conj(g_sign) * sign)) * A^-H`: a real sign is constant."""
    g_sign, g_log = g
    scale = g_log
    if is_complex(A) and g_sign is not None:
        turn = late.imag(late.conj(g_sign) * sign) * -1j
        scale = turn if scale is None else turn + scale
    if scale is None:
        return A * 0
    return scale[..., None, None] * adjoint_of(late._inv(A)[0])


@conjugating_op(
    A=lambda g, A, sign: _slogdet_gradient(g, A, sign),
    results=("sign", "logabsdet"),
    check=floats("linalg.slogdet"),
    name="linalg_slogdet",
)
def _slogdet(A: Array) -> Any:
    """Signs, and logarithms of the absolute values, of determinants."""
    square("linalg.slogdet", A)
    sign, size = np.linalg.slogdet(A)
    if np.all(np.isfinite(size)):
        return sign, size
    lost = np.isnan(size) | _has_nan(A)
    nan = np.asarray(complex(np.nan, np.nan) if sign.dtype.kind == "c" else 0, dtype=sign.dtype)
    return np.where(lost, nan, sign), np.where(lost, np.asarray(np.nan, size.dtype), size)


@with_out
def linalg_slogdet(A: Tensor) -> Any:
    """The sign (a complex number of modulus 1) and the logarithm of the absolute value of the determinant.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.slogdet(torch.eye(2)).logabsdet
        tensor(0.)
    """
    return _slogdet(A)


@with_out
def slogdet(input: Tensor) -> Any:
    """`linalg.slogdet`.

    Example::

        >>> import gradpack as torch
        >>> torch.slogdet(-torch.eye(3)).sign
        tensor(-1.)
    """
    return _Slogdet(*_slogdet(input))


_Slogdet = result_type("slogdet", "sign logabsdet")


def logdet(input: Tensor) -> Any:
    """The logarithm of the determinant; NaN where a real one is negative.

    Example::

        >>> import gradpack as torch
        >>> torch.logdet(torch.eye(2))
        tensor(0.)
    """
    sign, size = _slogdet(input)
    if is_complex(input):
        return late.log(sign) + size
    return late.where(late.eq(sign, -1), nan, size)
