"""Variance and standard deviation."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim
from ...declare.decorators import general
from .dimensions import axes, check_floating, count, dropped, restored, spread_over
from .kernels import SMALL, _add, _array_type, add_up, averaging, float_kind, ones_column, reshaped, square_sum
from .reduce import checked

FUNCTIONS = "var std var_mean std_mean"
METHODS = "var std"


def _moments(name: str, input: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """The variance, and the mean; the variance of equal numbers is 0, whatever their mean is rounded to."""
    few = type(input) is _array_type and 0 < input.size < SMALL and input.dtype.char == "f"
    if few and (type(dim) is int or dim):  # of all elements, one dimension takes the least time
        return _of_few(input, dim, correction, keepdim)
    square, center = _in_two_passes(name, input, dim, correction, keepdim)
    if type(input) is not _array_type or input.dtype.char not in "fd" or not _is_rounding(input, square, center):
        return square, center
    over = axes(dim, input.ndim)
    some = over if isinstance(over, tuple) else (over,)
    each = range(input.ndim) if over is None else [d % input.ndim for d in some]
    first = input[tuple(slice(0, 1) if d in each else slice(None) for d in range(input.ndim))]
    square, center = _in_two_passes(name, input - first, dim, correction, keepdim)
    return square, center + first


def _of_few(input: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """`_moments` of a small array of float32, in float64: there the mean of equal numbers is that number."""
    over, wide = axes(dim, input.ndim), input.astype(np.float64)
    if over in (-1, input.ndim - 1):
        n = input.shape[-1]
        ones, rows = ones_column(n, wide.dtype), wide.reshape(-1, n)
        center = rows.dot(ones)
        center /= float(n)
        rows -= center
        total = np.square(rows, rows).dot(ones)
        total /= float(max(n - correction, 0))
        lead = (*input.shape[:-1], 1)
        made = lead if keepdim else lead[:-1]
        return total.astype(np.float32).reshape(made), center.astype(np.float32).reshape(lead)
    n = count(input.shape, dim)
    center = _add(wide, over, None, None, True)
    center /= float(n)
    wide -= center
    total = _add(np.square(wide, wide), over, None, None, keepdim) / max(n - correction, 0)
    return total.astype(np.float32), center.astype(np.float32)


def _is_rounding(input: Any, square: Any, center: Any) -> bool:
    """Whether a variance may be that of equal numbers, whose mean was rounded."""
    if square.size == 1:
        variance, mean = square.item(), center.item()
        if not 0 < variance <= 4e-6 * mean * mean:  # the usual case, for any number of elements
            return False
        deviation, size = math.sqrt(variance), abs(mean)
    else:
        deviation, size = np.sqrt(square.reshape(-1)), np.abs(center.reshape(-1))
    most = (4 * min(input.size // max(center.size, 1), 4096) + 64) * _EPSILON[center.dtype.char]
    return bool(np.any((deviation > 0) & (deviation <= size * most)))


_EPSILON = {"f": 2.0**-23, "d": 2.0**-52}


def _in_two_passes(name: str, input: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    if not float_kind(input):
        check_floating(name + " only support floating point and complex dtypes, not {}: convert the input", input)
    over, n = axes(dim, len(input.shape)), count(input.shape, dim)
    if type(input) is _array_type and input.size < SMALL and input.dtype.char in "fd" and n:
        if over is None or (type(over) is int and over in (-1, input.ndim - 1)):
            rows = input.reshape(-1, n)
            center = rows.dot(averaging(n, input.dtype))
            away = rows - center
            total = np.vecdot(away, away) / max(n - correction, 0)
            lead = (1,) * input.ndim if over is None else (*input.shape[:-1], 1)
            if keepdim:
                return total.reshape(lead), center.reshape(lead)
            return total.reshape(() if over is None else lead[:-1]), center.reshape(lead)
        center = _add(input, over, None, None, True) / n
        away = input - center
        away *= away
        return _add(away, over, None, None, keepdim) / max(n - correction, 0), center
    center = add_up(input, over, True) / n
    away = input - center
    if float_kind(input) == "c":
        total = square_sum(np.real(away), over, keepdim) + square_sum(np.imag(away), over, keepdim)
    else:
        total = square_sum(away, over, keepdim)
    return total / max(n - correction, 0), center


_deviation = partial(general, result="real", holomorphic=False, contiguous=True, overlap="read_first")
_with_mean = partial(general, result=None, holomorphic=False, contiguous=True, many=True)


@_deviation(
    input=lambda g, input, dim, correction, keepdim: _slope(g, input, dim, correction, keepdim),
    name="var",
    saved_as="correction dim=(dim) keepdim self",
)
def _var(input: Array, dim: Dim = None, correction: Any = 1, keepdim: bool = False) -> Any:
    """The variance."""
    return _moments("std and var", input, dim, correction, keepdim)[0]


@_deviation(
    input=lambda g, input, out, dim, correction, keepdim: _slope(
        _through_root(g, out), input, dim, correction, keepdim
    ),
    name="std",
    saved_as="correction dim=(dim) keepdim result self",
)
def _std(input: Array, dim: Dim = None, correction: Any = 1, keepdim: bool = False) -> Any:
    """The standard deviation."""
    return np.sqrt(_moments("std and var", input, dim, correction, keepdim)[0])


@_with_mean(
    input=lambda g, input, dim, correction, keepdim: _both_slopes(g[0], g[1], input, dim, correction, keepdim),
    name="var_mean",
    results=("var", "mean"),
    saved_as="correction dim=(dim) keepdim self",
)
def _var_mean(input: Array, dim: Dim = None, correction: Any = 1, keepdim: bool = False) -> Any:
    """The variance and the mean."""
    return _shaped(*_moments("var_mean", input, dim, correction, True), input.shape, dim, keepdim)


@_with_mean(
    input=lambda g, input, std, dim, correction, keepdim: _both_slopes(
        None if g[0] is None else _through_root(g[0], std), g[1], input, dim, correction, keepdim
    ),
    name="std_mean",
    results=("std", "mean"),
    saved_as="correction dim=(dim) keepdim result0=std self",
)
def _std_mean(input: Array, dim: Dim = None, correction: Any = 1, keepdim: bool = False) -> Any:
    """The standard deviation and the mean."""
    square, center = _moments("std_mean", input, dim, correction, True)
    return _shaped(np.sqrt(square), center, input.shape, dim, keepdim)


def _shaped(a: Any, b: Any, shape: Any, dim: Any, keepdim: bool) -> tuple[Any, Any]:
    if keepdim:
        return a, b
    short = dropped(shape, dim)
    return reshaped(a, short), reshaped(b, short)


def _slope(g: Any, input: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """`2 / (n - correction) * (input - mean) * g`. Without degrees of freedom, infinite or NaN."""
    free = count(input.shape, dim) - correction
    factor = 2 / free if free and (free > 0 or dim is not None) else math.inf
    center = late.mean(input, dim, True)
    return (input - center) * (restored(g, input.shape, dim, keepdim) * factor)


def _through_root(g: Any, out: Any) -> Any:
    """Convert the gradient of the standard deviation `out` to that of the variance; 0 where `out` is 0."""
    flat = late.eq(out, 0)
    return late.where(flat, 0.0, g / (late.where(flat, 1.0, out) * 2))


def _both_slopes(g: Any, mean_g: Any, input: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    total = None if g is None else _slope(g, input, dim, correction, keepdim)
    if mean_g is None:
        return total
    from_mean = spread_over(mean_g / (count(input.shape, dim) or 1), input.shape, dim, keepdim)
    return from_mean if total is None else total + from_mean


def _arguments(op: str, input: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> tuple[Any, Any]:
    """Resolve `dim` and `correction` from the call forms `var(False)`, `var(0, True)`, and keywords."""
    if type(dim) is bool:
        if unbiased is not None:
            raise TypeError(f"{op}(): argument 'dim' must be an int or a tuple of ints, not bool")
        dim, unbiased = None, dim
    dim = checked(op, dim, keepdim)
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{op}(): give either correction or unbiased, which means correction=1, not both")
        if type(unbiased) is not bool:
            raise TypeError(f"{op}(): argument 'unbiased' must be bool, not {type(unbiased).__name__}")
        correction = int(unbiased)
    elif correction is None:
        correction = 1
    if isinstance(input, Tensor):
        n = count(input._shape, dim)
        if n <= correction and count(dropped(input._shape, dim)):
            warnings.warn(
                f"{op}(): degrees of freedom is <= 0. Correction should be strictly less than the number of elements "
                f"in each group: {n} here, and correction={correction}.",
                UserWarning,
                stacklevel=depth_of_user(),
            )
    return dim, correction


def var(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, out: Any = None
) -> Any:
    """The variance: squared distances from the mean, summed and divided by `n - correction`.

    Args:
        dim: an int or a tuple of ints; None or () for all.
        unbiased: the older form of `correction`: True for 1 (the default), False for 0.
        keepdim: keep the dimensions reduced, with size 1.
        correction: what is subtracted from the number of elements.

    Raises:
        RuntimeError: for integers and bool.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 3.0], [2.0, 6.0]])
        >>> torch.var(x, 1), torch.var(x, correction=0)
        (tensor([2., 8.]), tensor(3.5000))
    """
    return _call(_var, "var", input, dim, unbiased, keepdim, correction, out)


def std(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, out: Any = None
) -> Any:
    """The standard deviation: the root of `var`. Its gradient is 0 where it is 0.

    Args:
        dim: an int or a tuple of ints; None or () for all dimensions.
        unbiased: the older form of `correction`: True for 1 (the default), False for 0.
        keepdim: keep the dimensions reduced, with size 1.
        correction: what is subtracted from the number of elements: 1 unless given.

    Raises:
        RuntimeError: for integers and bool.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.std(torch.tensor([1.0, 3.0, 5.0]))
        tensor(2.)
        >>> torch.std(torch.tensor([[1.0, 3.0], [2.0, 6.0]]), dim=1, correction=0)
        tensor([1., 2.])
    """
    return _call(_std, "std", input, dim, unbiased, keepdim, correction, out)


def var_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, out: Any = None
) -> Any:
    """The variance and the mean, as a tuple. Arguments as for `var`.

    Example::

        >>> import gradpack as torch
        >>> torch.var_mean(torch.tensor([1.0, 3.0, 5.0]))
        (tensor(4.), tensor(3.))
    """
    return _call(_var_mean, "var_mean", input, dim, unbiased, keepdim, correction, out)


def std_mean(
    input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, out: Any = None
) -> Any:
    """The standard deviation and the mean, as a tuple. Arguments as for `var`.

    Example::

        >>> import gradpack as torch
        >>> torch.std_mean(torch.tensor([1.0, 3.0, 5.0]))
        (tensor(2.), tensor(3.))
    """
    return _call(_std_mean, "std_mean", input, dim, unbiased, keepdim, correction, out)


def _call(op: Any, name: str, input: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any, out: Any) -> Any:
    dim, correction = _arguments(name, input, dim, unbiased, keepdim, correction)
    return op(input, dim, correction, keepdim) if out is None else op(input, dim, correction, keepdim, out=out)
