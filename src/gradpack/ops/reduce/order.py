"""Sorting, and operations by sorting: top k, k-th value, median.

NaN is larger than every number. Equal elements keep their order, in descending sorts too.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...backends.numpy import as_int64
from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import general, nondifferentiable
from ...kernels.dispatch import LARGE, accelerated
from .dimensions import axis, numpy_names
from .extremes import of_all, pick, picked, picking
from .kernels import SMALL, _array_type, float_kind, is_ordered, take_along

FUNCTIONS = METHODS = "median nanmedian sort argsort msort topk kthvalue"


def _order(input: Any, place: int, descending: bool) -> Any:
    """The indices that sort along a dimension."""
    if not descending and type(input) is not _array_type:
        return as_int64(np.argsort(input, axis=place, stable=True))
    if not descending:
        return as_int64(input.argsort(place, stable=True))
    if type(input) is _array_type:
        turned: Any = (*(slice(None),) * place, slice(None, None, -1))
        return input.shape[place] - 1 - as_int64(input[turned].argsort(place, stable=True))[turned]
    backwards = np.argsort(np.flip(input, axis=place), axis=place, stable=True)
    return input.shape[place] - 1 - np.flip(backwards, axis=place)


def _sorted(input: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    place = axis(dim, len(input.shape))
    if not len(input.shape):
        return np.asarray(input, copy=True), np.zeros((), dtype=np.int64)
    indices = _order(input, place, descending)
    return take_along(input, indices, place), indices


_sorting = partial(
    general,
    input=lambda g, indices, input_shape, dim: late.place_along(g, indices, input_shape, dim, True),
    jvp=lambda input_t, indices, dim: picked(input_t, indices, dim, True),
    results=("values", "indices"),
    differentiable=1,
    int64=True,
)


@numpy_names
@_sorting(dtypes="bif")
def sort(input: Array, dim: int = -1, descending: bool = False, *, stable: bool | None = False) -> Any:
    """The elements sorted along a dimension, and their indices in `input`, as a named tuple (values, indices).

    Every sort is stable; NaN is larger than every number.

    Args:
        dim: the dimension; negative ones count from the last.
        descending: from the largest to the smallest.
        stable: accepted: equal elements always keep their order.

    Raises:
        RuntimeError: for complex numbers.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.sort(torch.tensor([3.0, 1.0, 2.0]), descending=True).indices
        tensor([0, 2, 1])
        >>> torch.sort(torch.tensor([[3, 1], [2, 5]]), dim=0).values
        tensor([[2, 1],
                [3, 5]])
    """
    return _sorted(input, dim, descending)


@numpy_names
@nondifferentiable(result="index", promote=("input",), dtypes="bif", int64=True)
def argsort(input: Array, dim: int = -1, descending: bool = False, *, stable: Any = False) -> Any:
    """The indices that sort along a dimension.

    Args:
        dim: the dimension; negative ones count from the last.
        descending: from the largest to the smallest.
        stable: accepted: equal elements always keep their order.

    Example::

        >>> import gradpack as torch
        >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
        tensor([1, 2, 0])
    """
    if type(dim) is bool:
        raise TypeError("argsort(): argument 'dim' must be int, not bool")
    return _sorted(input, dim, descending)[1]


def msort(input: Any, *, out: Any = None) -> Any:
    """The elements sorted along the first dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.msort(torch.tensor([3.0, 1.0, 2.0]))
        tensor([1., 2., 3.])
    """
    from ..create.making import _into_out

    return _into_out(out, sort(input, 0)[0], "msort")


@numpy_names
@_sorting(dtypes="if", refuses="unsigned")
def topk(input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The `k` largest or smallest elements along a dimension, as a named tuple (values, indices).

    Args:
        k: how many.
        dim: the dimension; negative ones count from the last.
        largest: the largest elements, rather than the smallest.
        sorted: False allows any order; the result is sorted anyway.

    Raises:
        RuntimeError: if there are fewer than `k`; for bool and complex numbers.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2).values
        tensor([3., 2.])
        >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2, largest=False).indices
        tensor([1, 2])
    """
    if type(dim) is bool:
        raise TypeError("topk(): argument 'dim' (position 2) must be int, not bool")
    place = axis(dim, len(input.shape))
    n = input.shape[place] if len(input.shape) else 1
    if not 0 <= k <= n:
        raise RuntimeError(f"selected index k out of range: topk() of {n} elements cannot give {k}")
    if not len(input.shape):
        return _sorted(input, dim, False)
    return top(input, k, place, largest)


@accelerated
def top(input: Any, k: int, place: int, largest: bool) -> tuple[Any, Any]:
    """The `k` first elements along a dimension in order, and where they are."""
    n = input.shape[place]
    if largest and 0 < k <= 8 and 4 * k < n + 4 and type(input) is _array_type and 0 < input.size < LARGE:
        found = _one_by_one(input, k) if place == input.ndim - 1 and input.dtype.kind != "V" else None
        if found is not None:
            return found
    if 0 < 8 * k < n:  # select the k elements first, then sort those; ties in the order of indices
        some = np.argpartition(input, n - k if largest else k, axis=place)
        some = np.take(as_int64(some), np.arange(n - k, n) if largest else np.arange(k), axis=place)
        some = np.sort(some, axis=place)
        order = _order(take_along(input, some, place), place, largest)
        indices = take_along(some, order, place)
    else:
        indices = np.asarray(_order(input, place, largest)[(*(slice(None),) * place, slice(k))], copy=True)
    return take_along(input, indices, place), indices


def _one_by_one(input: Any, k: int) -> tuple[Any, Any] | None:
    """The `k` largest elements of each row, found one after another; None if the least one that there can be is one."""
    least = -np.inf if float_kind(input) else np.iinfo(input.dtype).min
    rest, shape = input.reshape(-1).copy(), (*input.shape[:-1], k)
    rows = rest.reshape(-1, input.shape[-1])
    starts = np.arange(0, rest.size, rows.shape[1])
    values, indices = np.empty((len(rows), k), input.dtype), np.empty((len(rows), k), np.int64)
    for nth in range(k):
        indices[:, nth] = found = rows.argmax(1)
        found += starts
        values[:, nth] = last = rest[found]
        rest[found] = least
    return None if least in last.tolist() else (values.reshape(shape), indices.reshape(shape))


_SORTED = 512  # elements


def _rank(input: Any, k: int, place: int) -> tuple[Any, Any]:
    """The element of rank `k`, from 0, along a dimension, and its index in a stable sort; dimensions are kept."""
    if input.size < SMALL:
        if type(input) is not _array_type:
            indices = np.take(_order(input, place, False), np.asarray([k]), axis=place)
            return take_along(input, indices, place), indices
        lead: Any = (slice(None),) * place
        if input.size >= _SORTED and is_ordered(input):  # to sort is faster than to find the order
            ordered = np.sort(input, axis=place)
            values = ordered[(*lead, slice(k, k + 1))]
            if not k or not (ordered[(*lead, slice(k - 1, k))] == values).any():  # the first of equal ones
                return values.copy(), as_int64((input == values).argmax(place, keepdims=True))
        indices = _order(input, place, False)[(*lead, slice(k, k + 1))].copy()
        return take_along(input, indices, place), indices
    values = np.take(np.partition(input, k, axis=place), np.asarray([k]), axis=place)
    same, less = input == values, input < values
    if float_kind(input):
        nan, number = input != input, input == input  # noqa: PLR0124 - only NaN differs from itself
        missing = values != values  # noqa: PLR0124
        same, less = same | (nan & missing), less | (number & missing)
    nth = k + 1 - np.count_nonzero(less, axis=place, keepdims=True)
    return values, as_int64(np.argmax(np.cumsum(same, axis=place) == nth, axis=place, keepdims=True))


@numpy_names
@picking(dtypes="if", overlap="apart", int64=True)
def kthvalue(input: Array, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th smallest element along a dimension, counted from 1, as a named tuple (values, indices).

    Args:
        k: which one in order, from 1 for the smallest.
        dim: the dimension; negative ones count from the last.

    Raises:
        RuntimeError: if there is no k-th; for bool and complex numbers (NotImplementedError).
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.kthvalue(torch.tensor([3.0, 1.0, 2.0]), 2).values
        tensor(2.)
    """
    place = axis(dim, len(input.shape))
    n = input.shape[place] if len(input.shape) else 1
    if n and not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {place}: {k} of {n}")
    return pick("kthvalue", lambda x, d: _rank(x, k - 1, d), input, dim, keepdim)


# -- medians --


def _median(input: Any, place: int) -> tuple[Any, Any]:
    values, indices = _rank(input, (input.shape[place] - 1) // 2, place)
    if not float_kind(input) or is_ordered(input):
        return values, indices
    nan = input != input  # noqa: PLR0124 - only NaN differs from itself
    missing = np.any(nan, axis=place, keepdims=True)
    indices = np.where(missing, np.argmax(np.astype(nan, np.int8), axis=place, keepdims=True), indices)
    return take_along(input, indices, place), indices


def _nanmedian(input: Any, place: int) -> tuple[Any, Any]:
    order = _order(input, place, False)
    numbers = np.count_nonzero(input == input, axis=place, keepdims=True)  # noqa: PLR0124
    indices = take_along(order, np.maximum(numbers - 1, 0) // 2, place)
    return take_along(input, indices, place), indices


def _of_all(find: Any, input: Any) -> Any:
    flat = np.reshape(input, (-1,))
    if not flat.shape[0]:
        empty = np.nan if float_kind(input) else np.iinfo(input.dtype).min
        return np.asarray(empty, dtype=input.dtype)
    return np.reshape(find(flat, 0)[0], ())


@of_all(dtypes="if", node="MedianBackward0", int64=True)
def _median_all(input: Array) -> Any:
    """The median of all elements."""
    return _of_all(_median, input)


@of_all(dtypes="if", node="NanmedianBackward0", int64=True)
def _nanmedian_all(input: Array) -> Any:
    """The median of all elements that are not NaN."""
    return _of_all(_nanmedian, input)


@picking(dtypes="if", name="median", node="MedianBackward1", int64=True)
def _median_dim(input: Array, dim: int, keepdim: bool = False) -> Any:
    """Medians along a dimension, and their indices."""
    return pick("median", _median, input, dim, keepdim)


@picking(dtypes="if", name="nanmedian", node="NanmedianBackward1", int64=True)
def _nanmedian_dim(input: Array, dim: int, keepdim: bool = False) -> Any:
    """Medians of the elements that are not NaN along a dimension, and their indices."""
    return pick("nanmedian", _nanmedian, input, dim, keepdim)


def median(input: Any, dim: Any = None, keepdim: Any = None, *, out: Any = None) -> Any:
    """The median: of all elements one value, along a dimension a named tuple (values, indices).

    Of an even number of elements it is the lower of the two in the middle. NaN if there is any.

    Raises:
        RuntimeError: for bool and complex numbers (NotImplementedError).
        IndexError: for a dimension out of range, or of size 0.

    Example::

        >>> import gradpack as torch
        >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
        tensor(2.)
    """
    return _either("median", _median_all, _median_dim, input, dim, keepdim, out)


def nanmedian(input: Any, dim: Any = None, keepdim: Any = None, *, out: Any = None) -> Any:
    """The median of the elements that are not NaN: as `median`.

    Example::

        >>> import gradpack as torch
        >>> torch.nanmedian(torch.tensor([4.0, float("nan"), 3.0]))
        tensor(3.)
    """
    return _either("nanmedian", _nanmedian_all, _nanmedian_dim, input, dim, keepdim, out)


def _either(op: str, of_all: Any, along: Any, input: Any, dim: Any, keepdim: Any, out: Any) -> Any:
    more = {} if out is None else {"out": out}
    if dim is None:
        if keepdim is not None:
            raise TypeError(f"{op}(): keepdim needs a dim")
        return of_all(input, **more)
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{op}(): argument 'dim' must be int, not {type(dim).__name__}")
    return along(input, dim, False if keepdim is None else keepdim, **more)
