"""Windows that slide over the last dimensions of arrays: the geometry that convolution and pooling share.

A geometry is three tuples, one number for each spatial dimension: kernel, stride and dilation. A
window is a view with strides of its own, never a copy.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library


def padded(x: Any, before: Any, after: Any = None, value: Any = 0) -> Any:
    """`x` with `before` and `after` (the same) more elements along its last dimensions; itself if there are none."""
    after = before if after is None else after
    if not any(before) and not any(after):
        return x
    lead = x.shape[: x.ndim - len(before)]
    inner = x.shape[x.ndim - len(before) :]
    shape = (*lead, *(b + n + a for b, n, a in zip(before, inner, after, strict=True)))
    out = np.zeros(shape, x.dtype) if not value else np.full(shape, value, x.dtype)
    place: Any = (..., *(slice(b, b + n) for b, n in zip(before, inner, strict=True)))
    out[place] = x
    return out


def cropped(x: Any, before: Any, size: Any) -> Any:
    """The part of `x` that `padded` put into it."""
    return x[(..., *(slice(b, b + n) for b, n in zip(before, size, strict=True)))]


def windows(x: Any, kernel: Any, stride: Any, dilation: Any, count: Any) -> Any:
    """A view of shape (*leading, *kernel, *count): element k of the window at place c."""
    lead = x.ndim - len(kernel)
    steps = x.strides[lead:]
    shape = (*x.shape[:lead], *kernel, *count)
    strides = (
        *x.strides[:lead],
        *(s * d for s, d in zip(steps, dilation, strict=True)),
        *(s * d for s, d in zip(steps, stride, strict=True)),
    )
    if type(x) is _array_type and x.flags.c_contiguous and x.dtype.kind != "V":
        return _array_type(shape, x.dtype, x, 0, strides)  # a tenth of the time of as_strided
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def moved(x: Any, source: int, target: int) -> Any:
    """`numpy.moveaxis`, which takes four times as long to call."""
    order = _order(x.ndim, source, target)
    return x.transpose(order) if type(x) is _array_type else np.permute_dims(x, order)


@lru_cache(256)
def _order(ndim: int, source: int, target: int) -> tuple[int, ...]:
    order = [d for d in range(ndim) if d != source]
    return (*order[:target], source, *order[target:])


def offsets(kernel: Any) -> Any:
    """The positions in a window, in row-major order."""
    return product(*map(range, kernel))


def at(offset: Any, stride: Any, dilation: Any, count: Any) -> tuple[Any, ...]:
    """The index that takes from a padded array, for all windows, the element at a position of the window."""
    return (
        ...,
        *(slice(o * d, o * d + (n - 1) * s + 1, s) for o, s, d, n in zip(offset, stride, dilation, count, strict=True)),
    )


def extent(kernel: Any, stride: Any, dilation: Any, count: Any) -> tuple[int, ...]:
    """How many elements `count` windows reach over."""
    return tuple(
        (n - 1) * s + (k - 1) * d + 1 if n else 0 for k, s, d, n in zip(kernel, stride, dilation, count, strict=True)
    )


def reaching(x: Any, padding: Any, kernel: Any, stride: Any, dilation: Any, count: Any, value: Any = 0) -> Any:
    """`x` padded by `padding` before, and after as far as the windows reach."""
    size = tuple(x.shape[x.ndim - len(kernel) :])
    return padded(x, padding, _after(size, *map(tuple, (padding, kernel, stride, dilation, count))), value)


@lru_cache(256)
def _after(size: Any, padding: Any, kernel: Any, stride: Any, dilation: Any, count: Any) -> tuple[int, ...]:
    reach = extent(kernel, stride, dilation, count)
    return tuple(max(0, r - p - n) for r, p, n in zip(reach, padding, size, strict=True))


@lru_cache(512)
def even_parts(size: int, count: int) -> tuple[int, int] | None:
    """Return the length of `count` parts of a dimension and the step from one to the next, if all have the same."""
    start, stop = adaptive_bounds(size, count)
    length, step = int(stop[0]), int(start[-1]) // (count - 1) if count > 1 else size
    same = bool(np.all(stop - start == length) and np.all(start == np.arange(count) * step))
    return (length, step) if same else None


def adaptive_parts(size: int, count: int) -> list[Any]:
    """Return, for k = 0, 1, ..., index k in each of `count` parts of a dimension; short parts repeat their last."""
    start, stop = adaptive_bounds(size, count)
    return [np.minimum(start + k, stop - 1) for k in range(int((stop - start).max()))]


def adaptive_bounds(size: int, count: int) -> tuple[Any, Any]:
    """Where each of `count` parts of a dimension begins and ends."""
    nr = np.arange(count)
    return nr * size // count, -((-(nr + 1) * size) // count)
