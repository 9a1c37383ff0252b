"""Accumulating into elements of an array, with repeated indices: the gradient of indexing.

Everything here is on arrays. `np.add.at` is fast in one form only: one dimension, contiguous, one
dtype. So all forms are converted to that one, in portions that fit into the cache, but for wide rows of
which few are repeated. Sums in float16 and bfloat16 are kept in float32 and rounded once.

The functions write to `out` and return it: a library with immutable arrays has its own versions of
`add_rows` and `set_flat`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...backends import spec_of
from ...backends.numpy import as_intp
from ...kernels.dispatch import accelerated
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL, add_in_rows, reshaped
from .places import PORTION, counted_from_front, steps_along

_WIDE = 32  # elements of a row: longer rows are added whole


def fresh(array: Any) -> Any:
    """A writable row-major copy."""
    if is_numpy(array):
        return array.copy()
    return np.reshape(np.asarray(np.reshape(array, (-1,)), copy=True), array.shape)


def flat_of(array: Any) -> Any:
    """Flatten an array: a view if it is row-major, else a copy, to be written back by `store`."""
    return array.reshape(-1) if is_numpy(array) else np.reshape(array, (-1,))


def store(array: Any, flat: Any) -> Any:
    """Write the changed `flat_of(array)` back if it was a copy; returns the array."""
    if not (hasattr(array, "flags") and array.flags.c_contiguous and array.dtype == flat.dtype):
        array[...] = narrowed(np.reshape(flat, array.shape), array.dtype)
    return array


def widened(array: Any) -> Any:
    """Convert float16 and bfloat16 to float32; other arrays are returned as they are."""
    if is_numpy(array) and array.itemsize > 2:
        return array
    return np.astype(array, np.float32) if spec_of(array).dtype.low else array


def narrowed(array: Any, dtype: Any) -> Any:
    return array if array.dtype == dtype else np.astype(array, dtype)


def as_dtype(value: Any, dtype: Any) -> Any:
    """A number, or an array, in a dtype; integers wrap around."""
    value = np.asarray(value)
    return value.astype(dtype) if is_numpy(value) else np.astype(value, dtype)


def into_zeros(values: Any, shape: Any, add: Callable[[Any, Any], Any]) -> Any:
    """Zeros of a shape to whose flat form `add(zeros, values)` adds, in float32 for values of 16 bits."""
    wide = widened(values)
    out = add(np.zeros((prod(shape),), dtype=wide.dtype), wide)
    return reshaped(narrowed(out, values.dtype), tuple(shape))


def add_rows(out: Any, rows: Any, values: Any) -> Any:
    """`out[rows[k]] += values[k]` for every k, for matrices; repeated rows accumulate."""
    n, width = values.shape
    rows = np.astype(rows, np.int64, copy=False)
    if not hasattr(np.add, "at"):
        for k in range(n):
            out[int(rows[k]), :] += values[k, :]
        return out
    if width >= _WIDE and n:
        return add_wide(values, out, rows)
    flat = out.reshape(-1)
    if width == 1:
        if is_numpy(flat) and out.dtype == values.dtype:
            add_flat(flat, rows, values)
        else:
            np.add.at(flat, rows, values.reshape(-1))
        return out
    return _add_elements(out, rows, values)


def _add_elements(out: Any, rows: Any, values: Any) -> Any:
    """`add_rows`, element by element."""
    flat, width = out.reshape(-1), values.shape[1]
    columns, step = np.arange(width), max(1, PORTION // max(width, 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        np.add.at(flat, (part[:, None] * width + columns).reshape(-1), values[start : start + step].reshape(-1))
    return out


@accelerated
def add_wide(values: Any, out: Any, rows: Any) -> Any:
    """`add_rows` for wide rows: row by row if few are repeated within a portion."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    step = max(1, PORTION // values.shape[1])
    portion = order // step
    again = order[:-1][(ordered[1:] == ordered[:-1]) & (portion[1:] == portion[:-1])]
    if again.shape[0] > rows.shape[0] // 16:
        return _add_elements(out, rows, values)
    for start in range(0, rows.shape[0], step):
        part = rows[start : start + step]
        sums = np.take(out, as_intp(part), axis=0)
        sums += values[start : start + step]
        out[part] = sums  # of repeated rows only the last is added
    for k in again.tolist():
        out[rows[k]] += values[k]
    return out


def add_flat(out: Any, places: Any, values: Any) -> Any:
    """`out[places[k]] += values[k]` for vectors."""
    if is_numpy(out) and out.dtype == values.dtype:
        return add_numbers(values.reshape(-1), out, places)
    return np.reshape(add_rows(np.reshape(out, (-1, 1)), places, np.reshape(values, (-1, 1))), (-1,))


@accelerated
def add_numbers(values: Any, out: Any, places: Any) -> Any:
    """`out[places[k]] += values[k]` for vectors of NumPy's of one dtype."""
    np.add.at(out, places, values)
    return out


def set_flat(out: Any, places: Any, values: Any) -> Any:
    """`out[places[k]] = values[k]` for vectors; for repeated places the last value is kept."""
    if hasattr(out, "flags"):
        out[places] = values
        return out
    values = np.broadcast_to(values, places.shape)
    for k in range(places.shape[0]):
        out[int(places[k])] = values[k]
    return out


def set_along(array: Any, dim: int, index: Any, values: Any) -> Any:
    """`array` with the slices at a vector of indices along `dim` replaced by `values`."""
    before = (slice(None),) * dim
    if hasattr(array, "flags"):
        array[(*before, index)] = values
        return array
    values = np.broadcast_to(values, (*array.shape[:dim], index.shape[0], *array.shape[dim + 1 :]))
    for k in range(index.shape[0]):
        array[(*before, int(index[k]), ...)] = values[(*before, k, ...)]
    return array


def taken(array: Any, index: Any, dim: int) -> Any:
    """`array[:, ..., index]` with an array of indices at `dim`."""
    if hasattr(array, "flags"):
        return np.take(array, as_intp(index), axis=dim) if dim else array[index]
    found = np.take(array, np.reshape(counted_from_front(index, array.shape[dim]), (-1,)), axis=dim)
    return np.reshape(found, (*array.shape[:dim], *index.shape, *array.shape[dim + 1 :]))


def add_along(out: Any, shape: Any, dim: int, index: Any, values: Any) -> Any:
    """Add `values` to `out`, the flat array of a shape, at the elements that `take(array, index, dim)` reads."""
    if is_numpy(out) and is_numpy(values) and values.size < SMALL and out.dtype == values.dtype:
        flat = index.reshape(-1)
        if len(shape) == 1:
            np.add.at(out, flat, values.reshape(-1))
            return out
        if len(shape) < 4 and flat.size and min(flat.tolist()) >= 0:  # `np.add.at` is fast in one dimension
            stride, starts = steps_along(tuple(shape), dim, (*shape[:dim], 1, *shape[dim + 1 :]))
            places = starts + (flat * stride).reshape((-1,) + (1,) * (len(shape) - 1 - dim))
            np.add.at(out, places.reshape(-1), values.reshape(-1))
            return out
        given = values.reshape((*shape[:dim], flat.shape[0], *shape[dim + 1 :]))
        np.add.at(out.reshape(shape), (*(slice(None),) * dim, flat) if dim else flat, given)
        return out
    index = np.reshape(counted_from_front(index, shape[dim]), (-1,))
    before, after, n = prod(shape[:dim]), prod(shape[dim + 1 :]), index.shape[0]
    if after == 1 and before > 1 and n and is_numpy(out) and is_numpy(values) and out.dtype == values.dtype:
        add_in_rows(values, np.reshape(out, (before, shape[dim])), np.broadcast_to(index, (before, n)))
        return out
    if before != 1:  # fold the leading dimensions into the row numbers
        index = np.reshape(np.arange(before)[:, None] * shape[dim] + index[None, :], (-1,))
    if not out.shape[0] or not n:
        return out
    rows = add_rows(np.reshape(out, (before * shape[dim], after)), index, np.reshape(values, (before * n, after)))
    return np.reshape(rows, (-1,))
