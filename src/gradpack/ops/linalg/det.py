"""Determinants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general
from ..pointwise.operands import is_complex
from .check import adjoint_of, array_of, as_like, floats, result_type, square, with_out

FUNCTIONS = "det slogdet logdet"
METHODS = "det slogdet logdet"


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
    U, S, Vh = late._svd(A, False)
    turned = _det(U) * _det(Vh)
    others = _all_but_one(S)
    return (g * turned)[..., None, None] * (late.conj(U) * as_like(others, U)[..., None, :]) @ late.conj(Vh)


def _all_but_one(S: Any) -> Any:
    """For each element the product of all others along the last dimension."""
    one = S[..., :1] * 0 + 1
    before = late._cumprod(late._cat([one, S[..., :-1]], -1), -1)
    after = late.flip(late._cumprod(late._cat([one, late.flip(S[..., 1:], (-1,))], -1), -1), (-1,))
    return before * after


@general(
    A=lambda g, A, out: _det_gradient(g, A, out),
    result=None,
    check=floats("linalg.det", kernel="lu_cpu"),
    name="linalg_det",
)
def _det(A: Array) -> Any:
    """Determinants."""
    square("linalg.det", A)
    return np.linalg.det(A)


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


@general(
    A=lambda g, A, sign: _slogdet_gradient(g, A, sign),
    results=("sign", "logabsdet"),
    result=None,
    holomorphic=False,
    check=floats("linalg.slogdet"),
    name="linalg_slogdet",
)
def _slogdet(A: Array) -> Any:
    """Signs, and logarithms of the absolute values, of determinants."""
    square("linalg.slogdet", A)
    found = np.linalg.slogdet(A)
    return found[0], found[1]


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
    return late.where(late.eq(sign, -1), math.nan, size)
