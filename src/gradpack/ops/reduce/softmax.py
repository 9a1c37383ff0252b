"""Softmax, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array, Dim
from ...declare.decorators import general
from ...kernels.dispatch import accelerated
from .dimensions import axes, axis, count, dropped, kept, numpy_names, restored
from .kernels import SMALL, _add, _array_type, _maximum, add_up, exp_into, float_kind, largest, ones_column
from .reduce import converted

FUNCTIONS = METHODS = "softmax log_softmax logsumexp"

# Rows with a maximum up to _HIGH and a sum of exponentials from _LOW on need no shift: exp neither
# overflows nor loses digits. Most arrays are such, and finding the maximum of each row is slow.
_HIGH, _LOW = 60.0, 1e-3
_SHORT = 256  # elements: below this the plain form is as fast


def _exponentials(input: Any, over: Any) -> Any:
    """`exp(input)` and its sums, if no shift by the maximum is needed; else None."""
    if (
        type(input) is _array_type
        and input.size >= _SHORT
        and input.dtype.char in "fd"
        and _maximum(input, None) <= _HIGH
    ):
        powers = np.exp(input)
        total = add_up(powers, over, True)
        if total.min() >= _LOW:
            return powers, total
    return None


def _is_short(input: Any) -> bool:
    """Whether an array is so small that the checks for fast paths would take longer than they save."""
    return type(input) is _array_type and 0 < input.size < _SHORT and input.ndim > 0


def _is_moderate(x: Any, bound: float) -> bool:
    """Whether an array is a small one of float32, all of whose elements are smaller than the root of `bound`."""
    if type(x) is not _array_type or x.dtype.char != "f" or not 0 < x.size < SMALL or not x.ndim:
        return False
    flat = x.reshape(-1)
    return bool(flat.dot(flat) < bound)


def _sum_of_few(x: Any, dim: int) -> Any:
    """The sum of a small array along a dimension, with `keepdim`."""
    if x.ndim > 1 and dim in (-1, x.ndim - 1) and x.dtype.char in "fd":
        return x.dot(ones_column(x.shape[-1], x.dtype))
    return _add(x, dim, None, None, True)


def _place(input: Any, dim: Any) -> Any:
    """The dimension, as a reduction takes it; None for a 0-dim array."""
    place = axis(dim, len(input.shape))
    return place if len(input.shape) else None


_normalization = partial(general, dtypes="f", contiguous=True, cost="cheap", overlap="read_first")


@_normalization(input=lambda g, out, dim: _softmax_slope(g, out, dim), name="softmax", node="SoftmaxBackward0")
def _softmax(input: Array, dim: int) -> Any:
    """`exp(input) / sum(exp(input))` along a dimension."""
    if _is_moderate(input, 80**2):  # no shift is needed; few are computed in float64, so that equal ones are exact
        out = np.exp(input if input.size >= _SHORT else input.astype(np.float64))
        out /= _sum_of_few(out, dim)
        return out if out.dtype is input.dtype else out.astype(np.float32)
    if _is_short(input):
        out = np.exp(input - _maximum(input, dim, None, None, True))
        out /= _sum_of_few(out, dim)
        return out
    over = _place(input, dim)
    if not input.size:
        return np.asarray(input, copy=True)
    return softmax_along(input, over)


@accelerated
def softmax_along(input: Any, over: Any) -> Any:
    """`_softmax` of what is not empty."""
    found = _exponentials(input, over)
    if found is None:
        out = exp_into(input - largest(input, over, True))
        total = add_up(out, over, True)
    else:
        out, total = found
    out /= total
    return out


def _softmax_slope(g: Any, out: Any, dim: int) -> Any:
    if type(g) is not _array_type or not g.ndim:
        return (g - late.sum(g * out, dim, True)) * out
    return softmax_slope(g, out, dim)


@accelerated
def softmax_slope(g: Any, out: Any, dim: int) -> Any:
    """`(g - sum(g * out)) * out`, in little memory."""
    if dim in (-1, g.ndim - 1):
        slope = g - np.vecdot(g, out)[..., None]
    else:
        slope = g * out
        np.subtract(g, add_up(slope, dim, True), out=slope)
    slope *= out
    return slope


@_normalization(
    input=lambda g, out, dim: _log_softmax_slope(g, out, dim), name="log_softmax", node="LogSoftmaxBackward0"
)
def _log_softmax(input: Array, dim: int) -> Any:
    """`input - log(sum(exp(input)))` along a dimension."""
    if _is_moderate(input, 700**2):  # in float64, where nothing is lost without a shift
        wide = input.astype(np.float64)
        wide -= np.log(_sum_of_few(np.exp(wide), dim))
        return wide.astype(np.float32)
    if _is_short(input):
        out = input - _maximum(input, dim, None, None, True)
        out -= np.log(_sum_of_few(np.exp(out), dim))
        return out
    over = _place(input, dim)
    if not input.size:
        return np.asarray(input, copy=True)
    return log_softmax_along(input, over)


@accelerated
def log_softmax_along(input: Any, over: Any) -> Any:
    """`_log_softmax` of what is not empty."""
    found = _exponentials(input, over)
    if found is None:
        out = input - largest(input, over, True)
        out -= np.log(add_up(np.exp(out), over, True))
        return out
    # Unshifted, the logarithm of the sum is rounded where the result may be near 0: it is taken
    # off in two parts, the second one being what rounding the first left.
    exact = np.log(found[1], dtype=np.float64)
    rounded = exact.astype(input.dtype)
    out = np.subtract(input, rounded, out=found[0])
    if out.dtype != np.float64:
        out -= (exact - rounded).astype(out.dtype)
    return out


def _log_softmax_slope(g: Any, out: Any, dim: int) -> Any:
    if type(g) is not _array_type or not g.ndim:
        return g - late.exp(out) * late.sum(g, dim, True)
    return log_softmax_slope(g, out, dim)


@accelerated
def log_softmax_slope(g: Any, out: Any, dim: int) -> Any:
    """`g - exp(out) * sum(g)`, in little memory."""
    slope = np.exp(out)
    slope *= _sum_of_few(g, dim) if g.size < SMALL else add_up(g, dim, True)
    return np.subtract(g, slope, out=slope)


def softmax(input: Any, dim: Any = None, dtype: Any = None, *, out: Any = None) -> Any:
    """`exp(input) / sum(exp(input))` along a dimension: positive numbers that sum to 1.

    Args:
        dim: the dimension along which the exponentials are summed; negative ones count from the last.
        dtype: convert `input` to this dtype before.

    Raises:
        RuntimeError: for integers, bool and complex numbers (NotImplementedError).
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.softmax(torch.tensor([0.0, 0.0, 0.0, 0.0]), 0)
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return _called(_softmax, "softmax", input, dim, dtype, out)


def log_softmax(input: Any, dim: Any = None, dtype: Any = None, *, out: Any = None) -> Any:
    """`log(softmax(input))` along a dimension, computed so that nothing overflows or is lost.

    Args:
        dim: the dimension along which the exponentials are summed; negative ones count from the last.
        dtype: convert `input` to this dtype before.

    Raises:
        RuntimeError: for integers, bool and complex numbers (NotImplementedError).
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.log_softmax(torch.tensor([0.0, 0.0, 0.0, 0.0]), 0)
        tensor([-1.3863, -1.3863, -1.3863, -1.3863])
    """
    return _called(_log_softmax, "log_softmax", input, dim, dtype, out)


def _called(op: Any, name: str, input: Any, dim: Any, dtype: Any, out: Any) -> Any:
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
    if dtype is not None:
        input = converted(input, dtype)
    return op(input, dim) if out is None else op(input, dim, out=out)


# -- log(sum(exp)) --


@numpy_names
@general(
    input=lambda g, input, out, dim, keepdim: (
        restored(g, input.shape, dim, keepdim) * late.exp(input - restored(out, input.shape, dim, keepdim))
    ),
    result="float",
    contiguous=True,
    refuses="complex32",
    overlap="read_first",
    saved_as="dim=(dim) keepdim result self",
)
def logsumexp(input: Array, dim: Dim, keepdim: bool = False) -> Any:
    """`log(sum(exp(input)))` over one or several dimensions, without overflow.

    Args:
        dim: an int or a tuple of ints.
        keepdim: keep the dimensions reduced, with size 1.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.logsumexp(torch.tensor([1000.0, 1000.0]), 0)
        tensor(1000.6932)
    """
    over, shape = axes(dim, len(input.shape)), kept(input.shape, dim)
    if not count(input.shape, dim) or not input.size:
        out = np.full(shape, -np.inf, dtype=input.dtype)
    elif (found := _exponentials(input, over)) is not None:
        out = np.log(found[1])
    else:
        top = largest(np.real(input) if float_kind(input) == "c" else input, over, True)
        top = np.where(np.isfinite(top), top, np.zeros_like(top))
        out = np.log(add_up(exp_into(input - top), over, True)) + top
    return out if keepdim else np.reshape(out, dropped(input.shape, dim))
