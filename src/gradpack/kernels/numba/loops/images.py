"""Loops over images: maxima over windows, a few taps for each result, and borders."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import loop


@loop
def maxima(x: Any, kernel: Any, stride: Any, before: Any, apart: Any, values: Any, codes: Any) -> None:
    """The largest element of each window, and its position in it: of equal ones the first, of NaN the last.

    Args:
        x: (images, height, width).
        before: what is in front of the first row and column does not count, nor what is behind the last ones.
        values, codes: (images, rows, columns).
    """
    height, width = x.shape[1], x.shape[2]
    rows, columns = values.shape[1], values.shape[2]
    low = x.dtype.type(-np.inf)
    numbers = np.empty(columns, np.int32)
    four = kernel[0] == 2 and kernel[1] == 2 and stride[1] == 2 and apart[1] == 1 and before[1] == 0
    four = four and before[0] == 0 and (rows - 1) * stride[0] + apart[0] < height and 2 * columns <= width
    if four:
        _of_four(
            x.reshape(-1), height, width, stride[0], apart[0], rows, columns, values.reshape(-1), codes.reshape(-1)
        )
        return
    for n in range(x.shape[0]):
        for i in range(rows):
            best, code = values[n, i], codes[n, i]
            top = i * stride[0] - before[0]
            for j in range(columns):
                best[j], numbers[j] = low, -1
            for k in range(kernel[0]):
                u = top + k * apart[0]
                if u < 0 or u >= height:
                    continue
                row = x[n, u]
                for m in range(kernel[1]):
                    shift = m * apart[1] - before[1]
                    number = np.int32(k * kernel[1] + m)
                    first = max(0, -(shift // stride[1]))
                    last = min(columns, (width - 1 - shift) // stride[1] + 1)
                    for j in range(first, last):
                        v = row[j * stride[1] + shift]
                        more = (v > best[j]) | (v != v) | (numbers[j] < 0)  # noqa: PLR0124 - NaN alone differs from itself
                        best[j] = v if more else best[j]
                        numbers[j] = number if more else numbers[j]
            for j in range(columns):
                code[j] = numbers[j]


@loop
def _of_four(
    x: Any, height: int, width: int, step: int, apart: int, rows: int, columns: int, values: Any, codes: Any
) -> None:
    """The same for windows of two by two that lie side by side and in the image, of arrays in one dimension."""
    one, two, three = np.uint8(1), np.uint8(2), np.uint8(3)
    for line in range(values.size // columns):
        upper = (line // rows * height + line % rows * step) * width
        lower, to = upper + apart * width, line * columns
        for j in range(columns):
            a, b, c, d = x[upper + 2 * j], x[upper + 2 * j + 1], x[lower + 2 * j], x[lower + 2 * j + 1]
            later = (b > a) | (b != b)  # noqa: PLR0124
            top, left = (b if later else a), (one if later else np.uint8(0))
            later = (d > c) | (d != d)  # noqa: PLR0124
            bottom, right = (d if later else c), (three if later else two)
            later = (bottom > top) | (bottom != bottom)  # noqa: PLR0124
            values[to + j] = bottom if later else top
            codes[to + j] = right if later else left


@loop
def put_back(g: Any, codes: Any, kernel: Any, stride: Any, before: Any, apart: Any, out: Any) -> None:
    """Write to `out`, (images, height, width), each element of `g`, (images, rows, columns), where its maximum was."""
    height, width = out.shape[1], out.shape[2]
    images, rows, columns = g.shape
    high, wide = kernel[0], kernel[1]
    downs = np.empty(high * wide, np.int64)  # for each position, how far down and to the right it is
    asides = np.empty(high * wide, np.int64)
    for k in range(high * wide):
        downs[k], asides[k] = k // wide * apart[0] - before[0], k % wide * apart[1] - before[1]
    for n in range(images):
        out[n] = 0
        for i in range(rows):
            for j in range(columns):
                k = codes[n, i, j]
                if k < high * wide:
                    u, v = i * stride[0] + downs[k], j * stride[1] + asides[k]
                    if u >= 0 and u < height and v >= 0 and v < width:
                        out[n, u, v] += g[n, i, j]


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
