"""Special functions for likelihoods: the normal distribution, entropies, and products with logarithms."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.dispatch.out_argument import put
from ...declare.inplace.write_checks import refuse_grad
from ..pointwise.exponential import special
from ..pointwise.operands import is_number

FUNCTIONS = ""

_ROOT_HALF = math.sqrt(0.5)
_special = partial(elementwise, result="float", dtypes="biF", cost="dear")


def ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """The cumulative distribution function of the standard normal distribution.

    Example::

        >>> import gradpack as torch
        >>> torch.special.ndtr(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([0.1587, 0.5000, 0.8413])
    """
    made = (late.erf(input * _ROOT_HALF) + 1) * 0.5
    if out is None:
        return made
    refuse_grad("special_ndtr", input, out)
    put("special_ndtr", out, made)
    result: Tensor = out
    return result


@_special(input=lambda g, out: g * (late.exp(out * out * 0.5) * math.sqrt(2 * math.pi)), name="special_ndtri")
def ndtri(input: Array) -> Any:
    """The quantile function of the standard normal distribution, the inverse of `ndtr`. Needs SciPy.

    Example::

        >>> import gradpack as torch
        >>> torch.special.ndtri(torch.tensor([0.0, 0.5, 0.9]))
        tensor([  -inf, 0.0000, 1.2816])
    """
    return special("ndtri", input)


@_special(input=lambda g, input: g / erfcx(input * -_ROOT_HALF) * math.sqrt(2 / math.pi), name="special_log_ndtr")
def log_ndtr(input: Array) -> Any:
    """The logarithm of `ndtr(input)`, precise where that is tiny. Needs SciPy.

    Example::

        >>> import gradpack as torch
        >>> torch.special.log_ndtr(torch.tensor([-10.0, 0.0]))
        tensor([-53.2313,  -0.6931])
    """
    return special("log_ndtr", input)


@_special(input=lambda g, input, out: g * (input * out * 2 - 2 / math.sqrt(math.pi)), name="special_erfcx")
def erfcx(input: Array) -> Any:
    """`exp(input * input) * erfc(input)`, without overflow. Needs SciPy.

    Example::

        >>> import gradpack as torch
        >>> torch.special.erfcx(torch.tensor([0.0, 10.0]))
        tensor([1.0000, 0.0561])
    """
    return special("erfcx", input)


@elementwise(input=lambda g, input: g * (-1 - late.log(input)), result="float", dtypes="bif", name="special_entr")
def entr(input: Array) -> Any:
    """The term of an entropy: `-input * log(input)`, 0 at 0 and -inf below.

    Example::

        >>> import gradpack as torch
        >>> torch.special.entr(torch.tensor([-0.5, 0.0, 0.5]))
        tensor([  -inf, 0.0000, 0.3466])
    """
    inside = 0 - input * np.log(np.where(input == 0, 1, input))  # NaN for NaN
    return np.where(input < 0, -np.inf, inside)


@elementwise(
    input=lambda g, input, other: g * _log1p_or_zero(input, other),
    other=lambda g, input, other: g * input / (other + 1),
    result="float",
    dtypes="bif",
    name="special_xlog1py",
    node="SpecialXlog1PyBackward0",
)
def xlog1py(input: Array, other: Array) -> Any:
    """`input * log1p(other)`, and 0 where `input` is 0 unless `other` is NaN.

    Example::

        >>> import gradpack as torch
        >>> torch.special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 1.0]))
        tensor([0.0000, 1.3863])
    """
    if is_number(other):
        other = np.full((), other, dtype=input.dtype)
    return np.where((input == 0) & (other == other), 0.0, input * np.log1p(other))  # noqa: PLR0124 - not NaN


def _log1p_or_zero(input: Any, other: Any) -> Any:
    """`log1p(other)`; 0 where both it and `input` would make NaN of an infinity."""
    if isinstance(other, int | float):
        slope = math.log1p(other) if other > -1 else -math.inf if other == -1 else math.nan
        return late.where(late.eq(input, 0), 0.0, slope) if other <= -1 else slope
    return late.where(late.logical_and(late.eq(input, 0), late.le(other, -1)), 0.0, late.log1p(other))
