"""Exponentials, logarithms, powers, and the functions made of them."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from ...backends import backend_of
from ...base import late
from ...base.errors import missing_extra
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ..special.large_arrays import erfinv_of
from .blockwise import MINUS_LOG2_E, SHORT_EXP2, is_numpy
from .error_function import erf_of, erfc_of
from .operands import LARGE, is_complex, is_number, limit

FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 sqrt rsqrt sigmoid logit xlogy erf erfc erfinv"
METHODS = FUNCTIONS
INPLACE = "exp_ exp2_ expm1_ log_ log2_ log10_ log1p_ sqrt_ rsqrt_ sigmoid_ logit_ xlogy_ erf_ erfc_ erfinv_"

_LN2, _LN10 = math.log(2), math.log(10)
_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)

_real = partial(elementwise, result="float", dtypes="bif")


@elementwise(input=lambda g, out: g * out, result="float", refuses="complex32", ufunc=np.exp)
def exp(input: Array) -> Any:
    """e to the power of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.exp(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
    """
    return np.exp(input)


@elementwise(input=lambda g, out: g * (out * _LN2), result="float", refuses="complex32")
def exp2(input: Array) -> Any:
    """2 to the power of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.exp2(torch.tensor([0.0, 3.0]))
        tensor([1., 8.])
    """
    return np.exp2(input)


@elementwise(input=lambda g, out: g * (out + 1), result="float", refuses="complex32")
def expm1(input: Array) -> Any:
    """`exp(input) - 1`, precise near 0.

    Example::

        >>> import gradpack as torch
        >>> torch.expm1(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 1.7183])
    """
    return np.expm1(input)


@elementwise(input=lambda g, input: g / input, result="float", refuses="complex32", ufunc=np.log)
def log(input: Array) -> Any:
    """The natural logarithm: -inf at 0, NaN below.

    Example::

        >>> import gradpack as torch
        >>> torch.log(torch.tensor([1.0, 2.0]))
        tensor([0.0000, 0.6931])
    """
    return np.log(input)


@elementwise(input=lambda g, input: g / (input * _LN2), result="float", refuses="complex32")
def log2(input: Array) -> Any:
    """The logarithm to base 2.

    Example::

        >>> import gradpack as torch
        >>> torch.log2(torch.tensor([1.0, 8.0]))
        tensor([0., 3.])
    """
    return np.log2(input)


@elementwise(input=lambda g, input: g / (input * _LN10), result="float", refuses="complex32")
def log10(input: Array) -> Any:
    """The logarithm to base 10.

    Example::

        >>> import gradpack as torch
        >>> torch.log10(torch.tensor([1.0, 50.0]))
        tensor([0.0000, 1.6990])
    """
    return np.log10(input)


@elementwise(input=lambda g, input: g / (input + 1), result="float", node="Log1PBackward0", refuses="complex32")
def log1p(input: Array) -> Any:
    """`log(1 + input)`, precise near 0.

    Example::

        >>> import gradpack as torch
        >>> torch.log1p(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.6931])
    """
    return _log1p_of_complex(input) if is_complex(input) else np.log1p(input)


def _log1p_of_complex(z: Any) -> Any:
    """With the real part of `|1 + z| ** 2 - 1` near 0, where adding 1 would lose it."""
    x, y = np.real(z), np.imag(z)
    over = x * (2 + x) + y * y
    near = np.where(over == 0, x, np.log1p(over) / 2)
    size = np.where(np.abs(z) < 0.5, near, np.log(np.hypot(1 + x, y)))
    return late.of_parts(size, np.arctan2(y, 1 + x))


@elementwise(
    input=lambda g, input, other: g / (exp(other - input) + 1),
    other=lambda g, input, other: g / (exp(input - other) + 1),
    scalars=False,
    dtypes="fc",
    refuses="complex32",
)
def logaddexp(input: Array, other: Array) -> Any:
    """`log(exp(input) + exp(other))`, without overflow.

    Example::

        >>> import gradpack as torch
        >>> torch.logaddexp(torch.tensor([0.0, 1000.0]), torch.tensor([0.0, 0.0]))
        tensor([6.9315e-01, 1.0000e+03])
    """
    if is_complex(input):
        larger: Any = np.where(np.real(input) < np.real(other), other, input)
        smaller: Any = np.where(np.real(input) < np.real(other), input, other)
        return larger + np.log1p(np.exp(smaller - larger))
    larger = np.maximum(input, other)
    gap = np.minimum(input, other) - larger
    # 0 between equal infinities, too
    gap = np.fmin(gap, 0.0) if input.size < LARGE and is_numpy(input) else np.where(input == other, 0.0, gap)
    return larger + np.log1p(np.exp(gap))


@elementwise(
    input=lambda g, input, other: g / (exp2(other - input) + 1),
    other=lambda g, input, other: g / (exp2(input - other) + 1),
    scalars=False,
    dtypes="f",
)
def logaddexp2(input: Array, other: Array) -> Any:
    """`log2(2 ** input + 2 ** other)`, without overflow.

    Example::

        >>> import gradpack as torch
        >>> torch.logaddexp2(torch.tensor([1.0]), torch.tensor([1.0]))
        tensor([2.])
    """
    return np.logaddexp2(input, other)


@elementwise(input=lambda g, out: g / (out * 2), result="float", refuses="complex32", ufunc=np.sqrt)
def sqrt(input: Array) -> Any:
    """The square root: NaN below 0.

    Example::

        >>> import gradpack as torch
        >>> torch.sqrt(torch.tensor([4.0, 2.0]))
        tensor([2.0000, 1.4142])
    """
    return np.sqrt(input)


@elementwise(input=lambda g, out: g * (out * out * out * -0.5), result="float", refuses="complex32")
def rsqrt(input: Array) -> Any:
    """`1 / sqrt(input)`.

    Example::

        >>> import gradpack as torch
        >>> torch.rsqrt(torch.tensor([4.0, 16.0]))
        tensor([0.5000, 0.2500])
    """
    return 1 / np.sqrt(input)


@elementwise(input=lambda g, out: g * ((1 - out) * out), result="float", refuses="complex32")
def sigmoid(input: Array) -> Any:
    """`1 / (1 + exp(-input))`.

    Example::

        >>> import gradpack as torch
        >>> torch.sigmoid(torch.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """
    return 1 / ((np.exp2(input * MINUS_LOG2_E) if SHORT_EXP2 and input.dtype == np.float32 else np.exp(-input)) + 1)


def _logit_slope(g: Any, input: Any, eps: float | None) -> Any:
    if eps is None:
        return g / late.square(sqrt(input * (1 - input)))  # NaN outside of [0, 1], +inf at -0.0 as well
    outside = late.logical_or(late.lt(input, eps), late.gt(input, 1 - eps))
    return late.where(outside, 0.0, g / (late.abs(input) * (1 - input)))


@_real(input=_logit_slope)
def logit(input: Array, eps: float | None = None) -> Any:
    """`log(input / (1 - input))`, the inverse of `sigmoid`.

    Args:
        eps: `input` is first clamped to `[eps, 1 - eps]`; without it, there is NaN outside of [0, 1].

    Example::

        >>> import gradpack as torch
        >>> torch.logit(torch.tensor([0.5, 0.0]), eps=1e-3)
        tensor([ 0.0000, -6.9068])
    """
    if eps is None:
        return np.log(input / (1 - input))
    x = limit(input, eps, 1 - eps)
    return np.log(x / (1 - x))


@_real(input=lambda g, input, other: g * _log_or_zero(input, other), other=lambda g, input, other: g * input / other)
def xlogy(input: Array, other: Array) -> Any:
    """`input * log(other)`, and 0 where `input` is 0 unless `other` is NaN.

    Example::

        >>> import gradpack as torch
        >>> torch.xlogy(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 1.0]))
        tensor([0., 0.])
    """
    if is_number(other):
        other = np.full((), other, dtype=input.dtype)
    return np.where((input == 0) & (other == other), 0.0, input * np.log(other))  # noqa: PLR0124 - not NaN


def _log_or_zero(input: Any, other: Any) -> Any:
    """`log(other)`; 0 where both it and `input` would make NaN of an infinity."""
    if isinstance(other, int | float):
        slope = math.log(other) if other > 0 else -math.inf if other == 0 else math.nan
        return late.where(late.eq(input, 0), 0.0, slope) if other <= 0 else slope
    return late.where(late.logical_and(late.eq(input, 0), late.le(other, 0)), 0.0, log(other))


@_real(input=lambda g, input: g * (exp(-(input * input)) * _TWO_OVER_SQRT_PI))
def erf(input: Array) -> Any:
    """The error function: the integral of `2 / sqrt(pi) * exp(-t * t)` from 0 to `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.erf(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8427])
    """
    return erf_of(input)


@_real(input=lambda g, input: g * (exp(-(input * input)) * -_TWO_OVER_SQRT_PI))
def erfc(input: Array) -> Any:
    """`1 - erf(input)`, precise where that is tiny.

    Example::

        >>> import gradpack as torch
        >>> torch.erfc(torch.tensor([0.0, 5.0]))
        tensor([1.0000e+00, 1.5375e-12])
    """
    return erfc_of(input)


@_real(input=lambda g, input: g * (exp(late.square(erfinv(input))) / _TWO_OVER_SQRT_PI), cost="dear")
def erfinv(input: Array) -> Any:
    """The inverse of `erf`. Needs SciPy (the extra `special`).

    Example::

        >>> import gradpack as torch
        >>> torch.erfinv(torch.tensor([0.0, 0.5]))
        tensor([0.0000, 0.4769])
    """
    return erfinv_of(input, lambda x: special("erfinv", x))


def special(name: str, *operands: Any) -> Any:
    """A function of scipy.special; arrays of libraries that have none go through the host.

    Raises:
        ImportError: if SciPy is not installed; it names the extra.
    """
    all_numpy: bool = all(map(is_numpy, operands))  # so annotated, it is not read as a step of a loop
    if all_numpy:
        return np.asarray(_of_scipy(name)(*operands))
    own = getattr(getattr(np, "special", None), name, None)
    if own is not None:
        return own(*operands)
    function = _of_scipy(name)
    backends = [backend_of(type(x)) for x in operands]
    host = [x if b is None else b.to_numpy(x) for x, b in zip(operands, backends, strict=True)]
    return np.asarray(function(*host))


@cache
def _of_scipy(name: str) -> Any:
    try:
        import scipy.special
    except ImportError:
        raise missing_extra(f"{name}()", "SciPy", "special") from None
    return getattr(scipy.special, name)
