"""Sums, products and maxima on arrays, with fast paths for NumPy arrays.

`numpy.sum` along short rows, and over leading dimensions of narrow arrays, spends its time between
the rows. A product with a vector of ones does the same in BLAS; the parts that it adds up one
after another are short, so that rounding errors stay as small as those of pairwise summation.
Arrays of other libraries take the plain form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...backends.numpy import as_intp, product
from ...kernels.dispatch import accelerated, undivided

_Sizes = tuple[int, ...]
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce
_maximum: Any = np.maximum.reduce
_minimum: Any = np.minimum.reduce

SMALL = 4096  # elements: below this the plain form is as fast
ROWS = 1 << 15  # elements of rows that go through the cache together
CHUNK = 1024  # elements that BLAS may add up one after another, of which it keeps several sums
_FEW = 9216  # elements of a matrix, up to which BLAS multiplies it by a vector on one thread
_LONG = 1 << 18  # elements of rows that BLAS would add up with too large an error
ROW_CHUNK = 128  # rows of which it keeps one sum


def float_kind(array: Any) -> str:
    """Give "f" for real floating point numbers, "c" for complex ones, "" for others."""
    if type(array) is _array_type:
        kind = array.dtype.kind
        return kind if kind in "fc" else "f" if kind == "V" else ""
    return (
        "f" if np.isdtype(array.dtype, "real floating") else "c" if np.isdtype(array.dtype, "complex floating") else ""
    )


@undivided(ROWS)
def add_up(x: Any, over: Any = None, keepdims: bool = False) -> Any:
    """The sum over dimensions (None: all), as `numpy.sum`."""
    if type(x) is not _array_type:
        x = np.astype(x, np.int64) if np.isdtype(x.dtype, "bool") else x
        return np.sum(x, axis=over, keepdims=keepdims)
    if x.size < SMALL or x.dtype.char not in "fd":
        return _add(x, over, None, None, keepdims)
    if not x.flags.c_contiguous:
        if not x.flags.f_contiguous:
            return _add(x, over, None, None, keepdims)
        ndim = x.ndim
        turned = over if over is None else ndim - 1 - over % ndim if type(over) is int else tuple(-1 - d for d in over)
        return add_up(x.T, turned, keepdims).T
    sums, shape, made = _way(x.shape, over, keepdims)
    return _add(x, over, None, None, keepdims) if sums is None else sums(x.reshape(shape)).reshape(made)


@lru_cache(1024)
def _way(shape: _Sizes, over: Any, keepdims: bool) -> tuple[Callable[[Any], Any] | None, _Sizes, _Sizes]:
    """Return the function that adds up a row-major array; the shape that it takes the array in, and of the result.

    The function is None where NumPy is as fast.
    """
    ndim = len(shape)
    dims = list(range(ndim)) if over is None else [over % ndim] if type(over) is int else sorted(d % ndim for d in over)
    if dims[-1] - dims[0] != len(dims) - 1:
        return None, (), ()
    lead, trail = shape[: dims[0]], shape[dims[-1] + 1 :]
    before, middle, after = math.prod(lead), math.prod(shape[dims[0] : dims[-1] + 1]), math.prod(trail)
    made = (*lead, *((1,) * len(dims) if keepdims else ()), *trail)
    if before == 1 and middle * after < ROWS and (after == 1 or (after >= 48 and middle <= 320)):
        return None, (), ()
    if before == 1 and after > 1:
        return _over_few_rows if middle < 64 and middle * after <= _FEW else over_rows, (middle, after), made
    if after >= CHUNK:  # NumPy adds whole rows of this length to one another: as fast as it gets
        return None, (), ()
    return (of_rows, (before, middle), made) if after == 1 else (_columns, (before, middle, after), made)


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """`numpy.reshape`, which takes four times as long to call."""
    return x.reshape(shape) if type(x) is _array_type else np.reshape(x, shape)


def broadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """`numpy.broadcast_to` for a shape that is known to fit, with less overhead: a read-only view."""
    if type(x) is not _array_type or not x.size or x.dtype.kind == "V" or not x.flags.c_contiguous:
        return np.broadcast_to(x, shape)
    new = len(shape) - x.ndim
    steps = [s if n == m else 0 for n, m, s in zip(x.shape, shape[new:], x.strides, strict=True)]
    for i in range(new - 1, -1, -1):  # as in torch, new dimensions of size 1 have a contiguous stride
        steps.insert(0, (shape[i + 1] * steps[0] if steps else x.itemsize) if shape[i] == 1 else 0)
    out = _array_type(shape, x.dtype, x, 0, tuple(steps))
    out.flags.writeable = False
    return out


@lru_cache(64)
def averaging(count: int, native: Any) -> Any:
    """A column vector of `1 / count`: rows of `count` elements times it are their means."""
    column = np.full((count, 1), 1 / count if count else math.nan, native)
    column.flags.writeable = False
    return column


@lru_cache(64)
def _ones(count: int, native: Any) -> Any:
    """A vector of ones, of which there are few."""
    row = np.ones(count, native)
    row.flags.writeable = False
    return row


@lru_cache(64)
def ones_column(count: int, native: Any) -> Any:
    """A column vector of ones: rows of `count` elements times it are their sums, faster than a short reduction."""
    return _ones(count, native)[:, None]


def mean_of_rows(rows: Any) -> Any:
    """The mean of each row of a matrix, as a column."""
    count = rows.shape[1]
    if type(rows) is _array_type and rows.size < SMALL and rows.dtype.char in "fd":
        return product(rows, averaging(count, rows.dtype))
    return add_up(rows, 1, True) / count


def mean_products(a: Any, b: Any) -> Any:
    """The mean of the products of elements of corresponding rows of two matrices, as a column."""
    count = a.shape[1]
    if type(a) is _array_type and type(b) is _array_type and a.size >= SMALL and 0 < count <= CHUNK:
        if a.dtype.char in "fd" and a.dtype == b.dtype:  # no products are kept
            return np.vecdot(a, b)[:, None] / count
    return mean_of_rows(a * b)


def _over_few_rows(x: Any) -> Any:
    """The sum of the rows of a small matrix, by a product that BLAS computes on one thread."""
    return np.matmul(_ones(len(x), x.dtype), x)


@accelerated
def over_rows(x: Any) -> Any:
    """The sum of the rows of a matrix."""
    return _add(x, 0) if x.shape[1] >= CHUNK else _columns(x[None])[0]


@accelerated
def of_rows(x: Any) -> Any:
    """Sums of the rows of a matrix."""
    count, length = x.shape
    if length <= CHUNK:
        if length >= 32 and x.size < ROWS:  # no more than a call for each row
            return np.vecdot(x, _ones(length, x.dtype))
        return product(x, _ones(length, x.dtype))
    whole = length - length % CHUNK
    if count > 1 and length < 3 * CHUNK:
        return _add(x, 1)
    parts = x[:, :whole].reshape(count, -1, CHUNK)
    out = _add(product(parts, _ones(CHUNK, x.dtype)), 1)
    return out if whole == length else out + product(x[:, whole:], _ones(length - whole, x.dtype))


def _columns(x: Any) -> Any:
    """Sums of a 3-dim array over its middle dimension."""
    before, middle, after = x.shape
    if middle <= ROW_CHUNK:
        return product(_ones(middle, x.dtype), x)
    whole = middle - middle % ROW_CHUNK
    out = _columns(product(_ones(ROW_CHUNK, x.dtype), x[:, :whole].reshape(before, -1, ROW_CHUNK, after)))
    return out if whole == middle else out + product(_ones(middle - whole, x.dtype), x[:, whole:])


def is_ordered(x: Any) -> bool:
    """Whether an array is known to be a small one without NaN."""
    if type(x) is not _array_type or x.size >= SMALL or x.dtype.char not in "fd":
        return type(x) is _array_type and x.dtype.kind in "iub"
    flat = x.reshape(-1)
    total = flat.dot(flat)
    return bool(total == total)  # noqa: PLR0124 - only NaN differs from itself


@undivided(ROWS)
def square_sum(x: Any, over: Any = None, keepdims: bool = False) -> Any:
    """The sum of squares of real numbers over dimensions."""
    if type(x) is _array_type and x.dtype.char in "fd":
        if x.size < SMALL:
            if over is not None and over in (-1, x.ndim - 1):
                return np.vecdot(x, x)[..., None] if keepdims else np.vecdot(x, x)
        elif over is None and not keepdims and x.flags.c_contiguous:
            flat = x.reshape(-1)
            whole = flat.shape[0] - flat.shape[0] % CHUNK
            parts, rest = flat[:whole].reshape(-1, CHUNK), flat[whole:]
            return _add(np.vecdot(parts, parts), None) + np.vecdot(rest, rest)
        elif over in (-1, x.ndim - 1) and x.shape[-1] <= CHUNK:
            out = np.vecdot(x, x)
            return out[..., None] if keepdims else out
    return add_up(x * x, over, keepdims)


@undivided(_LONG)
def dots(x: Any, y: Any) -> Any:
    """The dot products of corresponding rows of two matrices or stacks of them; long rows in parts, which rounds less.

    BLAS accumulates sequentially: for 20 million float32 elements the fifth digit is wrong.
    """
    n = x.shape[-1]
    if type(x) is not _array_type or n <= _LONG:
        return np.vecdot(x, y)
    whole = n - n % CHUNK
    parts = (*x.shape[:-1], whole // CHUNK, CHUNK)
    out = _add(np.vecdot(x[..., :whole].reshape(parts), y[..., :whole].reshape(parts)), -1)
    return out if whole == n else out + np.vecdot(x[..., whole:], y[..., whole:])


@undivided(SMALL)
def multiply_up(x: Any, over: Any = None, keepdims: bool = False) -> Any:
    """The product over one dimension (None: all), as `numpy.prod`."""
    if type(x) is not _array_type:
        return np.prod(x, axis=over, keepdims=keepdims)
    if x.size >= SMALL and x.dtype.kind in "fc" and x.flags.c_contiguous and over in (None, -1, x.ndim - 1):
        if over is None:
            return _products(_folded(x.reshape(-1))[None]).reshape((1,) * x.ndim if keepdims else ())
        return products_of_rows(x.reshape(-1, x.shape[-1])).reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1])
    return _multiply(x, over, None, None, keepdims)


@accelerated
def products_of_rows(rows: Any) -> Any:
    """The product of each row of a matrix."""
    out, step = np.empty(len(rows), rows.dtype), max(1, 4 * ROWS // rows.shape[1])
    for start in range(0, len(rows), step):
        out[start : start + step] = _products(rows[start : start + step])
    return out


def _folded(vector: Any) -> Any:
    """Multiply the parts of a long vector into one that fits into the cache and has the same product."""
    if vector.size < 2 * ROWS:
        return vector
    whole = vector.size - vector.size % ROWS
    out = vector[:ROWS].copy()
    for start in range(ROWS, whole, ROWS):
        out *= vector[start : start + ROWS]
    out[: vector.size - whole] *= vector[whole:]
    return out


def _products(rows: Any) -> Any:
    """Products of the rows of a matrix, by repeatedly multiplying the two halves of all rows, as whole arrays.

    Many short rows are taken as one vector, in which every element is multiplied by the next.
    """
    length, odd, many = rows.shape[1], None, len(rows) > 32
    while length > (1 if many else 8):
        if many and length <= 64 and not length % 2:
            flat, length = rows.reshape(-1), length // 2
            rows = (flat[::2] * flat[1::2]).reshape(-1, length)
            continue
        half = length // 2
        if length % 2:
            odd = rows[:, -1] if odd is None else odd * rows[:, -1]
        rows, length = rows[:, :half] * rows[:, half : 2 * half], half
    out = rows[:, 0]
    if length > 1:
        out = _multiply(rows, 1)
    return out if odd is None else out * odd


def largest(x: Any, over: Any = None, keepdims: bool = False) -> Any:
    """The maxima over dimensions (None: all); NaN where there is any."""
    return _extreme(x, over, keepdims, False)


def smallest(x: Any, over: Any = None, keepdims: bool = False) -> Any:
    """The minima over dimensions (None: all); NaN where there is any."""
    return _extreme(x, over, keepdims, True)


@undivided(SMALL)
def _extreme(x: Any, over: Any, keepdims: bool, least: bool) -> Any:
    if type(x) is not _array_type:
        return (np.min if least else np.max)(x, axis=over, keepdims=keepdims)
    short = x.size >= SMALL and type(over) is int and over in (-1, x.ndim - 1) and x.shape[-1] <= 2 * CHUNK
    if not short or not x.flags.c_contiguous:
        return (_minimum if least else _maximum)(x, over, None, None, keepdims)
    length = x.shape[-1]
    rows = x.reshape(-1, length)
    if length <= 16:
        function: Any = np.minimum if least else np.maximum
        out = rows[:, 0].copy()
        for k in range(1, length):
            function(out, rows[:, k], out=out)
    else:  # argmax is vectorised, reducing short rows is not
        places = rows.argmin(-1) if least else rows.argmax(-1)
        places += np.arange(0, x.size, length)
        out = x.reshape(-1).take(places)
    return out.reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1])


@undivided(SMALL)
def take_along(x: Any, indices: Any, place: int) -> Any:
    """`numpy.take_along_axis`."""
    if type(x) is not _array_type:
        return np.take_along_axis(x, indices, axis=place)
    if x.ndim == 1:
        return x[indices]
    if place in (-1, x.ndim - 1) and x.flags.c_contiguous and indices.size:
        if x.shape[:-1] == indices.shape[:-1] and indices.size > PLACES and indices.dtype == np.int64:
            if np.maximum.reduce(indices.view(np.uint64), None) < x.shape[-1]:  # negative ones are large then
                return take_in_rows(x, indices)
        if indices.shape[-1] == 1:
            return x.reshape(-1)[indices.reshape(-1) + np.arange(0, x.size, x.shape[-1])].reshape(indices.shape)
        return x.reshape(-1)[(indices.reshape(-1, indices.shape[-1]) + _starts(x)).reshape(indices.shape)]
    return np.take_along_axis(x, indices, place)


PLACES = 1 << 14  # indices, from which rows are not looked up one by one


def _places_in_rows(x: Any, indices: Any) -> Any:
    """The places of indices into the rows of `x` in the flattened array."""
    return (indices.reshape(-1, indices.shape[-1]) + _starts(x)).reshape(-1)


@accelerated
def take_in_rows(x: Any, indices: Any) -> Any:
    """`gather` along the last dimension; indices are in range."""
    return x.reshape(-1).take(as_intp(_places_in_rows(x, indices))).reshape(indices.shape)


@accelerated
def add_in_rows(values: Any, out: Any, indices: Any) -> None:
    """`scatter_add_` along the last dimension of `out`; indices are in range."""
    np.add.at(out.reshape(-1), _places_in_rows(out, indices), values.reshape(-1))


@accelerated
def set_in_rows(values: Any, out: Any, indices: Any) -> None:
    """`scatter_` along the last dimension of `out`; indices are in range."""
    out.reshape(-1)[_places_in_rows(out, indices)] = values.reshape(-1)


@undivided()
def placed_along(shape: tuple[int, ...], indices: Any, values: Any, place: int) -> Any:
    """Zeros of a shape with `values` written at `indices` along a dimension."""
    if type(values) is not _array_type:  # arrays that cannot be written to by index
        steps = np.reshape(np.arange(shape[place]), tuple(-1 if i == place else 1 for i in range(len(shape))))
        found = np.zeros(shape, dtype=values.dtype)
        for k in range(indices.shape[place]):
            nth = np.asarray([k])
            found = np.where(steps == np.take(indices, nth, axis=place), np.take(values, nth, axis=place), found)
        return found
    out = np.zeros(shape, values.dtype)
    if out.ndim == 1:
        out[indices] = values
    elif place in (-1, out.ndim - 1) and indices.size:
        out.reshape(-1)[indices.reshape(-1, indices.shape[-1]) + _starts(out)] = values.reshape(-1, indices.shape[-1])
    else:
        np.put_along_axis(out, indices, values, place)
    return out


def _starts(x: Any) -> Any:
    return np.arange(0, x.size, x.shape[-1])[:, None]


def exp_into(x: Any) -> Any:
    """The exponential, computed in-place if `x` is a NumPy array."""
    return np.exp(x, out=x) if type(x) is _array_type else np.exp(x)
