"""Recurrences, products and softmax along the last dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dispatch import HEAVY, PART
from .loops import rows as loops
from .loops import sums
from .ranges import Each, over, part_of

SUMMED = 1 << 16  # elements of a part of a sum, which is read once


def _lines(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1])


def running_sums(input: Any, place: int, backwards: bool) -> Any:
    """As `ops.reduce.cumulate.running_sums`."""
    out = np.empty_like(input)
    loops.sums(_lines(input), backwards, _lines(out))
    return out


def running_products(input: Any, place: int) -> Any:
    """As `ops.reduce.cumulate.running_products`."""
    out = np.empty_like(input)
    loops.products(_lines(input), _lines(out))
    return out


def running_extremes(input: Any, place: int, smallest: bool) -> Any:
    """As `ops.reduce.cumulate.running_extremes`."""
    values, indices = np.empty_like(input), np.empty(input.shape, np.int64)
    loops.extremes(_lines(input), smallest, _lines(values), _lines(indices))
    return values, indices


def recurrence_along(a: Any, b: Any, place: int, backwards: bool) -> Any:
    """As `ops.reduce.cumulate.recurrence_along`."""
    out = np.empty_like(b)
    loops.recurrence(_lines(a), _lines(b), backwards, _lines(out))
    return out


def sums_of_rows(x: Any) -> Any:
    """As `kernels.sums.sums_of_rows`."""
    out = np.empty(len(x), x.dtype)
    over(SUMMED, sums.rows_added, x, out)
    return out


def sum_over_rows(x: Any) -> Any:
    """As `kernels.sums.sum_over_rows`."""
    totals = np.empty((-(-len(x) // part_of(SUMMED, x)), x.shape[1]))
    over(SUMMED, sums.added_over_rows, x, Each(totals))
    return np.add.reduce(totals, axis=0).astype(x.dtype)


def products_of_rows(rows: Any) -> Any:
    """As `ops.reduce.kernels.products_of_rows`."""
    out = np.empty(len(rows), rows.dtype)
    loops.rows_multiplied(rows, out)
    return out


def _of_rows(loop: Callable[..., None], part: int) -> Callable[..., Any]:
    """A loop over the rows of one matrix or two as a function of arrays, and of the last dimension."""

    def run(*given: Any) -> Any:
        arrays = given[:-1]
        out = np.empty(arrays[0].shape, arrays[0].dtype)
        over(part, loop, *map(_lines, (*arrays, out)))
        return out

    return run


softmax, log_softmax = _of_rows(loops.softmax, HEAVY), _of_rows(loops.log_softmax, HEAVY)
softmax_slope = _of_rows(loops.softmax_gradient, PART)
log_softmax_slope = _of_rows(loops.log_softmax_gradient, PART)
