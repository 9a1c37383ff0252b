"""Pooling on arrays: maxima with their places, and sums, over windows.

Both go along one dimension after the other, element by element of the window: each step is one
instruction over all windows. The place of a maximum is a small number, its position in the window.

A geometry is (kernel, stride, padding, dilation, count), each with one number for every dimension.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...backends.numpy import as_intp
from ...kernels.dispatch import accelerated
from ..reduce.kernels import _array_type
from . import small_windows as small
from .sliding import at, cropped, offsets, reaching


def lowest(dtype: Any) -> Any:
    """Return the smallest value of a NumPy dtype, -inf for floating point."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def _steps(x: Any, axis: int, step: Any) -> Any:
    """The elements at each position of the windows along a dimension."""
    if isinstance(step, tuple):
        k, s, d, n = step
        for nr in range(k):
            yield x[(slice(None),) * axis + (slice(nr * d, nr * d + (n - 1) * s + 1, s),)]
    else:
        for places in step:
            yield np.take(x, places, axis=axis)


def _regular(geometry: Any) -> list[Any]:
    kernel, stride, _, dilation, count = geometry
    return list(zip(kernel, stride, dilation, count, strict=True))


def _axes(x: Any, geometry: Any) -> Any:
    """The dimensions with windows, the last first, and where the windows are along each."""
    return zip(range(x.ndim - 1, -1, -1), reversed(_regular(geometry)), strict=False)


def _length(step: Any) -> int:
    return int(step[0]) if isinstance(step, tuple) else len(step)


def greatest_with_codes(x: Any, steps: list[Any], nan: bool = False) -> tuple[Any, Any]:
    """The maxima, and the position in its window of the first element that is one; of the last NaN, if any."""
    total = prod([_length(s) for s in steps])
    small = np.uint8 if total <= 256 else np.int32
    unit = 1
    code: Any = None
    for i in reversed(range(len(steps))):
        axis = x.ndim - len(steps) + i
        codes = iter(_steps(code, axis, steps[i])) if code is not None else None
        best: Any = None
        for nr, seen in enumerate(_steps(x, axis, steps[i])):
            known = next(codes) if codes is not None else None
            if best is None:
                best = np.array(seen)
                found = np.zeros(best.shape, small) if known is None else np.array(known)
                continue
            better = seen > best
            if nan:
                better |= seen != seen  # noqa: PLR0124 - only NaN differs from itself
            np.maximum(best, seen, out=best)
            # positions grow, so that the larger of two is the later one
            place = nr * unit if known is None else known + small(nr * unit)
            np.maximum(found, np.multiply(better.view(np.uint8), place, dtype=small), out=found)
        x, code = best, found
        unit *= _length(steps[i])
    if not nan and x.dtype.kind == "f" and x.size and np.isnan(np.max(x)):
        raise _NanError
    return x, code


class _NanError(Exception):
    pass


@accelerated
def max_with_codes(x: Any, geometry: Any) -> tuple[Any, Any]:
    """Maxima over windows and their positions in them."""
    kernel, stride, padding, dilation, count = geometry
    low = lowest(x.dtype)
    table = small.table_of_pool(x, x.shape, geometry)
    few = None if table is None else small.pooled_maxima(x, table, geometry, low)
    if few is not None:
        return few
    whole = reaching(x, padding, kernel, stride, dilation, count, low)
    steps = _regular(geometry)
    try:
        best, code = greatest_with_codes(whole, steps)
    except _NanError:
        best, code = greatest_with_codes(whole, steps, True)
    if any(padding) and np.any(best == low):  # as low as the padding: the first element that is none
        first: Any = np.zeros((), code.dtype)
        for k, s, p, d, n in zip(kernel, stride, padding, dilation, count, strict=True):
            start = np.arange(n) * s - p
            first = np.expand_dims(first * k, -1) + (-np.minimum(start, 0) + d - 1) // d
        code = np.where(best == low, first.astype(code.dtype), code)
    return best, code


def max_values(x: Any, geometry: Any) -> Any:
    """Maxima over windows."""
    kernel, stride, padding, dilation, count = geometry
    table = small.table_of_pool(x, x.shape, geometry)
    if table is not None:
        return small.pooled_values(x, table, geometry, lowest(x.dtype))
    x = reaching(x, padding, kernel, stride, dilation, count, lowest(x.dtype))
    for axis, step in _axes(x, geometry):
        parts = _steps(x, axis, step)
        x = np.array(next(parts))
        for seen in parts:
            np.maximum(x, seen, out=x)
    return x


def flat_places(code: Any, size: Any, geometry: Any) -> Any:
    """The index in the flattened last dimensions, of `size`, of each position in a window."""
    if (
        type(code) is _array_type
        and 0 < code.size <= small.FEW
        and (table := _flat_table(tuple(size), geometry)) is not None
    ):
        return small.places_at(table, code, geometry[4])
    return _flat_places(code, size, geometry)


@lru_cache(256)
def _flat_table(size: Any, geometry: Any) -> Any:
    """The index of each element of each window (kernel * places); None for many."""
    codes = np.arange(prod(geometry[0])).reshape(-1, *(1,) * len(size))
    return (
        _flat_places(codes + np.zeros(geometry[4], np.int64), size, geometry).reshape(-1)
        if 0 < codes.size * prod(geometry[4]) <= small.FEW
        else None
    )


def _flat_places(code: Any, size: Any, geometry: Any) -> Any:
    kernel, stride, padding, dilation, count = geometry
    ndim = len(kernel)
    rest = code.astype(np.int64)
    index = np.zeros(code.shape, np.int64)
    pitch = 1
    for i in reversed(range(ndim)):
        rest, nr = np.divmod(rest, kernel[i])
        start = np.arange(count[i]) * stride[i] - padding[i]
        index += (np.reshape(start, (-1,) + (1,) * (ndim - 1 - i)) + nr * dilation[i]) * pitch
        pitch *= size[i]
    return index


@accelerated
def max_place(g: Any, code: Any, size: Any, geometry: Any) -> Any:
    """Zeros with each element of `g` added where its maximum was."""
    kernel, stride, padding, dilation, count = geometry
    lead = g.shape[: g.ndim - len(kernel)]
    table = small.table_of_pool(g, (*lead, *size), geometry)
    if table is not None:
        return small.pooled_maxima_back(g, code, table, (*lead, *size))
    if prod(kernel) > 64:
        return placed_flat(g, flat_places(code, size, geometry), (*lead, *size), len(kernel))
    apart = all(s >= (k - 1) * d + 1 for k, s, d in zip(kernel, stride, dilation, strict=True))
    reach = tuple(
        max(p + n, (c - 1) * s + (k - 1) * d + 1)
        for n, k, s, p, d, c in zip(size, kernel, stride, padding, dilation, count, strict=True)
    )
    covered = apart and kernel == stride and reach == tuple(k * c for k, c in zip(kernel, count, strict=True))
    out = (np.empty if covered and g.size else np.zeros)((*lead, *reach), g.dtype)
    plain = g.dtype.kind != "f" or bool(np.isfinite(np.sum(g)))  # else zero times infinity would be NaN
    for nr, offset in enumerate(offsets(kernel)) if g.size else ():
        here = code == nr
        target = out[at(offset, stride, dilation, count)]
        if apart and plain:
            np.multiply(g, here, out=target)
        elif apart:
            target[...] = np.where(here, g, np.zeros((), g.dtype))
        else:
            target += g * here if plain else np.where(here, g, np.zeros((), g.dtype))
    return out if out.shape == (*lead, *size) else np.ascontiguousarray(cropped(out, padding, size))


def picked_flat(x: Any, index: Any, ndim: int) -> Any:
    """The elements at indices into the last `ndim` dimensions, flattened."""
    lead = x.shape[: x.ndim - ndim]
    rows, inner = prod(lead), prod(x.shape[x.ndim - ndim :])
    if not index.size:
        return np.zeros(index.shape, x.dtype)
    where = np.reshape(index, (rows, -1)) + np.arange(rows)[:, None] * inner
    return np.reshape(np.take(np.reshape(x, (-1,)), as_intp(where)), index.shape)


def placed_flat(g: Any, index: Any, shape: Any, ndim: int) -> Any:
    """Zeros of `shape` with `g` added at indices into the last `ndim` dimensions, flattened: the adjoint."""
    lead = shape[: len(shape) - ndim]
    rows, inner = prod(lead), prod(shape[len(shape) - ndim :])
    out = np.zeros(rows * inner, g.dtype)
    if g.size:
        where = np.reshape(index, (rows, -1)) + np.arange(rows)[:, None] * inner
        np.add.at(out, where.reshape(-1), np.reshape(g, (-1,)))
    return np.reshape(out, shape)


# -- sums --


def sums(x: Any, geometry: Any) -> Any:
    """Sums over windows; padding counts as zeros."""
    kernel, stride, padding, dilation, count = geometry
    table = small.table_of_pool(x, x.shape, geometry)
    if table is not None:
        return small.pooled_sums(x, table, geometry)
    x = reaching(x, padding, kernel, stride, dilation, count)
    for axis, step in _axes(x, geometry):
        parts = _steps(x, axis, step)
        x = np.array(next(parts))
        for seen in parts:
            x += seen
    return x


def sums_back(g: Any, size: Any, geometry: Any) -> Any:
    """The adjoint of `sums`: each element of `g` added to all elements of its window."""
    kernel, stride, padding, dilation, count = geometry
    ndim = len(kernel)
    shape = (*g.shape[: g.ndim - ndim], *size)
    table = small.table_of_pool(g, shape, geometry)
    if table is not None:
        return small.pooled_sums_back(g, table, shape)
    for i in range(ndim):
        axis = g.ndim - ndim + i
        reach = max(padding[i] + size[i], (count[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1)
        out = np.zeros((*g.shape[:axis], reach, *g.shape[axis + 1 :]), g.dtype)
        if g.size:
            for target in _steps(out, axis, (kernel[i], stride[i], dilation[i], count[i])):
                target += g
        g = out[(slice(None),) * axis + (slice(padding[i], padding[i] + size[i]),)]
    return np.ascontiguousarray(g)
