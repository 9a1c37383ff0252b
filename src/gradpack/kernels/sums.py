"""Sums of gradients, and of the rows and columns of one: large ones over all cores.

The sum of two is written to the first where nobody else holds that.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

from ..base.pool import split
from .dispatch import LARGE, PYTHON, accelerated

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
MANY = 2 * LARGE  # elements, from which on sums are split
_LEAST = 1 << 12  # elements, below which a new array costs less than to ask


def accumulated(a: Any, b: Any, names: int = 0) -> Any:
    """Return `a + b`, written to `a` if that is an array to which nothing but the argument of the caller refers.

    Args:
        names: how many references the caller of the caller has.
    """
    if type(a) is not _array_type or type(b) is not _array_type or a.size < _LEAST:
        return a + b
    is_free = a.base is None and a.flags.writeable and getrefcount(a) == _FREE + names
    if not _alike(a, b):
        return _with_rows(a, b, is_free) if a.size >= MANY else a + b
    out = a if is_free else np.empty(a.shape, a.dtype)
    if a.size < MANY:
        return np.add(a, b, out=out)
    first = a.reshape(-1)
    added(first, b.reshape(-1), first if out is a else out.reshape(-1))
    return out


def _with_rows(a: Any, b: Any, is_free: bool) -> Any:
    """Return `a + b`, of which one may repeat a number in each row, as gradients of means do."""
    if a.dtype is not b.dtype or a.shape != b.shape:
        return a + b
    for whole, other in ((a, b), (b, a)):
        if other.strides[-1] == 0 and whole.shape[-1] >= _FEW and whole.flags.c_contiguous:
            out = whole if is_free and whole is a else np.empty(whole.shape, whole.dtype)
            rows = whole.reshape(-1, whole.shape[-1])
            added_to_rows(rows, other[..., 0].reshape(-1), rows if out is whole else out.reshape(rows.shape))
            return out
    return a + b


def add_to(a: Any, b: Any) -> None:
    """Add to a large array in place."""
    if type(b) is not _array_type or not _alike(a, b) or (a is not b and np.may_share_memory(a, b)):
        a += b
    else:
        first = a.reshape(-1)
        added(first, b.reshape(-1), first)


@accelerated
def added(a: Any, b: Any, out: Any) -> None:
    """Write the sum of two vectors into a third one, which may be the first: the same object then."""
    split(lambda low, high: np.add(a[low:high], b[low:high], out=out[low:high]), a.size, PYTHON)


@accelerated
def added_to_rows(x: Any, numbers: Any, out: Any) -> None:
    """Write the rows of a matrix, to each of which a number is added, to another one or to the same."""
    np.add(x, numbers[:, None], out=out)


_FEW = 8  # numbers of a row, below which one of each row is no less to read
_ROWS = 256  # rows that NumPy may add up one after another: the rounding errors of many grow with their number


@accelerated
def sums_of_rows(x: Any) -> Any:
    """Return the sum of each row of a matrix."""
    return np.add.reduce(x, 1)


@accelerated
def sum_over_rows(x: Any) -> Any:
    """Return the sum of the rows of a matrix: of parts, and of parts of these."""
    while len(x) > _ROWS:
        whole = len(x) - len(x) % _ROWS
        parts = np.add.reduce(x[:whole].reshape(-1, _ROWS, x.shape[1]), 1)
        if whole < len(x):
            parts[-1] += np.add.reduce(x[whole:], 0)
        x = parts
    return np.add.reduce(x, 0)


def _alike(a: Any, b: Any) -> bool:
    return bool(a.dtype is b.dtype and a.shape == b.shape and a.flags.c_contiguous and b.flags.c_contiguous)


def _references(a: Any, b: Any, names: int = 0) -> int:
    return getrefcount(a)


def _through(a: Any, b: Any, names: int = 0) -> int:
    return _references(a, b, names)


_FREE = _through({0: object()}.pop(0), None)  # of what the engine's dict held alone, as it arrives in `accumulated`
