"""Activation functions."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...base.errors import scalar_type
from ...base.info import finfo
from ...core.tensor import Tensor
from ...declare.annotations import Array, Number
from ...declare.decorators import elementwise
from .blockwise import MINUS_LOG2_E, SHORT_EXP2
from .operands import LARGE, limit, select

FUNCTIONS = "relu selu celu threshold hardshrink"
METHODS = "relu hardshrink"
INPLACE = "relu_"


# Functions of straight parts: the gradient compares the input, and its own derivative is 0.
_stepwise = partial(elementwise, dtypes="f", flat=True, compares=True)
_thresholded = partial(elementwise, dtypes="if", flat="ThresholdBackwardBackward0", refuses="unsigned")


@elementwise(grad=lambda g: g, input=lambda g: late.zeros_as(g, tuple(g.shape)), dtypes="fc")
def _flat_gradient(grad: Array, input: Array) -> Any:
    """Return `grad`; the derivative by `input` is 0: for slopes that are piecewise constant in `input`."""
    return np.where(True, grad, input)


def _relu_into(x: Any, out: Any) -> Any:
    """relu; NumPy's maximum of a large array and a number takes three times as long as its clip."""
    return np.maximum(x, 0, out=out) if x.size < 4096 else np.clip(x, 0, np.inf, out=out)


@_thresholded(input=lambda g, out: late.where(out <= 0, 0.0, g), warns=False, ufunc=_relu_into)
def relu(input: Array) -> Any:
    """`max(input, 0)`. Keeps its result for backward, which the next layer keeps anyway.

    Example::

        >>> import gradpack as torch
        >>> torch.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return np.maximum(input, 0) if input.size < LARGE else limit(input, 0, None)


_LOG2_E = math.log2(math.e)
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
_SELU_BELOW, _INF = SELU_ALPHA * SELU_SCALE, math.inf


@elementwise(input=lambda g, input: g * _silu_slope(input), dtypes="fc", refuses="complex32")
def silu(input: Array) -> Any:
    """`input * sigmoid(input)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.silu(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7311])
    """
    return input / ((np.exp2(input * MINUS_LOG2_E) if SHORT_EXP2 and input.dtype == np.float32 else np.exp(-input)) + 1)


def _silu_slope(input: Any) -> Any:
    s = late.sigmoid(input)
    return s * (input * (1 - s) + 1)


@elementwise(input=lambda g, input, beta, threshold: g * _softplus_slope(input, beta, threshold), dtypes="f")
def softplus(input: Array, beta: Any = 1, threshold: Any = 20) -> Any:
    """`log(1 + exp(beta * input)) / beta`, and `input` itself above the threshold.

    Args:
        beta: how sharply the function bends: it approaches `relu` for large numbers.
        threshold: above this value of `beta * input` the result is `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.softplus(torch.tensor([0.0]))
        tensor([0.6931])
    """
    return (
        np.maximum(np.log1p(np.exp(np.clip(input, -_INF, threshold))), input)
        if beta == 1 and threshold >= 17 and input.dtype == np.float32  # there, both are the same above the threshold
        else _softplus(input, beta, threshold)
    )


def _softplus(input: Any, beta: Any, threshold: Any) -> Any:
    scaled = input * beta
    return select(scaled > threshold, input, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def _softplus_slope(input: Any, beta: Any, threshold: Any) -> Any:
    scaled = input * beta
    if threshold >= 17 and input.dtype == np.float32:  # in float32 the sigmoid is 1 above 17
        return late.sigmoid(scaled)
    return late.where(scaled > threshold, 1.0, late.sigmoid(scaled))


@_stepwise(input=lambda g, input, negative_slope: late.where(input > 0, g, g * negative_slope))
def leaky_relu(input: Array, negative_slope: float = 0.01) -> Any:
    """`input`, and `negative_slope * input` below zero.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 1.0]))
        tensor([-0.0100,  1.0000])
    """
    return (
        np.maximum(input, input * negative_slope)
        if 0 <= negative_slope <= 1
        else select(input > 0, input, input * negative_slope)
    )


def _elu_body(input: Array, alpha: Any = 1.0, scale: Any = 1.0, input_scale: Any = 1.0) -> Any:
    """`scale * input` above zero, `scale * alpha * (exp(input_scale * input) - 1)` below."""
    return (
        np.maximum(input, np.expm1(np.clip(input, -_INF, 0)))  # which is not below its argument
        if alpha == scale == input_scale == 1
        else np.clip(input, 0, _INF) * SELU_SCALE + np.expm1(np.clip(input, -_INF, 0)) * _SELU_BELOW
        if input_scale == 1 and scale == SELU_SCALE and alpha == SELU_ALPHA
        else np.clip(input, 0, _INF) * scale + np.expm1(np.clip(input, -_INF, 0) * input_scale) * (alpha * scale)
    )


def _elu_gradient(g: Any, input: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    return g * _elu_slope(input, alpha, scale, input_scale)


def _declare_elu(name: str) -> Any:
    return elementwise(input=_elu_gradient, dtypes="f", name=name, node=f"{name.strip('_').capitalize()}Backward0")(
        _elu_body
    )


_elu, _celu = _declare_elu("_elu"), _declare_elu("_celu")


def _elu_slope(input: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    factor = alpha * scale * input_scale
    below = _exp_below_zero(input, input_scale)
    below = below if factor == 1 else below * factor
    return below if factor == scale else late.where(input > 0, float(scale), below)


def _exp_below_zero(x: Any, factor: float) -> Any:
    """exp(factor * min(x, 0)), whose derivative at 0 is 0."""
    if isinstance(x, Tensor):
        return late.exp(late.where(x >= 0, 0.0, x) * factor)
    x = late.clamp_max(x, 0.0)
    return np.exp2(x * (factor * _LOG2_E)) if SHORT_EXP2 and x.dtype == np.float32 else np.exp(x * factor)


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`input` above zero, `alpha * (exp(input) - 1)` below.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.elu(torch.tensor([-1.0, 1.0]))
        tensor([-0.6321,  1.0000])
    """
    return _elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`max(0, input) + min(0, alpha * (exp(input / alpha) - 1))`.

    Args:
        alpha: the result approaches `-alpha` for large negative elements; not 0.

    Example::

        >>> import gradpack as torch
        >>> torch.celu(torch.tensor([-1.0, 1.0]))
        tensor([-0.6321,  1.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _celu(input, alpha, 1.0, 1.0 / alpha)


def selu(input: Tensor) -> Tensor:
    """The self-normalising elu (arXiv 1706.02515).

    Example::

        >>> import gradpack as torch
        >>> torch.selu(torch.tensor([1.0]))
        tensor([1.0507])
    """
    return _elu(input, SELU_ALPHA, SELU_SCALE)


@elementwise(
    input=lambda g, input: g * late.sigmoid(-input),
    node="LogSigmoidBackward0",
    dtypes="f",
    contiguous=True,
    overlap="read_first",
)
def logsigmoid(input: Array) -> Any:
    """`log(sigmoid(input))`, without overflow.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.logsigmoid(torch.tensor([0.0]))
        tensor([-0.6931])
    """
    return np.minimum(input, 0) - np.log1p(np.exp(-np.abs(input)))


@elementwise(input=lambda g, input: g * _mish_slope(input), dtypes="f")
def mish(input: Array) -> Any:
    """`input * tanh(softplus(input))`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.mish(torch.tensor([1.0]))
        tensor([0.8651])
    """
    e = np.exp(np.minimum(input, 20.0))  # above, the quotient is 1; tanh(log(1 + e)) is n / (n + 2)
    n = e * (e + 2)
    return input * (n / (n + 2))


def _mish_slope(input: Any) -> Any:
    e = late.exp(late.where(input > 20, 20.0, input))
    n = e * (e + 2)
    t = n / (n + 2)
    return t + input * (e / (e + 1)) * (1 - t * t)


@_stepwise(
    input=lambda g, input, min_val, max_val: late.where((input <= min_val) | (input >= max_val), 0.0, g),
    dtypes="if",
    refuses="unsigned",
)
def hardtanh(input: Array, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """`input` limited to an interval.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hardtanh(torch.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    return np.clip(input, min_val, max_val) if input.size < LARGE else limit(input, min_val, max_val)


@_stepwise(input=lambda g, input: late.where((input > -3) & (input < 3), g * (1 / 6), 0.0))
def hardsigmoid(input: Array) -> Any:
    """`relu6(input + 3) / 6`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hardsigmoid(torch.tensor([0.0]))
        tensor([0.5000])
    """
    return np.clip(input * (1 / 6) + 0.5, 0.0, 1.0)


@elementwise(input=lambda g, input: g * _hardswish_slope(input), dtypes="f", compares=True)
def hardswish(input: Array) -> Any:
    """`input * relu6(input + 3) / 6`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hardswish(torch.tensor([3.0]))
        tensor([3.])
    """
    return input * np.clip(input + 3.0, 0.0, 6.0) * (1 / 6)  # `input + 3.0` is exact near -3


def _hardswish_slope(input: Any) -> Any:
    """`input / 3 + 1 / 2` between -3 and 3, 0 below and 1 above."""
    if isinstance(input, Tensor):
        return late.where(input <= -3, 0.0, late.where(input < 3, input / 3 + 0.5, 1.0))
    inner = np.clip(input / 3, -1.0, 1.0)
    return inner - np.trunc(inner) * 0.5 + 0.5  # the quotient is below 1 wherever the input is below 3


def softsign(input: Tensor) -> Tensor:
    """`input / (1 + |input|)`.

    Args:
        input: the tensor; integers give floating point numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.softsign(torch.tensor([-3.0, 0.0, 1.0]))
        tensor([-0.7500,  0.0000,  0.5000])
    """
    return input / (late.abs(input) + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """`input - tanh(input)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.tanhshrink(torch.tensor([-2.0, 0.0, 2.0]))
        tensor([-1.0360,  0.0000,  1.0360])
    """
    return input - late.tanh(input)


@_thresholded(input=lambda g, input, threshold: late.where(input <= threshold, 0.0, g), compares=True)
def threshold(input: Array, threshold: Number, value: Array) -> Any:
    """`input` above the threshold, `value` elsewhere; NaN stays.

    Args:
        threshold: the threshold.
        value: what replaces all that is not above it.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.threshold(torch.tensor([1.0, 3.0]), 2.0, -1.0)
        tensor([-1.,  3.])
    """
    return select(input <= threshold, value, input)


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Tensor:
    """`input` moved towards zero by `lambd`, zero within.

    Args:
        lambd: by how much; not negative.

    Raises:
        RuntimeError: for a negative `lambd`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.softshrink(torch.tensor([-2.0, 0.3, 2.0]), 0.5)
        tensor([-1.5000,  0.0000,  1.5000])
    """
    if not 0 <= lambd <= 3.4028234663852886e38:
        name, most = scalar_type(input._spec.dtype), finfo(input._spec.dtype).max
        raise RuntimeError(f"lambda must be in range [0, {most:g}] for input dtype {name}, but found {lambd}")
    made: Tensor = _softshrink(input, lambd) if out is None else _softshrink(input, lambd, out=out)
    return made


@_stepwise(
    input=lambda g, input, lambd: late.where(late.abs(input) <= lambd, 0.0, g), node="SoftshrinkBackward0", rounds=True
)
def _softshrink(input: Array, lambd: float = 0.5) -> Any:
    """`input` moved towards zero by `lambd`."""
    return input - np.clip(input, -lambd, lambd)


@_stepwise(input=lambda g, input, lambd: late.where(late.abs(input) <= lambd, 0.0, g), rounds=True)
def hardshrink(input: Array, lambd: float = 0.5) -> Any:
    """`input` where its absolute value exceeds `lambd`, else `0`.

    Args:
        lambd: the threshold.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hardshrink(torch.tensor([0.3, 1.0]))
        tensor([0., 1.])
    """
    return (
        np.where(np.abs(input) <= lambd, 0.0, input)
        if input.size < LARGE
        else select(np.abs(input) <= lambd, 0.0, input)
    )
