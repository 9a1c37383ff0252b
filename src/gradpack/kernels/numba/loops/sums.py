"""Sums over parts of a vector: many partial sums at a time, and a float64 for what blocks of them come to.

Places are unsigned: a signed one is looked at for its sign, and a loop that does so is not vectorised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import loop, summing

BLOCK = 1024  # numbers that are added up in their own dtype, a few dozen at a time
place: Any = np.uint64


@summing
def sum_of(x: Any, start: int, count: int) -> float:
    """The sum of `x[start:start + count]`."""
    whole = 0.0
    for first in range(0, count, BLOCK):
        part = x.dtype.type(0)
        for j in range(min(BLOCK, count - first)):
            part += x[place(start + first) + place(j)]
        whole += part
    return whole


@summing
def squares_about(x: Any, start: int, count: int, centre: Any) -> float:
    """The sum of `(x[start:start + count] - centre) ** 2`."""
    whole = 0.0
    for first in range(0, count, BLOCK):
        part = x.dtype.type(0)
        for j in range(min(BLOCK, count - first)):
            away = x[place(start + first) + place(j)] - centre
            part += away * away
        whole += part
    return whole


@summing
def sum_about(x: Any, start: int, count: int, centre: Any) -> float:
    """The sum of `x[start:start + count] - centre`.

    A mean of more than a standard deviation has lost digits to the large numbers that were added up; the average of
    this is what it lacks.
    """
    whole = 0.0
    for first in range(0, count, BLOCK):
        part = x.dtype.type(0)
        for j in range(min(BLOCK, count - first)):
            part += x[place(start + first) + place(j)] - centre
        whole += part
    return whole


@loop
def moments_of(x: Any, start: int, count: int) -> tuple[Any, Any]:
    """The mean of `x[start:start + count]`, in its dtype, and the (biased) variance."""
    centre = x.dtype.type(sum_of(x, start, count) / count)
    spread = squares_about(x, start, count, centre) / count
    if centre * centre > spread:
        rest = sum_about(x, start, count, centre) / count
        centre, spread = x.dtype.type(centre + rest), max(spread - rest * rest, 0.0)
    return centre, spread


@summing
def sum_and_product(g: Any, x: Any, start: int, count: int, centre: Any) -> tuple[float, float]:
    """The sums of `g` and of `g * (x - centre)`, in the same places."""
    whole, product = 0.0, 0.0
    for first in range(0, count, BLOCK):
        part, other = x.dtype.type(0), x.dtype.type(0)
        for j in range(min(BLOCK, count - first)):
            at = place(start + first) + place(j)
            part += g[at]
            other += g[at] * (x[at] - centre)
        whole += part
        product += other
    return whole, product


@summing
def rows_added(x: Any, out: Any) -> None:
    """The sum of each row."""
    for i in range(x.shape[0]):
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total


_ROWS = 256  # rows that are added up in their own dtype


@loop
def added_over_rows(x: Any, total: Any) -> None:
    """The sum of all rows: in float64 from one block of rows to the next."""
    count, length = x.shape
    part = np.zeros(length, x.dtype)
    total[:] = 0
    for first in range(0, count, _ROWS):
        last = min(first + _ROWS, count)
        part[:] = 0
        paired = first + (last - first) // 4 * 4
        for i in range(first, paired, 4):
            for j in range(length):
                part[j] += (x[i, j] + x[i + 1, j]) + (x[i + 2, j] + x[i + 3, j])
        for i in range(paired, last):
            for j in range(length):
                part[j] += x[i, j]
        for j in range(length):
            total[j] += part[j]
