"""Compiled row loops of attention: softmax of a block of scores, dropout, and their gradient.

A block is a matrix whose rows follow one another in a stack of matrices of `rows` rows each: row `r` is number `at + r`
of all. Under a causal mask it sees the columns up to its position in its matrix, `(at + r) % rows`. `kept` has a byte
for each score, of all `columns` of all rows, and is empty where there is no dropout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import exp, largest_of_row
from .loop import loop, summing
from .sums import BLOCK, place

_f = np.float32


@summing
def probabilities(
    p: Any, at: int, rows: int, columns: int, is_causal: bool, scale: float, kept: Any, total: Any, logarithm: Any
) -> None:
    """Scores times `scale` become exponentials, divided by the largest of their row, or 0 where dropout says so.

    `total[at + r]` is the sum of these before dropout, and `logarithm[at + r]` that of the exponentials' own sum. A row
    of -inf has zeros, a sum of 1 and the logarithm of 1.
    """
    count, seen = p.shape
    bits, factor = p.view(np.int32), _f(scale)
    for r in range(count):
        until = min(seen, (at + r) % rows + 1) if is_causal else seen
        top = largest_of_row(bits, r, until, scale < 0) * factor
        top = top if np.isfinite(top) else _f(0)
        whole: Any = 0.0
        for first in range(0, until, BLOCK):
            part = _f(0)
            for k in range(min(BLOCK, until - first)):
                j = place(first) + place(k)
                power = exp(p[r, j] * factor - top)
                p[r, j] = power
                part += power
            whole += part
        for j in range(place(until), place(seen)):
            p[r, j] = 0
        whole = 1.0 if whole == 0 else whole
        total[at + r] = whole
        logarithm[at + r] = top + np.log(whole)
        if kept.size:
            start = place((at + r) * columns)
            for j in range(until):
                p[r, j] *= _f(kept[start + place(j)])


@loop
def probabilities_again(
    p: Any, dropped: Any, at: int, rows: int, columns: int, is_causal: bool, scale: float, kept: Any, inverse: float,
    logarithm: Any,
) -> None:  # fmt: skip
    """Scores become probabilities, `exp(score * scale - logarithm)`; `dropped` gets what dropout makes of them."""
    count, seen = p.shape
    factor, times = _f(scale), _f(inverse)
    for r in range(count):
        until = min(seen, (at + r) % rows + 1) if is_causal else seen
        level = logarithm[at + r]
        for j in range(until):
            p[r, j] = exp(p[r, j] * factor - level)
        for j in range(place(until), place(seen)):
            p[r, j] = 0
        if kept.size:
            start = place((at + r) * columns)
            for j in range(seen):
                dropped[r, j] = p[r, j] * (_f(kept[start + place(j)]) * times)


@loop
def slopes(s: Any, p: Any, dropped: Any, at: int, sums: Any, scale: float) -> None:
    """`(s * dropped - sums * p) * scale`, from s = g @ value.T and each row's sum of g * out."""
    count, seen = p.shape
    factor = _f(scale)
    for r in range(count):
        level = sums[at + r]
        for j in range(seen):
            s[r, j] = (s[r, j] * dropped[r, j] - level * p[r, j]) * factor
