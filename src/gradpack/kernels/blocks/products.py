"""Large matrix products, in parts over all cores; BLAS computes each part on one thread.

The parts follow from the shapes alone, so that results do not depend on the number of threads.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base.blas import on_one_thread
from ...base.pool import split
from ..dispatch import dense

_LINES = 64  # rows or columns of a matrix: whole tiles of BLAS
_MUCH = 1 << 25  # multiplications of each of more than two parts
_PART = 1 << 22  # multiplications of a part, at least: more than the time that it takes to wake a thread
_READ = 1 << 19  # elements of the left factor of a part, which are read once, at least


def _lines_of_part(lines: int, multiplications: int, least: int) -> int:
    """Return how many rows or columns each part of a product has: there are few parts, as each packs a whole matrix.

    Args:
        lines: rows or columns of the product.
        least: multiplications of a part.
    """
    units = -(-lines // _LINES)
    wanted = max(2, min(multiplications // _MUCH, units // 4))
    return -(-units // max(1, min(wanted, units, multiplications // least))) * _LINES


def product(a: Any, b: Any) -> Any:
    """As `backends.numpy.product`."""
    a, b = dense(a), dense(b)
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


def affine(a: Any, b: Any, bias: Any) -> Any:
    """Return `a @ b` plus a vector, of two matrices."""
    if a.size * b.shape[1] < 2 * _PART:
        return NotImplemented
    return on_one_thread(_of_matrix, a, b, bias)


def _of_matrix(a: Any, b: Any, bias: Any = None) -> Any:
    rows, inner = a.shape
    columns = b.shape[1] if b.ndim == 2 else 1
    multiplications, lines = rows * inner * columns, max(rows, columns)
    by_rows = rows >= min(columns, 4 * _LINES)  # columns are not written where they belong, but copied there
    if lines < 2 * _LINES and inner >= 4096 and bias is None:
        parts = max(multiplications // _PART, a.size // _READ)
        return np.matmul(a, b) if parts < 2 else _summed(a, b, max(1024, -(-inner // parts)))
    if b.ndim == 1:
        part = _LINES * -(-rows // (_LINES * max(1, a.size // _READ)))
    else:
        part = _lines_of_part(rows if by_rows else columns, multiplications, _PART)
    out = np.empty((rows, *b.shape[1:]), a.dtype)

    def work(low: int, high: int) -> None:
        if by_rows:
            made, plus = np.matmul(a[low:high], b, out=out[low:high]), bias
        else:
            made = np.matmul(a, b[:, low:high], out=out[:, low:high])
            plus = None if bias is None else bias[low:high]
        if plus is not None:
            np.add(made, plus, out=made)

    split(work, rows if by_rows else columns, part)
    return out


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
