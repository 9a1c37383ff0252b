"""Maps along dimensions: a few taps for each result, and borders around images."""

from __future__ import annotations

from typing import Any

from .loop import loop


@loop
def rows_taken(x: Any, index: Any, weight: Any, out: Any) -> None:
    """`out[b, j] = sum over t of weight[t, j] * x[b, index[t, j]]`, for the rows of three-dimensional arrays."""
    taps, count = index.shape
    for b in range(x.shape[0]):
        for j in range(count):
            row = out[b, j]
            first, by = x[b, index[0, j]], weight[0, j]
            if taps == 1:
                for i in range(row.size):
                    row[i] = by * first[i]
                continue
            second, factor = x[b, index[1, j]], weight[1, j]
            for i in range(row.size):
                row[i] = by * first[i] + factor * second[i]
            for t in range(2, taps):
                more, factor = x[b, index[t, j]], weight[t, j]
                for i in range(row.size):
                    row[i] += factor * more[i]


@loop
def elements_taken(x: Any, index: Any, weight: Any, out: Any) -> None:
    """`out[b, j] = sum over t of weight[t, j] * x[b, index[t, j]]`, for matrices."""
    taps, count = index.shape
    for b in range(x.shape[0]):
        source, row = x[b], out[b]
        for j in range(count):
            total = weight[0, j] * source[index[0, j]]
            for t in range(1, taps):
                total += weight[t, j] * source[index[t, j]]
            row[j] = total


@loop
def bordered(x: Any, rows: Any, columns: Any, before: int, out: Any) -> None:
    """`out[b, i, j] = x[b, rows[i], columns[j]]`, where `columns` are in order from `before` on, all of them."""
    width, wide = x.shape[2], columns.size
    for b in range(x.shape[0]):
        for i in range(rows.size):
            source, target = x[b, rows[i]], out[b, i]
            for j in range(before):
                target[j] = source[columns[j]]
            inside = target[before : before + width]
            for j in range(width):
                inside[j] = source[j]
            for j in range(before + width, wide):
                target[j] = source[columns[j]]


@loop
def unbordered(g: Any, rows: Any, columns: Any, before: int, out: Any) -> None:
    """The adjoint of `bordered`, added to `out`."""
    width, wide = out.shape[2], columns.size
    for b in range(g.shape[0]):
        for i in range(rows.size):
            source, target = g[b, i], out[b, rows[i]]
            inside = source[before : before + width]
            for j in range(width):
                target[j] += inside[j]
            for j in range(before):
                target[columns[j]] += source[j]
            for j in range(before + width, wide):
                target[columns[j]] += source[j]
