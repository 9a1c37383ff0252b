"""Accumulating into elements of an array, with repeated indices: the gradient of indexing.

Everything here is on arrays. `np.add.at` is fast in one form only: one dimension, contiguous, one
dtype. So all forms are converted to that one, in portions that fit into the cache, but for wide rows of
which few are repeated. Sums in float16 and bfloat16 are kept in float32 and rounded once.

The functions write to `out` and return it: a library with immutable arrays has its own versions of
`add_rows` and `set_flat`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...backends import spec_of
from ...backends.numpy import as_intp
from ...kernels.dispatch import accelerated
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL, _maximum, add_in_rows, reshaped

FEW = 32  # indices: for fewer, Python's `max` is faster than NumPy's
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
PORTION = 1 << 16  # elements added at a time
_WIDE = 32  # elements of a row: longer rows are added whole


@lru_cache(512)
def steps_along(shape: tuple[int, ...], dim: int, wanted: tuple[int, ...]) -> tuple[int, Any]:
    """The stride of `dim` in a contiguous array of a shape, and the flat indices of the elements with index 0 along it.

    Args:
        wanted: the shape of the index; the flat indices have this shape, but size 1 along `dim`.
    """
    ndim, stride, own = len(shape), 1, 1
    starts: Any = np.zeros((1,) * ndim, np.int64)
    for d in range(ndim - 1, -1, -1):
        if d == dim:
            own = stride
        else:
            starts = starts + (np.arange(wanted[d]) * stride).reshape((-1,) + (1,) * (ndim - 1 - d))
        stride *= shape[d]
    starts.flags.writeable = False
    return own, starts


def check_index(op: str, index: Any) -> None:
    """Raise unless `index` is an array of int32 or int64."""
    if is_numpy(index) and index.dtype.kind == "i" and index.itemsize >= 4:
        return
    if not hasattr(index, "dtype"):
        raise TypeError(f"{op}(): argument 'index' (position 3) must be Tensor, not {type(index).__name__}")
    if index.dtype not in (np.int32, np.int64) and 0 not in index.shape:
        raise RuntimeError(f"{op}(): Expected dtype int32/int64 for index, not {index.dtype}")


def check_bounds(
    index: Any, dim: int, size: int, low: int = 0, error: type[Exception] = RuntimeError, op: str = ""
) -> None:
    """Raise unless `low <= index < size` everywhere."""
    if is_numpy(index) and low == 0:
        if index.size < FEW and index.dtype.kind == "i":
            found_all = index.ravel().tolist()
            if not found_all or (max(found_all) < size and min(found_all) >= 0):
                return
        # Read as unsigned, negative indices are large: one pass instead of two.
        unsigned = index.view(_UNSIGNED[index.itemsize])
        if not index.size or _maximum(unsigned, None) < size:
            return
    if prod(index.shape):
        for found in (int(np.min(index)), int(np.max(index))):
            if not low <= found < size:
                where = f"{op}(): " if op else ""
                raise error(f"{where}index {found} is out of bounds for dimension {dim} with size {size}")


def check_flat(places: Any, size: int) -> None:
    """Raise unless places in an array of so many elements, which may count from the end, are within it."""
    for found in (int(np.min(places)), int(np.max(places))) if prod(places.shape) else ():
        if not -size <= found < size:
            raise IndexError(f"out of range: tried to access index {found} on a tensor of {size} elements.")


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


def counted_from_front(index: Any, size: int) -> Any:
    """Wrap negative indices, which count from the end."""
    return np.where(index < 0, index + size, index)


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


def places_along(index: Any, dim: int, shape: Any) -> Any:
    """The flat indices, in an array of a shape, of the elements that `gather(array, dim, index)` reads."""
    ndim = len(shape)
    if ndim == 1:
        return index
    if is_numpy(index) and index.size < SMALL:
        stride, starts = steps_along(tuple(shape), dim, index.shape)
        return (starts + (index if stride == 1 else index * stride)).reshape(-1)
    others: Any = None
    stride = own = 1
    for d in range(ndim - 1, -1, -1):
        if d == dim:
            own = stride
        else:
            steps = reshaped(np.arange(index.shape[d]), (-1,) + (1,) * (ndim - 1 - d))
            steps = steps if stride == 1 else steps * stride
            others = steps if others is None else others + steps
        stride *= shape[d]
    if is_numpy(index) and index.size >= PORTION:
        return _scaled_and_added(index, own, others.reshape((1,) * (ndim - others.ndim) + others.shape)).reshape(-1)
    return reshaped((index if own == 1 else index * own) + others, (-1,))


def _scaled_and_added(index: Any, stride: int, others: Any) -> Any:
    """`index * stride + others`, in portions that fit into the cache; `others` is broadcast."""
    out = np.empty(index.shape, np.int64)
    step = max(1, PORTION * len(index) // index.size)
    for start in range(0, len(index), step):
        part = slice(start, start + step)
        np.multiply(index[part], stride, out=out[part])
        np.add(out[part], others if len(others) == 1 else others[part], out=out[part])
    return out


def vector_along(array: Any, dim: int, index: Any) -> Any:
    """The vector that a large `index` is an expansion of along all dimensions but `dim`; None if it is not.

    Raises:
        RuntimeError: for an index out of bounds.
    """
    if not is_numpy(array) or not is_numpy(index) or index.size < SMALL or index.dtype != np.int64:
        return None
    ndim = array.ndim
    d = dim + ndim if dim < 0 else dim
    if ndim < 2 or index.ndim != ndim or not 0 <= d < ndim or not array.flags.c_contiguous:
        return None
    if any(k != d and (s or index.shape[k] != array.shape[k]) for k, s in enumerate(index.strides)):
        return None
    vector = index[(*(0,) * d, slice(None), *(0,) * (ndim - d - 1))]
    check_bounds(np.ascontiguousarray(vector), d, array.shape[d])
    return vector


def places_of(index: tuple[Any, ...], shape: Any) -> Any:
    """The flat indices, in an array of a shape, of the elements that `array[index]` reads; of the result's shape."""
    return np.reshape(np.arange(prod(shape)), tuple(shape))[index]
