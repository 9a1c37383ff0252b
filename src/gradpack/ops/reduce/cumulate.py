"""Running sums, products and extremes along a dimension, and the linear recurrences that their gradients are."""

from __future__ import annotations

import math
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.errors import cpp_name, not_implemented_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general, linear
from ...declare.inplace.inplace import inplace
from ...kernels.dispatch import LARGE, LEAST, accelerated
from .dimensions import axis, numpy_names
from .kernels import _array_type, float_kind, is_ordered
from .recurrences import solved
from .reduce import in_dtype

FUNCTIONS = METHODS = "cumsum cumprod logcumsumexp cummax cummin"
INPLACE = "cumsum_ cumprod_"

_WIDE = {"f": np.float64, "F": np.complex128}
_accumulate: Any = np.add.accumulate
_multiplied: Any = np.multiply.accumulate


# -- kernels --


def _wide(input: Any) -> Any:
    """The dtype of NumPy's that numbers of single precision are accumulated in; None for other numbers."""
    return _WIDE.get(input.dtype.char) if type(input) is _array_type else None


def _running(input: Any, place: int) -> Any:
    """Cumulative sums along a dimension; float32 is accumulated in float64, as in torch, against rounding errors."""
    if type(input) is not _array_type:
        return np.cumsum(input, axis=place)
    wide = _WIDE.get(input.dtype.char)
    if not _by_slices(input.shape, place):
        return np.cumsum(input, axis=place) if wide is None else running_sums(input, place, False)
    out = np.empty(input.shape, np.cumsum(input[:0].reshape(-1)).dtype)
    source, target = np.moveaxis(input, place, 0), np.moveaxis(out, place, 0)
    total = np.zeros(source.shape[1:], wide or out.dtype)
    for k in range(source.shape[0]):
        total += source[k]
        target[k] = total
    return out


@accelerated
def running_sums(input: Any, place: int, backwards: bool) -> Any:
    """Cumulative sums of each line, or sums to its end, accumulated in the double dtype."""
    if backwards:
        back: Any = (*(slice(None),) * place, slice(None, None, -1), ...)
        return np.ascontiguousarray(_running(input[back], place)[back])
    return _accumulate(input, place, _WIDE.get(input.dtype.char)).astype(input.dtype, "C", copy=False)


def _by_slices(shape: tuple[int, ...], place: int) -> bool:
    """Whether it is faster to accumulate whole slices one after another than to run along each line."""
    if place == len(shape) - 1:
        return False
    after = prod(shape[place + 1 :])
    return after >= 64 and after * prod(shape[:place]) >= 512


# -- sum --


@linear(input=lambda g, dim: _cumsum_from_end(g, dim), result="sum", name="cumsum", contiguous=True, int64="bool")
def _cumsum(input: Array, dim: int) -> Any:
    """Running sums."""
    place = axis(dim, len(input.shape))
    if type(input) is _array_type and input.ndim and input.size < LEAST and input.dtype.char == "f":
        return _accumulate(input.astype(np.float64), place).astype(np.float32, "C")  # faster than to name the dtype
    return _running(input, place) if len(input.shape) else np.asarray(input, copy=True)


@linear(input=lambda g, dim: _cumsum(g, dim))
def _cumsum_from_end(input: Array, dim: int) -> Any:
    """Sums from each element to the end of the dimension: the adjoint of `cumsum`."""
    place = axis(dim, len(input.shape))
    if not len(input.shape):
        return np.asarray(input, copy=True)
    return running_sums(input, place, True)


def cumsum(input: Any, dim: Any, *, dtype: Any = None, out: Any = None) -> Any:
    """The cumulative sum along a dimension.

    Args:
        dim: the dimension along which to sum; negative ones count from the last.
        dtype: convert `input` to this dtype before. Integers and bool give int64 by default.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.cumsum(torch.tensor([1, 2, 3]), 0)
        tensor([1, 3, 6])
    """
    return _called(_cumsum, "cumsum", input, dim, dtype, out)


def _called(op: Any, name: str, input: Any, dim: Any, dtype: Any, out: Any) -> Any:
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}")
    if dtype is None and isinstance(out, Tensor) and isinstance(input, Tensor) and out.dtype is not input.dtype:
        dtype = out.dtype  # torch computes in the dtype of `out`
    if dtype is None:
        return op(input, dim) if out is None else op(input, dim, out=out)
    if dtype is dtypes.bool_:
        raise not_implemented_for(f"{name}_out_cpu", dtype)
    return in_dtype(lambda x, d, _: op(x, d), name, input, dtype, out, dim, False)


# -- product --


@general(
    input=lambda g, input, out, dim: _product_slope(g, input, out, dim),
    result="sum",
    name="cumprod",
    contiguous=True,
    int64="bool",
    refuses="complex32",
)
def _cumprod(input: Array, dim: int) -> Any:
    """Running products."""
    place = axis(dim, len(input.shape))
    if not len(input.shape):
        return np.asarray(input, copy=True)
    return running_products(input, place)


def _product_slope(g: Any, input: Any, out: Any, dim: int) -> Any:
    """The gradient of `cumprod`; by division in float64 for few numbers of float32 without zeros."""
    if type(g) is _array_type and g.dtype.char == "f" and 0 < g.size < LARGE and g.ndim:
        size = np.abs(out)
        if size.min() >= _TINY and size.max() < math.inf:
            place = axis(dim, g.ndim)
            along = running_sums(
                g * _multiplied(input, place, np.float64), place, True
            )  # sums may be small differences
            along /= input
            return along.astype(np.float32)
    return late.shifted(out, dim, 1, 1) * late.recurrence(late.shifted(input, dim, -1, 0), g, dim, True)


_TINY = 2.0**-126  # float32's, of full precision


@accelerated
def running_products(input: Any, place: int) -> Any:
    """Cumulative products along a dimension."""
    wide = _wide(input)
    if wide is None:
        return np.cumprod(input, axis=place)
    return _multiplied(input, place, wide).astype(input.dtype, copy=False)


def cumprod(input: Any, dim: Any, *, dtype: Any = None, out: Any = None) -> Any:
    """The cumulative product along a dimension. The gradient is exact where elements are zero.

    Args:
        dtype: convert `input` to this dtype before. Integers and bool give int64 by default.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.cumprod(torch.tensor([1, 2, 3]), 0)
        tensor([1, 2, 6])
    """
    return _called(_cumprod, "cumprod", input, dim, dtype, out)


def _written(name: str, op: Any) -> Any:
    def method(self: Tensor, dim: Any, *, dtype: Any = None) -> Tensor:
        if dtype is not None and dtype is not self._spec.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {cpp_name(self._spec.dtype)} and output tensor dtype "
                f"{cpp_name(dtype)} should match"
            )
        return inplace(op.op, name, [self, dim])

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In-place form of `{name[:-1]}`."
    return method


_method_cumsum_, _method_cumprod_ = _written("cumsum_", _cumsum), _written("cumprod_", _cumprod)


# -- the logarithm of a running sum of exponentials --


@numpy_names
@general(
    input=lambda g, input, out, dim, input_dtype: _shares(g, input, out, dim, input_dtype),
    dtypes="fc",
    contiguous=True,
    refuses="complex32",
    compares=True,
)
def logcumsumexp(input: Array, dim: int) -> Any:
    """`log(cumsum(exp(input)))` along a dimension, without overflow.

    Raises:
        RuntimeError: for integers and bool (NotImplementedError).
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.logcumsumexp(torch.tensor([1000.0, 1000.0]), 0)
        tensor([1000.0000, 1000.6932])
    """
    place = axis(dim, len(input.shape))
    if not len(input.shape):
        return np.asarray(input, copy=True)
    if float_kind(input) == "c":
        made = accumulated(_add_exponentials, input, place)
        return np.where(np.real(made) == -np.inf, made.dtype.type(-np.inf), made)
    wide = _wide(input)
    if wide is None:
        return accumulated(np.logaddexp, input, place)
    return accumulated(np.logaddexp, input.astype(wide), place).astype(input.dtype)


def _shares(g: Any, input: Any, out: Any, dim: int, input_dtype: Any) -> Any:
    """The gradient of `logcumsumexp`: for each element, the weighted sum of `g` over the sums that contain it."""
    if input_dtype is not None and input_dtype.low:  # the rounding of `out` would dominate `input - out`
        input = late._to_copy(input, dtypes.computed_in(input_dtype))
        out = logcumsumexp(input, dim)
    return late.exp(input - out) * late.recurrence(_ratios(out, late.shifted(out, dim, -1, math.inf)), g, dim, True)


def _ratios(out: Any, following: Any) -> Any:
    """Ratios of sums of exponentials, `exp(out - following)`; 1 where both logarithms are the same infinity."""
    no_number = late.logical_and(late.eq(out, following), late.ne(out - out, 0))
    return late.exp(late.where(no_number, 0.0, out - following))


def accumulated(function: Any, input: Any, place: int) -> Any:
    """Accumulate a binary `function` along a dimension, as `numpy.ufunc.accumulate`."""
    n = input.shape[place]
    if hasattr(function, "accumulate") and type(input) is _array_type and not _by_slices(input.shape, place):
        return function.accumulate(input, axis=place)
    if not n:
        return np.asarray(input, copy=True)
    lines = np.moveaxis(input, place, 0)
    y = lines[0, ...]
    out = [y]
    for k in range(1, n):
        y = function(y, lines[k, ...])
        out.append(y)
    return np.stack(out, axis=place)


def _add_exponentials(a: Any, b: Any) -> Any:
    """`log(exp(a) + exp(b))` for complex numbers, on the logarithm's branch of the one with the larger real part."""
    first = np.real(a) >= np.real(b)
    large, small = np.where(first, a, b), np.where(first, b, a)
    gone = ~np.isfinite(np.real(large)) | (np.real(small) == -np.inf)
    step = np.where(gone, np.zeros_like(large), small - large)
    return np.where(gone, large, large + np.log1p(np.exp(step)))


# -- running extremes --


def _running_extreme(input: Any, dim: int, smallest: bool) -> tuple[Any, Any]:
    place = axis(dim, len(input.shape))
    if not len(input.shape):
        return np.asarray(input, copy=True), np.zeros((), dtype=np.int64)
    return running_extremes(input, place, smallest)


@accelerated
def running_extremes(input: Any, place: int, smallest: bool) -> tuple[Any, Any]:
    """The extremes up to each element along a dimension, and the index of the last element equal to each."""
    values = accumulated(np.minimum if smallest else np.maximum, input, place)
    new = input == values
    if not is_ordered(input) and float_kind(input):
        new = new | (input != input)  # noqa: PLR0124 - NaN stays, and only NaN differs from itself
    steps = np.arange(input.shape[place], dtype=np.int64)
    if place != len(input.shape) - 1:
        steps = np.reshape(steps, (-1, *(1,) * (len(input.shape) - 1 - place)))
    steps = new * steps if type(new) is _array_type else np.where(new, steps, np.zeros_like(steps))
    return values, accumulated(np.maximum, steps, place)


_extremal = partial(
    general,
    input=lambda g, indices, input_shape, dim: late._gather_backward(g, indices, input_shape, dim),
    jvp=lambda input_t, indices, dim: late.gather(input_t, dim, indices),
    results=("values", "indices"),
    differentiable=1,
    dtypes="bif",
    contiguous=True,
    refuses="unsigned",
    int64=True,
)


@numpy_names
@_extremal()
def cummax(input: Array, dim: int) -> Any:
    """The cumulative maximum and its index, the last of equal ones, as a named tuple (values, indices).

    Raises:
        RuntimeError: for complex numbers (NotImplementedError).
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.cummax(torch.tensor([1.0, 3.0, 2.0]), 0).values
        tensor([1., 3., 3.])
    """
    return _running_extreme(input, dim, False)


@numpy_names
@_extremal()
def cummin(input: Array, dim: int) -> Any:
    """The cumulative minimum and its index: as `cummax`.

    Example::

        >>> import gradpack as torch
        >>> torch.cummin(torch.tensor([3.0, 1.0, 2.0]), 0).values
        tensor([3., 1., 1.])
    """
    return _running_extreme(input, dim, True)


# -- linear recurrences --


@general(
    input=lambda g, dim, step: shifted(g, dim, -step, 0),
    jvp=lambda input_t, dim, step: shifted(input_t, dim, step, 0),
    cost="cheap",
)
def shifted(input: Array, dim: int, step: int, fill: Array) -> Any:
    """Shift elements by `step` (1 or -1) along a dimension; `fill` enters at the other end."""
    place = axis(dim, len(input.shape))
    if not len(input.shape) or not input.shape[place]:
        return np.full(input.shape, fill, dtype=input.dtype)
    ahead, edge = (slice(None),) * place, list(input.shape)
    edge[place] = 1
    end = np.full(tuple(edge), fill, dtype=input.dtype)
    if step > 0:
        return np.concatenate((end, input[(*ahead, slice(None, -1), ...)]), axis=place)
    return np.concatenate((input[(*ahead, slice(1, None), ...)], end), axis=place)


@general(
    a=lambda g, a, out, dim, backwards: _turned(g, a, dim, backwards) * shifted(out, dim, -1 if backwards else 1, 0),
    b=lambda g, a, dim, backwards: _turned(g, a, dim, backwards),
)
def recurrence(a: Array, b: Array, dim: int, backwards: bool = False) -> Any:
    """`y[k] = b[k] + a[k] * y[k - 1]` along a dimension, with `y[0] = b[0]`; backwards with `y[k + 1]`.

    Its adjoint is a recurrence in the other direction, so it can be differentiated to any order.
    """
    place = axis(dim, len(b.shape))
    if not len(b.shape) or b.shape[place] < 2:
        return np.asarray(b, copy=True)
    return recurrence_along(a, b, place, backwards)


@accelerated
def recurrence_along(a: Any, b: Any, place: int, backwards: bool) -> Any:
    """`recurrence`, of two elements at least."""
    wide, native = _wide(b), b.dtype
    if wide is not None:
        a, b = a.astype(wide), b.astype(wide)
    lines = [np.moveaxis(x, place, 0) for x in (a, b)]
    out = np.flip(solved(*(np.flip(x, axis=0) for x in lines)), axis=0) if backwards else solved(*lines)
    return np.moveaxis(out if wide is None else out.astype(native), 0, place)


def _turned(g: Any, a: Any, dim: int, backwards: bool) -> Any:
    return recurrence(shifted(a, dim, 1 if backwards else -1, 0), g, dim, not backwards)
