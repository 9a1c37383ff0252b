"""Running sums, products and extremes, linear recurrences, and products of rows.

Each element waits for the one before it, but not for its neighbours in other lines: four lines at a time are worked on
side by side. What runs on from one to the next is float64, as in torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import loop, summing
from .sums import place

_double = np.float64


@loop
def sums(x: Any, backwards: bool, out: Any) -> None:
    """`out[r, k]` is the sum of `x[r]` up to k, or from k on."""
    lines, length = x.shape
    start, step = (length - 1, -1) if backwards else (0, 1)
    whole = lines - lines % 4
    for r in range(0, whole, 4):
        a = b = c = d = _double(0)
        k = start
        for _ in range(length):
            a += x[r, k]
            b += x[r + 1, k]
            c += x[r + 2, k]
            d += x[r + 3, k]
            out[r, k], out[r + 1, k], out[r + 2, k], out[r + 3, k] = a, b, c, d
            k += step
    for r in range(whole, lines):
        a = _double(0)
        k = start
        for _ in range(length):
            a += x[r, k]
            out[r, k] = a
            k += step


@loop
def products(x: Any, out: Any) -> None:
    """`out[r, k]` is the product of `x[r]` up to k."""
    lines, length = x.shape
    whole = lines - lines % 4
    for r in range(0, whole, 4):
        a = b = c = d = _double(1)
        for k in range(length):
            a *= x[r, k]
            b *= x[r + 1, k]
            c *= x[r + 2, k]
            d *= x[r + 3, k]
            out[r, k], out[r + 1, k], out[r + 2, k], out[r + 3, k] = a, b, c, d
    for r in range(whole, lines):
        a = _double(1)
        for k in range(length):
            a *= x[r, k]
            out[r, k] = a


@loop
def recurrence(factors: Any, terms: Any, backwards: bool, out: Any) -> None:
    """`out[r, k] = terms[r, k] + factors[r, k] * out[r, k - 1]`, or of `out[r, k + 1]`; the first is its term."""
    lines, length = terms.shape
    start, step = (place(length - 1), place(-1)) if backwards else (place(0), place(1))
    whole = lines - lines % 4
    for r in range(0, whole, 4):
        k = start
        a, b = _double(terms[r, k]), _double(terms[r + 1, k])
        c, d = _double(terms[r + 2, k]), _double(terms[r + 3, k])
        out[r, k], out[r + 1, k], out[r + 2, k], out[r + 3, k] = a, b, c, d
        for _ in range(1, length):
            k += step
            a = terms[r, k] + factors[r, k] * a
            b = terms[r + 1, k] + factors[r + 1, k] * b
            c = terms[r + 2, k] + factors[r + 2, k] * c
            d = terms[r + 3, k] + factors[r + 3, k] * d
            out[r, k], out[r + 1, k], out[r + 2, k], out[r + 3, k] = a, b, c, d
    for r in range(whole, lines):
        k = start
        a = _double(terms[r, k])
        out[r, k] = a
        for _ in range(1, length):
            k += step
            a = terms[r, k] + factors[r, k] * a
            out[r, k] = a


@loop
def extremes(x: Any, smallest: bool, values: Any, indices: Any) -> None:
    """The largest (or smallest) element of `x[r]` up to k, and the last place where it is. NaN stays from then on."""
    sign = x.dtype.type(-1 if smallest else 1)
    for r in range(x.shape[0]):
        best, where = x[r, 0], 0
        for k in range(x.shape[1]):
            v = x[r, k]
            if not (sign * v < sign * best or (best != best and v == v)):  # noqa: PLR0124 - NaN alone differs from itself
                best, where = v, k
            values[r, k] = best
            indices[r, k] = where


@summing
def rows_multiplied(x: Any, out: Any) -> None:
    """`out[r]` is the product of `x[r]`."""
    for r in range(x.shape[0]):
        total = x.dtype.type(1)
        for k in range(x.shape[1]):
            total *= x[r, k]
        out[r] = total
