"""Compiled row loops of attention: softmax of a block of scores, dropout, and their gradient.

A block is a matrix whose rows follow one another in a stack of matrices of `rows` rows each: row `r` is number `at + r`
of all. Under a causal mask it sees the columns up to its position in its matrix, `(at + r) % rows`. `kept` has a byte
for each score, of all `columns` of all rows, and is empty where there is no dropout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import exp, largest_of_row
from .loop import inlined, loop, summing
from .native import GEMMS
from .sums import BLOCK, place

_f = np.float32
_PLAIN, _FLIPPED = 111, 112  # CBLAS's words for matrices that lie by rows, and by columns
_NARROW = 64  # rows of a block under a causal mask: fewer would make products slow, more compute what is hidden
_SCORES = 1 << 16  # of a block: they stay in the second-level cache


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


def _attention(wide: bool) -> tuple[Any, Any]:
    """Return the loops over heads of attention and of its gradients, for BLAS with sizes of 64 bits or of 32."""
    gemm = GEMMS[wide, "f"]

    @inlined
    def _product(
        function: int, flip_a: int, flip_b: int, a: Any, b: Any, beta: float, c: Any, m: int, n: int, k: int
    ) -> None:  # fmt: skip
        """`c = a @ b`, plus `beta` times it, of matrices with rows one after another; a flipped one is transposed."""
        lda = m if flip_a == _FLIPPED else k
        ldb = k if flip_b == _FLIPPED else n
        gemm(function, flip_a, flip_b, m, n, k, a.ctypes.data, lda, b.ctypes.data, ldb, beta, c.ctypes.data, n)

    def attend(
        q: Any, k: Any, v: Any, function: int, is_causal: bool, scale: float, kept: Any, inverse: float,
        logarithm: Any, out: Any,
    ) -> None:  # fmt: skip
        rows, depth = q.shape[1], q.shape[2]
        columns, width = v.shape[1], v.shape[2]
        most = _NARROW if is_causal else max(16, _SCORES // columns)
        memory, total = np.empty(min(most, rows) * columns, _f), np.empty(rows, _f)
        for h in range(q.shape[0]):
            for start in range(0, rows, most):
                stop = min(start + most, rows)
                seen, count = min(stop, columns) if is_causal else columns, stop - start
                p = memory[: count * seen].reshape(count, seen)
                _product(function, _PLAIN, _FLIPPED, q[h, start:stop], k[h], 0.0, p, count, seen, depth)
                probabilities(p, start, rows, columns, is_causal, scale, kept[h], total, logarithm[h])
                _product(function, _PLAIN, _PLAIN, p, v[h], 0.0, out[h, start:stop], count, width, seen)
            for r in range(rows):
                by = _f(inverse) / total[r] if kept.shape[1] and inverse != 0 else _f(1) / total[r]
                for j in range(width):
                    out[h, r, j] *= by

    def attend_backward(
        q: Any, k: Any, v: Any, g: Any, out: Any, logarithm: Any, function: int, is_causal: bool, scale: float,
        kept: Any, inverse: float, query_g: Any, key_g: Any, value_g: Any,
    ) -> None:  # fmt: skip
        rows, depth = q.shape[1], q.shape[2]
        columns, width = v.shape[1], v.shape[2]
        most = _NARROW if is_causal else max(16, _SCORES // columns)
        size = min(most, rows) * columns
        memory, other, third = np.empty(size, _f), np.empty(size, _f), np.empty(size if kept.shape[1] else 0, _f)
        sums = np.empty(rows, _f)
        for h in range(q.shape[0]):
            for r in range(rows):
                part = _f(0)
                for j in range(width):
                    part += g[h, r, j] * out[h, r, j]
                sums[r] = part
            key_g[h, :] = 0
            value_g[h, :] = 0
            for start in range(0, rows, most):
                stop = min(start + most, rows)
                seen, count = min(stop, columns) if is_causal else columns, stop - start
                p, s = memory[: count * seen].reshape(count, seen), other[: count * seen].reshape(count, seen)
                dropped = third[: count * seen].reshape(count, seen) if kept.shape[1] else p
                some_q, some_g = q[h, start:stop], g[h, start:stop]
                _product(function, _PLAIN, _FLIPPED, some_q, k[h], 0.0, p, count, seen, depth)
                probabilities_again(p, dropped, start, rows, columns, is_causal, scale, kept[h], inverse, logarithm[h])
                _product(function, _FLIPPED, _PLAIN, dropped, some_g, 1.0, value_g[h], seen, width, count)
                _product(function, _PLAIN, _FLIPPED, some_g, v[h], 0.0, s, count, seen, width)
                slopes(s, p, dropped, start, sums, scale)
                _product(function, _PLAIN, _PLAIN, s, k[h], 0.0, query_g[h, start:stop], count, depth, seen)
                _product(function, _FLIPPED, _PLAIN, s, some_q, 1.0, key_g[h], seen, depth, count)

    for made in (attend, attend_backward):
        made.__name__ = made.__qualname__ = f"{made.__name__}_{'64' if wide else '32'}"
    return loop(attend), summing(attend_backward)


HEADS = {wide: _attention(wide) for wide in (True, False)}
