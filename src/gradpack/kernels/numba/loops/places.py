"""Reading and writing at places that indices name. Callers have checked that all of them are there."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import inlined, loop


@loop
def extremes_of_rows(out: Any, index: Any, source: Any, largest: bool) -> None:
    """`out[b, index[k]]` becomes the larger (or smaller) of itself and `source[b, k]`; a NaN stays."""
    for b in range(out.shape[0]):
        for k in range(index.size):
            row, given = out[b, index[k]], source[b, k]
            if largest:
                for i in range(row.size):
                    a, v = row[i], given[i]
                    row[i] = a if a >= v or a != a else v  # noqa: PLR0124 - only NaN differs from itself
            else:
                for i in range(row.size):
                    a, v = row[i], given[i]
                    row[i] = a if a <= v or a != a else v  # noqa: PLR0124


@inlined
def _goes_before(v: Any, w: Any, largest: bool) -> Any:
    """Whether `v` is larger (or smaller) than `w`, where NaN is larger than every number."""
    return (v > w or (v != v and w == w)) if largest else (v < w or (w != w and v == v))  # noqa: PLR0124


@loop
def top(x: Any, largest: bool, values: Any, indices: Any) -> None:
    """The first elements of each row in order, and where they are: as many as `values` has room for."""
    few = values.shape[1]
    for r in range(x.shape[0]):
        row, found, where = x[r], values[r], indices[r]
        for j in range(row.size):
            v = row[j]
            if j >= few and not _goes_before(v, found[few - 1], largest):
                continue
            place = min(j, few - 1)
            while place > 0 and _goes_before(v, found[place - 1], largest):
                found[place], where[place] = found[place - 1], where[place - 1]
                place -= 1
            found[place], where[place] = v, j


@loop
def count_in_bins(x: Any, first: Any, last: Any, counts: Any) -> None:
    """How many elements fall into each of some bins of equal width between two numbers; the last one has both ends."""
    bins = counts.size
    many, width = x.dtype.type(bins), last - first
    for i in range(x.size):
        v = x[i]
        if v >= first and v <= last:
            place = np.int64((v - first) * many / width)
            counts[min(place, bins - 1) if v != last else bins - 1] += 1


@loop
def read_at(images: Any, weight: Any, index: Any, out: Any) -> None:
    """`out[n, c, p] = sum over t of weight[t, n, p] * images[n, c, index[t, n, p]]`, for four channels at a time."""
    taps, batch, places = index.shape
    channels = images.shape[1]
    whole = channels - channels % 4
    zero = images.dtype.type(0)
    for n in range(batch):
        for c in range(0, whole, 4):
            first, second, third, fourth = images[n, c], images[n, c + 1], images[n, c + 2], images[n, c + 3]
            for p in range(places):
                a = b = d = e = zero
                for t in range(taps):
                    i, w = index[t, n, p], weight[t, n, p]
                    a += w * first[i]
                    b += w * second[i]
                    d += w * third[i]
                    e += w * fourth[i]
                out[n, c, p], out[n, c + 1, p], out[n, c + 2, p], out[n, c + 3, p] = a, b, d, e
        for c in range(whole, channels):
            image = images[n, c]
            for p in range(places):
                a = zero
                for t in range(taps):
                    a += weight[t, n, p] * image[index[t, n, p]]
                out[n, c, p] = a


@loop
def add_at(given: Any, weight: Any, index: Any, images: Any) -> None:
    """Add `weight[t, n, p] * given[n, c, p]` to `images[n, c, index[t, n, p]]`."""
    taps, batch, places = index.shape
    for n in range(batch):
        for c in range(images.shape[1]):
            image, row = images[n, c], given[n, c]
            for t in range(taps):
                where, factors = index[t, n], weight[t, n]
                for p in range(places):
                    image[where[p]] += factors[p] * row[p]


@loop
def products_at(given: Any, images: Any, index: Any, out: Any) -> None:
    """`out[t, n, p] = sum over c of given[n, c, p] * images[n, c, index[t, n, p]]`."""
    taps, batch, places = index.shape
    for n in range(batch):
        for t in range(taps):
            where, total = index[t, n], out[t, n]
            total[:] = 0
            for c in range(images.shape[1]):
                image, row = images[n, c], given[n, c]
                for p in range(places):
                    total[p] += row[p] * image[where[p]]


# -- elements of rows, of vectors, and whole rows --


@loop
def take_in_rows(x: Any, index: Any, out: Any) -> None:
    """`out[r, k] = x[r, index[r, k]]`."""
    for r in range(index.shape[0]):
        row, where, found = x[r], index[r], out[r]
        for k in range(where.size):
            found[k] = row[where[k]]


@loop
def set_in_rows(out: Any, index: Any, values: Any) -> None:
    """`out[r, index[r, k]] = values[r, k]`, one after another."""
    for r in range(index.shape[0]):
        row, where, given = out[r], index[r], values[r]
        for k in range(where.size):
            row[where[k]] = given[k]


@loop
def add_in_rows(out: Any, index: Any, values: Any) -> None:
    """`out[r, index[r, k]] += values[r, k]`."""
    for r in range(index.shape[0]):
        row, where, given = out[r], index[r], values[r]
        for k in range(where.size):
            row[where[k]] += given[k]


@loop
def add_flat(out: Any, index: Any, values: Any) -> None:
    """`out[index[k]] += values[k]`."""
    for k in range(index.size):
        out[index[k]] += values[k]


@loop
def add_rows(out: Any, target: Any, table: Any, source: Any) -> None:
    """`out[target[k]] += table[source[k]]`; without `source`, of size 0, `table[k]`."""
    for k in range(target.size):
        row, given = out[target[k]], table[source[k] if source.size else k]
        for i in range(row.size):
            row[i] += given[i]
