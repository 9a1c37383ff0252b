"""Elements read, added and compared at indices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base import late
from .loops import places


def read_at(images: Any, weight: Any, index: Any) -> Any:
    """As `ops.nn.grid_sample.read_at`."""
    out = np.empty((*images.shape[:2], index.shape[2]), images.dtype)
    places.read_at(images, weight, index, out)
    return out


def add_at(given: Any, weight: Any, index: Any, count: int) -> Any:
    """As `ops.nn.grid_sample.add_at`."""
    out = np.zeros((*given.shape[:2], count), given.dtype)
    places.add_at(given, weight, index, out)
    return out


def products_at(images: Any, given: Any, index: Any) -> Any:
    """As `ops.nn.grid_sample.products_at`."""
    out = np.zeros(index.shape, images.dtype)
    places.products_at(given, images, index, out)
    return out


def take_in_rows(x: Any, indices: Any) -> Any:
    """As `ops.reduce.kernels.take_in_rows`."""
    table = _rows(indices)
    out = np.empty(table.shape, x.dtype)
    places.take_in_rows(_rows(x), table, out)
    return out.reshape(indices.shape)


def add_in_rows(values: Any, out: Any, indices: Any) -> None:
    """As `ops.reduce.kernels.add_in_rows`."""
    table = _rows(indices)
    places.add_in_rows(_rows(out), table, values.reshape(table.shape))


def set_in_rows(values: Any, out: Any, indices: Any) -> None:
    """As `ops.reduce.kernels.set_in_rows`."""
    table = _rows(indices)
    places.set_in_rows(_rows(out), table, values.reshape(table.shape))


def _rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1])


def add_numbers(values: Any, out: Any, indices: Any) -> Any:
    """As `ops.index.accumulate.add_numbers`."""
    places.add_flat(out, indices.reshape(-1), values)
    return out


def add_wide(values: Any, out: Any, rows: Any) -> Any:
    """As `ops.index.accumulate.add_wide`."""
    rows = np.ascontiguousarray(rows)
    places.add_rows(out, rows, np.ascontiguousarray(values), rows[:0])
    return out


def summed_rows(table: Any, source: Any, target: Any, count: int) -> Any:
    """As `ops.nn.embedding_bag.summed_rows`."""
    out = np.zeros((count, table.shape[1]), table.dtype)
    places.add_rows(out, np.ascontiguousarray(target), table, np.ascontiguousarray(source))
    return out


def put_extremes(out: Any, src: Any, index: Any, dim: int, largest: bool, include_self: bool) -> Any:
    """As `ops.index.scatter_reduce.put_extremes`, for an index that is one vector for all lines."""
    d, vector = dim % out.ndim, late.vector_along(out, dim, index)
    if vector is None:
        return NotImplemented
    if not include_self:
        out[(*(slice(None),) * d, vector)] = src
    before, after = prod(out.shape[:d]), prod(out.shape[d + 1 :])
    kept, more = (a.reshape(before, -1, after) for a in (out, src))
    places.extremes_of_rows(kept, np.ascontiguousarray(vector), more, largest)
    return out


def count_in_bins(values: Any, edges: Any) -> Any:
    """As `ops.reduce.bins.count_in_bins`."""
    counts = np.zeros(len(edges) - 1, np.int64)
    places.count_in_bins(values, edges[0], edges[-1], counts)
    return counts.astype(values.dtype)


def top(input: Any, k: int, place: int, largest: bool) -> Any:
    """As `ops.reduce.order.top`."""
    values, where = (np.empty((*input.shape[:-1], k), kind) for kind in (input.dtype, np.int64))
    places.top(_rows(input), largest, values.reshape(-1, k), where.reshape(-1, k))
    return values, where
