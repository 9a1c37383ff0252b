"""The gamma function's relatives: incomplete, of several variables, and zeta. They need SciPy (the extra `special`)."""

from __future__ import annotations

import math
from typing import Any

from ...base import late
from ...base.dtypes import BOOL
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ..pointwise.exponential import special
from ..pointwise.operands import not_implemented

FUNCTIONS = "igamma igammac mvlgamma"
METHODS = FUNCTIONS
INPLACE = "igamma_ igammac_ mvlgamma_"


@elementwise(
    input=lambda g: not_implemented("igamma: input"),
    other=lambda g, input, other: g * _density(input, other),
    dtypes="f",
    scalars=False,
    cost="dear",
)
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


@elementwise(
    input=lambda g: not_implemented("igammac: input"),
    other=lambda g, input, other: -(g * _density(input, other)),
    dtypes="f",
    scalars=False,
    cost="dear",
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
    return late.exp((input - 1) * late.log(other) - other - late.lgamma(input))


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
    slope = late.digamma(input)
    for i in range(1, p):
        slope = slope + late.digamma(input - i / 2)
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
