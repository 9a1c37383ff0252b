"""Where the elements that indices name lie in a flat array, and whether the indices are within bounds."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL, _maximum, reshaped

FEW = 32  # indices: for fewer, Python's `max` is faster than NumPy's
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
PORTION = 1 << 16  # elements added at a time


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


def check_index(op: str, index: Any, any_empty: bool = True) -> None:
    """Raise unless `index` is an array of int32 or int64, or an empty one of any dtype."""
    if is_numpy(index) and index.dtype.kind == "i" and index.itemsize >= 4:
        return
    if not hasattr(index, "dtype"):
        raise TypeError(f"{op}(): argument 'index' (position 3) must be Tensor, not {type(index).__name__}")
    if index.dtype not in (np.int32, np.int64) and not (any_empty and 0 in index.shape):
        raise RuntimeError(f"{op}(): Expected dtype int32/int64 for index, not {index.dtype}")


def check_bounds(
    index: Any, dim: int, size: int, low: int = 0, error: type[Exception] = RuntimeError, op: str = ""
) -> None:
    """Raise unless `low <= index < size` everywhere."""
    if is_numpy(index) and index.size < FEW and index.dtype.kind == "i":
        found_all = index.ravel().tolist()
        if not found_all or (max(found_all) < size and min(found_all) >= low):
            return
    if is_numpy(index) and low == 0:
        # Read as unsigned, negative indices are large: one pass instead of two.
        unsigned = index.view(_UNSIGNED[index.itemsize])
        if not index.size:
            return
        if (unsigned.item(unsigned.argmax()) if index.size < SMALL else _maximum(unsigned, None)) < size:
            return
    for found in _outside(index, low, size):
        where = f"{op}(): " if op else ""
        raise error(f"{where}index {found} is out of bounds for dimension {dim} with size {size}")


def _outside(places: Any, low: int, high: int) -> list[int]:
    """Return the least and the greatest of integers that are not in a range, if there are any."""
    if not prod(places.shape) or not bool(np.any((places < low) | (places >= high))):
        return []
    return [found for found in (int(np.min(places)), int(np.max(places))) if not low <= found < high]


def check_flat(places: Any, size: int, low: int | None = None) -> None:
    """Raise unless places in an array of so many elements, which count from the end below zero, are within it."""
    for found in _outside(places, -size if low is None else low, size):
        raise IndexError(f"out of range: tried to access index {found} on a tensor of {size} elements.")


def counted_from_front(index: Any, size: int) -> Any:
    """Wrap negative indices, which count from the end."""
    return np.where(index < 0, index + size, index)


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
