"""Softmax, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array, Dim
from ...declare.decorators import general
from ...kernels.dispatch import loops
from ..pointwise.blockwise import SHORT_EXP2, aligned
from .dimensions import axes, axis, count, dropped, kept, numpy_names, restored
from .kernels import SMALL, _add, _array_type, _maximum, _minimum, add_up, exp_into, float_kind, largest, ones_column
from .reduce import converted
from .row_products import add_multiples, add_repeated, repeated, scale_rows

FUNCTIONS = "softmax log_softmax logsumexp"
METHODS = FUNCTIONS

# Rows with a maximum up to _HIGH and a sum of exponentials from _LOW on need no shift: exp neither
# overflows nor loses digits. Most arrays are such, and finding the maximum of each row is slow.
_HIGH, _LOW = 60.0, 1e-3
_LARGEST = math.exp(_HIGH + 1)  # of a sum of exponentials, where the maximum is not known
_SHORT = 256  # elements: below this the plain form is as fast
_LOG2_E = math.log2(math.e)


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


def _is_moderate(x: Any) -> bool:
    """Whether all elements are near 0 (absolute values below 20), so that no exponential over- or underflows."""
    if x.dtype.char not in "fd":
        return False
    flat = x.reshape(-1)
    return bool(flat.dot(flat) < 400)  # so none is beyond 20


def _sum_of_few(x: Any, dim: int) -> Any:
    """The sum of a small array along a dimension, with `keepdim`."""
    if x.ndim > 1 and dim in (-1, x.ndim - 1) and x.dtype.char in "fd":
        return x.dot(ones_column(x.shape[-1], x.dtype))
    return _add(x, dim, None, None, True)


_BLOCK = 1 << 16  # elements of rows processed at a time


def _in_rows(input: Any, dim: int, *others: Any) -> bool:
    """Whether to process the last dimension in blocks of rows: for large, contiguous float32 or float64 arrays."""
    return (
        type(input) is _array_type
        and input.size >= 2 * SMALL
        and dim in (-1, input.ndim - 1)
        and input.dtype.char in "fd"
        and input.shape[-1] <= _BLOCK
        and all(type(a) is _array_type and a.dtype == input.dtype and a.flags.c_contiguous for a in (input, *others))
    )


def _compiled(rows: Any) -> Any:
    """The compiled loops over rows for float32, or None."""
    return loops("softmax", rows) if rows.dtype == np.float32 else None


def _row_blocks(rows: Any) -> Any:
    step = max(1, _BLOCK // rows.shape[1])
    return [slice(start, start + step) for start in range(0, rows.shape[0], step)]


def _rows_of_softmax(input: Any, logarithm: bool) -> Any:
    """Softmax of the last dimension, or its logarithm, block by block."""
    rows = input.reshape(-1, input.shape[-1])
    out = np.empty(rows.shape, rows.dtype)
    if (fast := _compiled(rows)) is not None:
        (fast.log_softmax if logarithm else fast.softmax)(rows, out)
        return out.reshape(input.shape)
    buffer = aligned(max(_BLOCK, rows.shape[1]), rows.dtype) if logarithm else None
    ones = np.ones(rows.shape[1], rows.dtype)
    for block in _row_blocks(rows):
        x, made = rows[block], out[block]
        spare = made if buffer is None else buffer[: x.size].reshape(x.shape)
        most = _maximum(x, None) if logarithm else 0
        plain = most <= _HIGH
        if plain:
            total = np.exp(x, out=spare) @ ones
            plain = _minimum(total) >= _LOW and _maximum(total) <= _LARGEST
        if not plain:
            x = np.subtract(x, largest(x, -1, True))
            total = np.exp(x, out=spare) @ ones
        if not logarithm:
            scale_rows(made, 1 / total)
            continue
        exact = np.log(total, dtype=np.float64)
        rounded = exact.astype(rows.dtype)
        np.subtract(x, repeated(rounded, made), out=made)
        if plain and rows.dtype != np.float64 and _near_zero(most, rounded):  # in two parts: see `_log_softmax`
            add_repeated(made, (rounded - exact).astype(rows.dtype))
    return out.reshape(input.shape)


def _near_zero(most: Any, logarithms: Any) -> bool:
    """Whether `x - logarithm`, for x up to `most`, may be so near 0 that the logarithm's rounding error matters."""
    least = _minimum(logarithms, None)
    return not least - most >= 0.25 * max(abs(least), abs(_maximum(logarithms, None)))


def _rows_of_slope(g: Any, out: Any, logarithm: bool) -> Any:
    """The gradient of `_rows_of_softmax`, from the gradient of its result and the result."""
    length = out.shape[-1]
    given, known = g.reshape(-1, length), out.reshape(-1, length)
    slope = np.empty(known.shape, known.dtype)
    if (fast := _compiled(known)) is not None:
        (fast.log_softmax_gradient if logarithm else fast.softmax_gradient)(given, known, slope)
        return slope.reshape(out.shape)
    buffer = aligned(max(_BLOCK, length), known.dtype)
    ones = np.ones(length, known.dtype)
    for block in _row_blocks(known):
        some, result, made = given[block], known[block], slope[block]
        if logarithm:
            made[:] = some
            add_multiples(made, -(made @ ones), _exp_into(result, buffer[: result.size].reshape(result.shape)))
        else:
            np.multiply(some, result, out=made)
            add_multiples(made, -(made @ ones), result)
    return slope.reshape(out.shape)


def _exp_into(x: Any, out: Any) -> Any:
    if SHORT_EXP2 and x.dtype == np.float32:
        return np.exp2(np.multiply(x, _LOG2_E, out=out), out=out)
    return np.exp(x, out=out)


def _place(input: Any, dim: Any) -> Any:
    """The dimension, as a reduction takes it; None for a 0-dim array."""
    place = axis(dim, len(input.shape))
    return place if len(input.shape) else None


@general(
    input=lambda g, out, dim: _softmax_slope(g, out, dim),
    node="SoftmaxBackward0",
    dtypes="f",
    name="softmax",
    contiguous=True,
    cost="cheap",
    overlap="read_first",
)
def _softmax(input: Array, dim: int) -> Any:
    """`exp(input) / sum(exp(input))` along a dimension."""
    if _is_short(input):
        if input.dtype.char == "f" and _is_moderate(input):  # in float64, where nothing is lost without a shift
            wide = np.exp(input, dtype=np.float64)
            wide /= _sum_of_few(wide, dim)
            return wide.astype(np.float32)
        out = np.exp(input - _maximum(input, dim, None, None, True))
        out /= _sum_of_few(out, dim)
        return out
    over = _place(input, dim)
    if not input.size:
        return np.asarray(input, copy=True)
    if _in_rows(input, dim):
        return _rows_of_softmax(input, False)
    found = _exponentials(input, over)
    if found is None:
        out = exp_into(input - largest(input, over, True))
        total = add_up(out, over, True)
    else:
        out, total = found
    out /= total
    return out


def _softmax_slope(g: Any, out: Any, dim: int) -> Any:
    """`(g - sum(g * out)) * out`, on NumPy's arrays in little memory."""
    if type(g) is not _array_type or not g.ndim:
        return (g - late.sum(g * out, dim, True)) * out
    if _in_rows(g, dim, out):
        return _rows_of_slope(g, out, False)
    if dim in (-1, g.ndim - 1):
        slope = g - np.vecdot(g, out)[..., None]
    else:
        slope = g * out
        np.subtract(g, add_up(slope, dim, True), out=slope)
    slope *= out
    return slope


@general(
    input=lambda g, out, dim: _log_softmax_slope(g, out, dim),
    node="LogSoftmaxBackward0",
    dtypes="f",
    name="log_softmax",
    contiguous=True,
    cost="cheap",
    overlap="read_first",
)
def _log_softmax(input: Array, dim: int) -> Any:
    """`input - log(sum(exp(input)))` along a dimension."""
    if _is_short(input):
        if input.dtype.char == "f" and _is_moderate(input):  # in float64, where nothing is lost without a shift
            wide = input.astype(np.float64)
            wide -= np.log(_sum_of_few(np.exp(wide), dim))
            return wide.astype(np.float32)
        out = input - _maximum(input, dim, None, None, True)
        out -= np.log(_sum_of_few(np.exp(out), dim))
        return out
    over = _place(input, dim)
    if not input.size:
        return np.asarray(input, copy=True)
    if _in_rows(input, dim):
        return _rows_of_softmax(input, True)
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
    """`g - exp(out) * sum(g)`, on NumPy's arrays in little memory."""
    if type(g) is not _array_type or not g.ndim:
        return g - late.exp(out) * late.sum(g, dim, True)
    if _in_rows(g, dim, out):
        return _rows_of_slope(g, out, True)
    slope = np.exp(out)
    slope *= _sum_of_few(g, dim) if g.size < _SHORT else add_up(g, dim, True)
    return np.subtract(g, slope, out=slope)


def softmax(input: Any, dim: Any = None, dtype: Any = None, *, out: Any = None, axis: Any = None) -> Any:
    """`exp(input) / sum(exp(input))` along a dimension: positive numbers that sum to 1.

    Args:
        dtype: convert `input` to this dtype before.

    Raises:
        RuntimeError: for integers, bool and complex numbers (NotImplementedError).
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.softmax(torch.tensor([0.0, 0.0, 0.0, 0.0]), 0)
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return _called(_softmax, "softmax", input, dim, dtype, out, axis)


def log_softmax(input: Any, dim: Any = None, dtype: Any = None, *, out: Any = None, axis: Any = None) -> Any:
    """`log(softmax(input))` along a dimension, computed so that nothing overflows or is lost.

    Args:
        dtype: convert `input` to this dtype before.

    Raises:
        RuntimeError: for integers, bool and complex numbers (NotImplementedError).
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.log_softmax(torch.tensor([0.0, 0.0, 0.0, 0.0]), 0)
        tensor([-1.3863, -1.3863, -1.3863, -1.3863])
    """
    return _called(_log_softmax, "log_softmax", input, dim, dtype, out, axis)


def _called(op: Any, name: str, input: Any, dim: Any, dtype: Any, out: Any, axis: Any) -> Any:
    if dim is None:
        dim = axis
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
