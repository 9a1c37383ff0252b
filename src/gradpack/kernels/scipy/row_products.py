"""Rows added to rows.

`out[rows[k]] += values[k]` is `out += S @ values` for a matrix S with a one in each column. The loops read and
write each row once, and add in the order of k. They do not check row numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as loops

from ..conditions import MANY


def add_wide(values: Any, out: Any, rows: Any) -> Any:
    """As `ops.index.accumulate.add_wide`."""
    count, width = values.shape
    given, where = np.ascontiguousarray(values), np.ascontiguousarray(rows)
    one, columns = np.ones(count, out.dtype), np.arange(count + 1)
    loops.csc_matvecs(len(out), count, width, columns, where, one, given.reshape(-1), out.reshape(-1))
    return out


def summed_rows(table: Any, source: Any, target: Any, count: int) -> Any:
    """As `ops.nn.embedding_bag.summed_rows`, if `source` or `target` is in order."""
    width, out = table.shape[1], np.zeros((count, table.shape[1]), table.dtype)
    one, given, made = np.ones(source.size, table.dtype), table.reshape(-1), out.reshape(-1)
    source, target = np.ascontiguousarray(source), np.ascontiguousarray(target)
    if _in_order(target):
        starts = np.searchsorted(target, np.arange(count + 1))
        loops.csr_matvecs(count, len(table), width, starts, source, one, given, made)
    elif _in_order(source):
        starts = np.searchsorted(source, np.arange(len(table) + 1))
        loops.csc_matvecs(count, len(table), width, starts, target, one, given, made)
    else:
        return NotImplemented
    return out


def add_in_rows(values: Any, out: Any, indices: Any) -> None:
    """As `ops.reduce.kernels.add_in_rows`, by the conversion of a CSR matrix to a dense one."""
    table, rows = indices.reshape(-1, indices.shape[-1]), out.reshape(-1, out.shape[-1])
    count, width = table.shape
    step = count if table.strides[0] else max(1, min(count, MANY // width))  # a broadcast row is written out
    numbers = np.ascontiguousarray(table[:step]).reshape(-1)
    given, ends = np.ascontiguousarray(values).reshape(table.shape), np.arange(step + 1) * width
    for start in range(0, count, step):
        part, made = given[start : start + step], rows[start : start + step]
        loops.csr_todense(len(part), rows.shape[1], ends[: len(part) + 1], numbers, part.reshape(-1), made)


def _in_order(numbers: Any) -> bool:
    return bool((numbers[1:] >= numbers[:-1]).all())
