"""The gamma function's relatives: its logarithm and derivatives, incomplete, of several variables, and zeta.

All need SciPy (the extra `special`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import BOOL
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.inplace.write_checks import check_result
from ..pointwise.blockwise import is_numpy
from ..pointwise.error_function import FEW, one_by_one
from ..pointwise.exponential import special
from ..pointwise.operands import not_implemented
from ..shape.shape import clone
from .large_arrays import digamma_of, lgamma_of, trigamma_of, zeta_two_of

FUNCTIONS = "digamma igamma igammac lgamma mvlgamma polygamma"
METHODS = FUNCTIONS
INPLACE = "digamma_ igamma_ igammac_ lgamma_ mvlgamma_ polygamma_"


_incomplete = partial(elementwise, dtypes="f", scalars=False, cost="dear")


@_incomplete(input=lambda g: not_implemented("igamma: input"), other=lambda g, input, other: g * _density(input, other))
def igamma(input: Array, other: Array) -> Any:
    """The regularized lower incomplete gamma function P(input, other): from 0 at `other` = 0 to 1 at infinity.

    Raises:
        NotImplementedError: in backward, if the gradient of `input` is needed; it is that of `other` only.

    Example::

        >>> import gradpack as torch
        >>> torch.igamma(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 3.0]))
        tensor([0.6321, 0.3528])
    """
    return special("gammainc", input, other)


@_incomplete(
    input=lambda g: not_implemented("igammac: input"), other=lambda g, input, other: -(g * _density(input, other))
)
def igammac(input: Array, other: Array) -> Any:
    """The regularized upper incomplete gamma function: `1 - igamma(input, other)`.

    Raises:
        NotImplementedError: in backward, if the gradient of `input` is needed; it is that of `other` only.

    Example::

        >>> import gradpack as torch
        >>> torch.igammac(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 3.0]))
        tensor([0.3679, 0.6472])
    """
    return special("gammaincc", input, other)


def _density(input: Any, other: Any) -> Any:
    if isinstance(input, Tensor) and input._spec is not other._spec:  # lgamma of integers would be in float32
        input = late._to_copy(input, other._spec.dtype)
    return late.exp((input - 1) * late.log(other) - other - lgamma(input))


@_incomplete(
    a=lambda g: not_implemented("betainc: a"),
    b=lambda g: not_implemented("betainc: b"),
    x=lambda g, a, b, x: g * _beta_density(a, b, x),
)
def _betainc(a: Array, b: Array, x: Array) -> Any:
    """The regularized incomplete beta function of `x`, from 0 to 1 on [0, 1], for other libraries.

    Raises:
        NotImplementedError: in backward, if the gradient of `a` or `b` is needed; it is that of `x` only.
    """
    return special("betainc", a, b, x)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    if isinstance(x, Tensor):  # lgamma of integers would be in float32
        a, b = (late._to_copy(n, x._spec.dtype) if isinstance(n, Tensor) else n for n in (a, b))
    whole = lgamma(a) + lgamma(b) - lgamma(a + b)
    return late.exp((a - 1) * late.log(x) + (b - 1) * late.log1p(-x) - whole)


def _check_mvlgamma(op: Any, values: Any, common: Any) -> None:
    if values[0]._spec.dtype.category == BOOL:
        raise RuntimeError("The input tensor may not be a boolean tensor.")


@elementwise(
    input=lambda g, input, p: g * _mvlgamma_slope(input, p),
    result="float",
    dtypes="bif",
    check=_check_mvlgamma,
    contiguous=True,
    cost="dear",
    overlap="read_first",
)
def mvlgamma(input: Array, p: int) -> Any:
    """The logarithm of the gamma function of `p` variables.

    `p * (p - 1) / 4 * log(pi)` plus the sum of `lgamma(input - i / 2)` for i from 0 to p - 1.

    Args:
        p: the number of variables.

    Raises:
        RuntimeError: for a `p` below 1.

    Example::

        >>> import gradpack as torch
        >>> torch.mvlgamma(torch.tensor([2.0, 3.0]), 2)
        tensor([0.4516, 1.5502])
    """
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, but mvlgamma() got {p}")
    total = special("gammaln", input)
    for i in range(1, p):
        total = total + special("gammaln", input - i / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def _mvlgamma_slope(input: Any, p: int) -> Any:
    slope = digamma(input)
    for i in range(1, p):
        slope = slope + digamma(input - i / 2)
    return slope


@elementwise(
    input=lambda g: not_implemented("zeta"),
    other=lambda g, input, other: g * -input * zeta(input + 1, other),
    result="float",
    dtypes="biF",
    name="special_zeta",
    cost="dear",
)
def zeta(input: Array, other: Array) -> Any:
    """The Hurwitz zeta function: the sum of `(k + other) ** -input` over k from 0.

    Raises:
        NotImplementedError: in backward, if the gradient of `input` is needed; it is that of `other` only.

    Example::

        >>> import gradpack as torch
        >>> torch.special.zeta(torch.tensor([2.0, 4.0]), 1)
        tensor([1.6449, 1.0823])
    """
    return special("zeta", input, other)


@elementwise(input=lambda g, input: g * digamma(input), result="float", dtypes="bif", cost="dear")
def lgamma(input: Array) -> Any:
    """The logarithm of the absolute value of the gamma function. Needs SciPy (the extra `special`).

    Example::

        >>> import gradpack as torch
        >>> torch.lgamma(torch.tensor([1.0, 4.0]))
        tensor([0.0000, 1.7918])
    """
    return lgamma_of(input, _log_gamma)


_LEAST = {char: np.array(np.finfo(char).min, char) for char in "fd"}


def _log_gamma(x: Any) -> Any:
    if is_numpy(x) and x.size <= FEW and x.dtype.char in "fd":
        try:
            return one_by_one(math.lgamma, x)
        except ValueError:  # `math.lgamma` raises at poles
            pass
    if is_numpy(x) and x.dtype.char in "fd":  # SciPy has -inf at -inf, and inf at the least number
        return special("gammaln", np.maximum(x, _LEAST[x.dtype.char]))
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
    made = special("psi", x)
    return made if is_numpy(x) else np.where(x == 0, np.copysign(np.inf, -x), made)


@elementwise(input=lambda g, n, input: g * polygamma(n + 1, input), result="float", dtypes="bif", cost="dear")
def polygamma(n: int, input: Array) -> Any:
    """The n-th derivative of `digamma`. Needs SciPy (the extra `special`).

    Args:
        n: the order of the derivative: 0 for `digamma` itself.

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
    if is_numpy(x) and not low.any():
        return zeta_two_of(x, lambda y: special("zeta", 2, y))
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
    """The n-th derivative of `digamma` at the elements of this tensor.

    Args:
        n: the order of the derivative: 0 for `digamma` itself.
    """
    return polygamma(n, self)
