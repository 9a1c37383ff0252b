"""Large matrix products, in parts over all cores; BLAS computes each part on one thread.

The parts follow from the shapes alone, so that results do not depend on the number of threads.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base.blas import on_one_thread
from ...base.pool import split

_PART = 1 << 22  # multiplications of a part, at least: more than the time that it takes to wake a thread
_READ = 1 << 19  # elements of the left factor of a part, which are read once, at least
_LINES = 64  # rows or columns of a tile of a part: whole tiles of BLAS. Each part packs the whole other matrix


def product(a: Any, b: Any) -> Any:
    """As `backends.numpy.product`."""
    is_small = a.ndim == b.ndim == 2 and a.size * b.shape[1] < _PART
    return on_one_thread(np.matmul if is_small else _product, a, b)


def _product(a: Any, b: Any) -> Any:
    if a.ndim == 1:
        return np.matmul(a, b) if b.ndim == 1 else _product(b.mT, a) if b.ndim == 2 else np.matmul(a, b)
    if a.ndim == 2 and b.ndim <= 2:
        return _of_matrix(a, b)
    if b.ndim == 1 or prod(a.shape[:-2]) == prod(b.shape[:-2]) == 1:
        return np.matmul(a, b) if b.ndim == 1 else _one(a, b)
    return _batched(a, b)


def _of_matrix(a: Any, b: Any) -> Any:
    rows, inner = a.shape
    columns = b.shape[1] if b.ndim == 2 else 1
    parts = max(rows * inner * columns // _PART, a.size // _READ)
    lines = max(rows, columns)
    if parts < 2 or (lines < 2 * _LINES and inner < 4096):
        return np.matmul(a, b)
    if lines < 2 * _LINES:
        return _summed(a, b, max(1024, -(-inner // parts)))
    part = _LINES * _tiles(-(-lines // _LINES), parts)
    out = np.empty((rows, *b.shape[1:]), a.dtype)
    if rows >= columns:
        split(lambda low, high: np.matmul(a[low:high], b, out=out[low:high]), rows, part)
    else:
        split(lambda low, high: np.matmul(a, b[:, low:high], out=out[:, low:high]), columns, part)
    return out


def _tiles(tiles: int, parts: int) -> int:
    """Return how many tiles each of at most so many parts has: four, or as many as make four parts."""
    least = min(max(4, tiles // 4), parts, tiles)
    even = (count for count in range(least, min(2 * least, parts, tiles) + 1) if not (count % 2 or tiles % count))
    return -(-tiles // next(even, least))


def _summed(a: Any, b: Any, part: int) -> Any:
    """The sum of the products of parts of the inner dimension, in their order."""
    inner = a.shape[1]
    each = np.empty((-(-inner // part), a.shape[0], *b.shape[1:]), a.dtype)
    split(lambda low, high: np.matmul(a[:, low:high], b[low:high], out=each[low // part]), inner, part)
    return np.add.reduce(each, axis=0)


def _one(a: Any, b: Any) -> Any:
    """The product where there is one matrix on each side."""
    made = _of_matrix(a.reshape(a.shape[-2:]), b.reshape(b.shape[-2:]))
    return made.reshape((1,) * (max(a.ndim, b.ndim) - 2) + made.shape)


def _batched(a: Any, b: Any) -> Any:
    """Products of many matrices, in parts of the first batch dimension that has more than one."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = np.empty((*batch, a.shape[-2], b.shape[-1]), a.dtype)
    axis = next(i for i, size in enumerate(batch) if size > 1)
    given = [x if x.ndim == out.ndim else x.reshape((1,) * (out.ndim - x.ndim) + x.shape) for x in (a, b)]
    each = prod(batch[axis + 1 :]) * a.shape[-2] * a.shape[-1] * b.shape[-1]
    before = (slice(None),) * axis

    def work(low: int, high: int) -> None:
        at = (*before, slice(low, high))
        x, y = (x if x.shape[axis] == 1 else x[at] for x in given)
        np.matmul(x, y, out=out[at])

    split(work, batch[axis], max(1, _PART // 2 // each))
    return out
