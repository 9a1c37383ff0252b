"""Convolution and pooling of few elements: windows are taken by a table of places, made once for each geometry.

What a convolution of a few hundred elements costs is calls, not arithmetic. So all windows of the whole batch are
taken by one index, and one product of matrices (or one reduction) does the rest.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...backends.numpy import as_intp, product
from ..reduce.kernels import _add, _array_type, _maximum, _minimum
from .sliding import adaptive_parts

Sizes = tuple[int, ...]
FEW = 4096  # elements of all windows


class Table(NamedTuple):
    """Where the windows of a geometry lie.

    Attributes:
        index: (batch, groups, channels / groups * kernel, places): places in the flat input; its size is a zero.
        padded: does any window reach beyond the input?
        size: the number of elements of the input.
    """

    index: Any
    padded: bool
    size: int


@lru_cache(256)
def _table(
    shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, count: Sizes, groups: int
) -> Table | None:
    if not 0 < shape[0] * shape[1] * prod(kernel) * prod(count) <= FEW or not prod(shape):
        return None
    lines = [
        np.arange(k)[:, None] * d + np.arange(c) * s - p
        for k, s, p, d, c in zip(kernel, stride, padding, dilation, count, strict=True)
    ]
    return _of_lines(shape, lines, groups)


def _of_lines(shape: Sizes, lines: Any, groups: int) -> Table:
    """The table of windows whose elements lie, along each dimension, at places (kernel, windows)."""
    batch, channels, *space = shape
    inside: Any = np.ones((1, 1), bool)
    place: Any = np.zeros((1, 1), np.int64)  # (kernel, places)
    for n, at in zip(space, lines, strict=True):
        fits = (at >= 0) & (at < n)
        place = place[:, None, :, None] * n + at[None, :, None, :]
        inside = inside[:, None, :, None] & fits[None, :, None, :]
        place, inside = (a.reshape(a.shape[0] * len(at), -1) for a in (place, inside))
    images = np.arange(batch * channels).reshape(batch, groups, -1, 1, 1) * prod(space)
    index = np.where(inside, place + images, prod(shape)).reshape(batch, groups, -1, place.shape[1])
    return Table(as_intp(index), not inside.all(), prod(shape))


def table_for(
    a: Any, b: Any, shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, count: Any, groups: int
) -> Table | None:
    """The table for an input of a shape, if it and the two operands are small arrays of NumPy's of one dtype."""
    if type(a) is not _array_type or a.size > FEW or b.size > FEW or a.dtype != b.dtype:
        return None
    return _table(shape, kernel, stride, padding, dilation, tuple(count), groups)


def columns(x: Any, table: Table, beyond: Any = 0) -> Any:
    """Return all windows, in the shape of the table's index; `beyond` is the value outside the input."""
    flat = x.reshape(-1)
    if table.padded:
        whole = np.empty(table.size + 1, x.dtype)
        whole[:-1], whole[-1] = flat, beyond
        flat = whole
    return flat.take(table.index)


def output(x: Any, weight: Any, table: Table, count: Any, bias: Any) -> Any:
    """The convolution at `count` places."""
    groups = table.index.shape[1]
    made = product(weight.reshape(groups, weight.shape[0] // groups, -1), columns(x, table))
    made = made.reshape(x.shape[0], weight.shape[0], *count)
    if bias is not None:
        made += bias.reshape(-1, *(1,) * len(count))
    return made


def input_gradient(y: Any, weight: Any, table: Table, shape: Any) -> Any:
    """The gradient of a convolution by its input of a shape."""
    groups = table.index.shape[1]
    matrix = weight.reshape(groups, weight.shape[0] // groups, -1).mT
    made = product(matrix, y.reshape(y.shape[0], groups, weight.shape[0] // groups, -1))
    return placed(made.reshape(-1), table.index.reshape(-1), table, shape)


def placed(values: Any, index: Any, table: Table, shape: Any) -> Any:
    """Add values up at places of an input of a shape: the adjoint of `columns`."""
    out = np.zeros(table.size + 1, values.dtype)
    np.add.at(out, index, values)
    return out[:-1].reshape(shape)


def weight_gradient(y: Any, x: Any, table: Table, shape: Any) -> Any:
    """The gradient of a convolution by its weight of a shape."""
    groups = table.index.shape[1]
    given = y.reshape(y.shape[0], groups, y.shape[1] // groups, -1)
    made = product(given, columns(x, table).mT)
    return (made if len(made) == 1 else _add(made, 0)).reshape(shape)


# -- pooling: each channel by itself; a geometry is (kernel, stride, padding, dilation, count) --


def table_of_pool(a: Any, shape: Any, geometry: Any) -> Table | None:
    """The table for pooling an input of a shape, if it and an operand are small arrays of NumPy's."""
    if type(a) is not _array_type or a.size > FEW:
        return None
    kernel, stride, padding, dilation, count = geometry
    lead, space = tuple(shape[: len(shape) - len(kernel)]), tuple(shape[len(shape) - len(kernel) :])
    return _table((prod(lead), 1, *space), kernel, stride, padding, dilation, count, 1)


def _pooled(shape: Any, geometry: Any) -> Any:
    return (*shape[: len(shape) - len(geometry[0])], *geometry[4])


def pooled_sums(x: Any, table: Table, geometry: Any) -> Any:
    """Sums over windows."""
    return _add(columns(x, table), 2).reshape(_pooled(x.shape, geometry))


def pooled_sums_back(g: Any, table: Table, shape: Any) -> Any:
    """The adjoint of `pooled_sums`."""
    return placed(g.reshape(table.index.shape[0], 1, 1, -1), table.index, table, shape)


def pooled_values(x: Any, table: Table, geometry: Any, lowest: Any) -> Any:
    """Maxima over windows."""
    return _maximum(columns(x, table, lowest), 2).reshape(_pooled(x.shape, geometry))


def pooled_maxima(x: Any, table: Table, geometry: Any, lowest: Any) -> tuple[Any, Any] | None:
    """Maxima over windows and their positions; None for NaN, and where a maximum may be that of the padding."""
    windows = columns(x, table, lowest)
    best = _maximum(windows, 2)
    flat = best.reshape(-1)
    squares = flat.dot(flat)
    if squares != squares or (table.padded and _minimum(best, None) == lowest):  # noqa: PLR0124 - NaN
        return None
    shape = _pooled(x.shape, geometry)
    code = windows.argmax(2).astype(np.uint8 if windows.shape[2] <= 256 else np.int32)
    return best.reshape(shape), code.reshape(shape)


def pooled_maxima_back(g: Any, code: Any, table: Table, shape: Any) -> Any:
    """Zeros with each element of `g` added where its maximum was."""
    rows, _, kernel, places = table.index.shape
    at = np.multiply(code.reshape(rows, places), places, dtype=np.intp)
    at += _first_places(rows, kernel, places)
    return placed(g.reshape(-1), table.index.reshape(-1).take(at.reshape(-1)), table, shape)


@lru_cache(256)
def _first_places(rows: int, kernel: int, places: int) -> Any:
    """Where the first element of each window stands in the index of a table of pooling."""
    return np.arange(rows)[:, None] * (kernel * places) + np.arange(places)


def places_at(table: Any, code: Any, count: Any) -> Any:
    """The elements of a flat table (kernel * places) at positions (..., *count) in the windows."""
    places = prod(count)
    at = np.multiply(code.reshape(-1, places), places, dtype=np.intp)
    at += _first_places(1, 0, places)
    return table.take(at).reshape(code.shape)


@lru_cache(256)
def _uneven(shape: Sizes, count: Sizes) -> tuple[Table, Any] | None:
    """The table of the parts that divide the last dimensions, and the places that it has for the first image."""
    lead, space = shape[: len(shape) - len(count)], shape[len(shape) - len(count) :]
    lines = [np.stack(adaptive_parts(n, m)) for n, m in zip(space, count, strict=True)]
    if prod(lead) * prod([line.size for line in lines]) > FEW:
        return None
    table = _of_lines((prod(lead), 1, *space), lines, 1)
    return table, table.index[0, 0].astype(np.int64).reshape(-1)


def adaptive_maxima(x: Any, count: Sizes, lowest: Any) -> tuple[Any, Any] | None:
    """Maxima over the parts that divide the last dimensions, and their places; None for many elements, or NaN."""
    found = _uneven(x.shape, count) if type(x) is _array_type and x.size <= FEW else None
    if found is None:
        return None
    made = pooled_maxima(x, found[0], (count, (), (), (), count), lowest)
    return None if made is None else (made[0], places_at(found[1], made[1], count))
