"""The logarithm of the gamma function, and its derivatives. They need SciPy (the extra `special`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.inplace.write_checks import check_result
from ..pointwise.blockwise import is_numpy
from ..pointwise.error_function import FEW, one_by_one
from ..pointwise.exponential import special
from ..shape.shape import clone
from .large_arrays import digamma_of, lgamma_of, trigamma_of, zeta_two_of

FUNCTIONS = "lgamma digamma polygamma"
METHODS = FUNCTIONS
INPLACE = "lgamma_ digamma_ polygamma_"


@elementwise(input=lambda g, input: g * digamma(input), result="float", dtypes="bif", cost="dear")
def lgamma(input: Array) -> Any:
    """The logarithm of the absolute value of the gamma function. Needs SciPy (the extra `special`).

    Example::

        >>> import gradpack as torch
        >>> torch.lgamma(torch.tensor([1.0, 4.0]))
        tensor([0.0000, 1.7918])
    """
    return lgamma_of(input, _log_gamma)


def _log_gamma(x: Any) -> Any:
    if is_numpy(x) and x.size <= FEW and x.dtype.char in "fd":
        try:
            return one_by_one(math.lgamma, x)
        except ValueError:  # `math.lgamma` raises at poles
            pass
    return np.where(x == -np.inf, np.inf, special("gammaln", x))


@elementwise(input=lambda g, input: g * polygamma(1, input), result="float", dtypes="bif", cost="dear")
def digamma(input: Array) -> Any:
    """The derivative of `lgamma`. Needs SciPy (the extra `special`).

    Example::

        >>> import gradpack as torch
        >>> torch.digamma(torch.tensor([1.0]))
        tensor([-0.5772])
    """
    return digamma_of(input, _digamma)


def _digamma(x: Any) -> Any:
    return np.where(x == 0, np.copysign(np.inf, -x), special("psi", x))


@elementwise(input=lambda g, n, input: g * polygamma(n + 1, input), result="float", dtypes="bif", cost="dear")
def polygamma(n: int, input: Array) -> Any:
    """The n-th derivative of `digamma`. Needs SciPy (the extra `special`).

    Raises:
        RuntimeError: for a negative `n`.

    Example::

        >>> import gradpack as torch
        >>> torch.polygamma(1, torch.tensor([1.0]))
        tensor([1.6449])
    """
    return _derivative(n, input)


def _derivative(n: int, input: Any) -> Any:
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n. (It is {n}.)")
    if n == 0:
        return special("psi", input)
    if n == 1:
        return trigamma_of(input, _trigamma)
    return (-1) ** (n + 1) * math.factorial(n) * special("zeta", n + 1, input)


def _trigamma(x: Any) -> Any:
    """`trigamma`, by reflection below 1/2 as in torch: finite at negative integers, as sin(pi * x) is not exactly 0."""
    low = x < 0.5
    above = zeta_two_of(np.where(low, 1 - x, x), lambda y: special("zeta", 2, y))
    sine = np.sin(np.where(low, x, 0.5) * math.pi)
    return np.where(low, (math.pi / sine) ** 2 - above, above)


def _method_polygamma_(self: Tensor, n: int) -> Tensor:
    """In-place form of `polygamma`."""
    made = polygamma(n, clone(self))
    check_result(self, made)
    result: Tensor = self.copy_(made)
    return result


def _method_polygamma(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of `digamma` at the elements of this tensor."""
    return polygamma(n, self)
