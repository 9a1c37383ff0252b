"""`index_add` of rows of large arrays, by products with SciPy's sparse matrices if it is installed.

`out[rows[k]] += values[k]` is `out += S @ values` for a matrix S with a one in each column. SciPy
runs one compiled loop for that, which reads and writes each row once and adds in the order of k; so does
the extra `compiled`. Without both the functions here return False, or None, and the caller uses its own code.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from ...kernels.dispatch import loops
from ..pointwise.blockwise import is_numpy

ENOUGH = 1 << 16  # elements: below this callers do not call these functions, as importing SciPy takes 0.2 s


@cache
def _loops() -> Any:
    try:
        from scipy.sparse import _sparsetools
    except ImportError:
        return None
    return _sparsetools


def _fit(matrix: Any, like: Any, rows: Any) -> bool:
    """Whether the loops support these arrays, and all row numbers are in bounds: the loops do not check."""
    if not is_numpy(matrix) or not is_numpy(like) or matrix.dtype.char not in "fd" or matrix.dtype != like.dtype:
        return False
    if not (matrix.flags.c_contiguous and matrix.flags.aligned) or rows.dtype != np.int64:
        return False
    inside: bool = np.maximum.reduce(rows.view(np.uint64), None) < len(matrix)  # as unsigned, negative ones are large
    return inside


def added_rows(out: Any, rows: Any, values: Any) -> bool:
    """`out[rows[k]] += values[k]` for every k. Returns False, without effect, for unsupported arrays."""
    if not _fit(out, values, rows):
        return False
    count, width = values.shape
    given, where = np.ascontiguousarray(values), np.ascontiguousarray(rows)
    fast = loops("places", given, out) if out.flags.writeable else None
    if fast is not None:
        fast.add_rows(out, where, given, where[:0])
        return True
    if _loops() is None:
        return False
    one, columns = np.ones(count, out.dtype), np.arange(count + 1)
    _loops().csc_matvecs(len(out), count, width, columns, where, one, given.reshape(-1), out.reshape(-1))
    return True


def summed_rows(table: Any, source: Any, target: Any, count: int) -> Any:
    """A matrix of `count` rows, `out[target[k]] += table[source[k]]` for every k, from zeros.

    None for unsupported arrays; without compiled loops also if neither `source` nor `target` is sorted.
    """
    width = table.shape[1]
    if not is_numpy(table) or source.size * width < ENOUGH or not _fit(table, table, source):
        return None
    out = np.zeros((count, width), table.dtype)
    if not _fit(out, table, target):
        return None
    one, given, made = np.ones(source.size, table.dtype), table.reshape(-1), out.reshape(-1)
    source, target = np.ascontiguousarray(source), np.ascontiguousarray(target)
    fast = loops("places", table)
    if fast is not None:
        fast.add_rows(out, target, table, source)
        return out
    if _loops() is None:
        return None
    if _in_order(target):
        starts = np.searchsorted(target, np.arange(count + 1))
        _loops().csr_matvecs(count, len(table), width, starts, source, one, given, made)
    elif _in_order(source):
        starts = np.searchsorted(source, np.arange(len(table) + 1))
        _loops().csc_matvecs(count, len(table), width, starts, target, one, given, made)
    else:
        return None
    return out


def added_in_rows(out: Any, table: Any, values: Any) -> bool:
    """`out[i, table[i, j]] += values[i, j]`, by SciPy's conversion of a CSR matrix to dense; False if unsupported.

    `table` has the shape of `values`; its numbers are not checked.
    """
    if not (is_numpy(out) and is_numpy(values)) or out.dtype.char not in "fd" or out.dtype != values.dtype:
        return False
    if not out.flags.c_contiguous or table.dtype != np.int64 or _loops() is None:
        return False
    count, width = table.shape
    step = count if table.strides[0] else max(1, min(count, ENOUGH // width))  # a broadcast row is written out
    numbers = np.ascontiguousarray(table[:step]).reshape(-1)
    given, ends = np.ascontiguousarray(values), np.arange(step + 1) * width
    for start in range(0, count, step):
        part, made = given[start : start + step], out[start : start + step]
        _loops().csr_todense(len(part), out.shape[1], ends[: len(part) + 1], numbers, part.reshape(-1), made)
    return True


# -- in-place changes of rows of contiguous float matrices: products with a diagonal matrix --


def add_multiples(out: Any, factors: Any, rows: Any) -> None:
    """`out[k] += factors[k] * rows[k]`."""
    count, width = rows.shape
    if not _compiled(rows):
        product = repeated(factors, np.empty_like(rows))
        np.multiply(product, rows, out=product)
        np.add(out, product, out=out)
        return
    places = _diagonal(count)
    _loops().csr_matvecs(count, count, width, places, places, factors, rows.reshape(-1), out.reshape(-1))


def add_repeated(matrix: Any, column: Any) -> None:
    """`matrix[k] += column[k]`."""
    count, width = matrix.shape
    if not _compiled(matrix):
        np.add(matrix, repeated(column, np.empty_like(matrix)), out=matrix)
        return
    ones, first = np.ones(width, matrix.dtype), np.zeros(count, np.int32)
    _loops().csr_matvecs(count, 1, width, _diagonal(count), first, column, ones, matrix.reshape(-1))


def scale_rows(matrix: Any, factors: Any) -> None:
    """`matrix[k] *= factors[k]`."""
    count, width = matrix.shape
    if not _compiled(matrix):
        np.multiply(matrix, repeated(factors, np.empty_like(matrix)), out=matrix)
        return
    starts = _diagonal(count) * width  # the matrix is dense, so column indices do not matter
    _loops().csr_scale_rows(count, width, starts, starts[:1], matrix.reshape(-1), factors)


def repeated(column: Any, out: Any) -> Any:
    """Fill each row of `out` with its element of a column.

    As a product of matrices with two columns and two rows, that takes BLAS a third of the time of an operation in
    which NumPy repeats a column, and a tenth of that of a product with one.
    """
    pair = np.zeros((len(column), 2), out.dtype)
    pair[:, 0] = column
    return np.matmul(pair, np.ones((2, out.shape[1]), out.dtype), out=out)


def _compiled(matrix: Any) -> bool:
    """Whether there are compiled loops, and a matrix for which they pay: callers have blocks of `ENOUGH` elements."""
    return is_numpy(matrix) and matrix.size >= ENOUGH // 2 and _loops() is not None


@lru_cache(8)
def _diagonal(count: int) -> Any:
    """The column indices and row pointers of a diagonal matrix in CSR form."""
    return np.arange(count + 1, dtype=np.int32)


def _in_order(numbers: Any) -> bool:
    return bool((numbers[1:] >= numbers[:-1]).all())
