"""Compiled row loops of attention: softmax of a block of scores, dropout, and their gradient.

A block is a matrix whose rows follow one another in a stack of matrices of `rows` rows each: row `r` is number `at + r`
of all. Under a causal mask it sees the columns up to its position in its matrix, `(at + r) % rows`. `kept` has a byte
for each score, of all `columns` of all rows, and is empty where there is no dropout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray

from .functions import exp, largest_of_row
from .loop import inlined, loop, summing
from .matrix_products import memory_for
from .native import data_of, memory_at, multiply
from .sums import BLOCK, place

_f = np.float32
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


@inlined
def _at(array: int, strides: Any, heads: int, head: int, row: int) -> int:
    """The address of a row of a head: strides are in bytes, of batch, head and row."""
    return data_of(array) + head // heads * strides[0] + head % heads * strides[1] + row * strides[2]


@inlined
def _vector(address: int, size: int) -> Any:
    return carray(memory_at(address), size, _f)


@inlined
def _numbers(shape: Any) -> tuple[int, int, int, int, int, int]:
    return shape[0, 0], shape[0, 1], shape[0, 2], shape[0, 3], shape[0, 4], shape[0, 5]


# Over heads, arrays of rows of numbers side by side are given as addresses of objects, and strides of batch, head and
# row each. `shape` has for each head its number, and the sizes: heads of a batch, rows, columns, depth, width.
# `function` multiplies matrices.


@loop
def attend(
    logarithm: Any, kept: Any, shape: Any, strides: Any, function: int, is_causal: bool, scale: float, inverse: float,
    q: int, k: int, v: int, out: int,
) -> None:  # fmt: skip
    """Attention of some heads."""
    first, heads, rows, columns, depth, width = _numbers(shape)
    of_q, of_k, of_v, of_o = strides[0], strides[1], strides[2], strides[3]
    most = _NARROW if is_causal else max(16, _SCORES // columns)
    memory, total = np.empty(min(most, rows) * columns, _f), np.empty(rows, _f)
    space = np.empty(memory_for(max(columns, depth), max(columns, width), 4), np.uint8)
    spare = space.ctypes.data
    for i in range(logarithm.shape[0]):
        h = first + i
        for start in range(0, rows, most):
            stop = min(start + most, rows)
            seen, count = min(stop, columns) if is_causal else columns, stop - start
            p = memory[: count * seen].reshape(count, seen)
            at_q, at_k, at_p = _at(q, of_q, heads, h, start), _at(k, of_k, heads, h, 0), p.ctypes.data
            multiply(function, at_q, of_q[2], 4, at_k, 4, of_k[2], count, seen, depth, 0, 0, at_p, 4 * seen, spare)
            probabilities(p, start, rows, columns, is_causal, scale, kept[i], total, logarithm[i])
            at_v, at_o = _at(v, of_v, heads, h, 0), _at(out, of_o, heads, h, start)
            multiply(function, at_p, 4 * seen, 4, at_v, of_v[2], 4, count, width, seen, 0, 0, at_o, of_o[2], spare)
        for r in range(rows):
            by = _f(inverse) / total[r] if kept.shape[1] and inverse != 0 else _f(1) / total[r]
            row = _vector(_at(out, of_o, heads, h, r), width)
            for j in range(width):
                row[j] *= by
        space[0] = 0  # the memory is needed until here


@summing
def attend_backward(
    logarithm: Any, kept: Any, shape: Any, strides: Any, function: int, is_causal: bool, scale: float, inverse: float,
    q: int, k: int, v: int, g: int, out: int, query_g: int, key_g: int, value_g: int,
) -> None:  # fmt: skip
    """The gradients of attention of some heads."""
    first, heads, rows, columns, depth, width = _numbers(shape)
    of_q, of_k, of_v, of_g = strides[0], strides[1], strides[2], strides[3]
    of_qg, of_kg, of_vg = strides[5], strides[6], strides[7]
    most = _NARROW if is_causal else max(16, _SCORES // columns)
    size = min(most, rows) * columns
    memory, other, third = np.empty(size, _f), np.empty(size, _f), np.empty(size if kept.shape[1] else 0, _f)
    sums = np.empty(rows, _f)
    longest = max(columns, rows, depth, width)
    space = np.empty(memory_for(longest, longest, 4), np.uint8)
    spare = space.ctypes.data
    for i in range(logarithm.shape[0]):
        h = first + i
        for r in range(rows):
            part = _f(0)
            a, b = _vector(_at(g, of_g, heads, h, r), width), _vector(_at(out, strides[4], heads, h, r), width)
            for j in range(width):
                part += a[j] * b[j]
            sums[r] = part
        at_k, at_v = _at(k, of_k, heads, h, 0), _at(v, of_v, heads, h, 0)
        at_kg, at_vg = _at(key_g, of_kg, heads, h, 0), _at(value_g, of_vg, heads, h, 0)
        for r in range(columns):
            _vector(at_kg + r * of_kg[2], depth)[:] = 0
            _vector(at_vg + r * of_vg[2], width)[:] = 0
        for start in range(0, rows, most):
            stop = min(start + most, rows)
            seen, count = min(stop, columns) if is_causal else columns, stop - start
            p, s = memory[: count * seen].reshape(count, seen), other[: count * seen].reshape(count, seen)
            dropped = third[: count * seen].reshape(count, seen) if kept.shape[1] else p
            at_q, at_g = _at(q, of_q, heads, h, start), _at(g, of_g, heads, h, start)
            at_p, at_s, at_d = p.ctypes.data, s.ctypes.data, dropped.ctypes.data
            at_qg = _at(query_g, of_qg, heads, h, start)
            line = 4 * seen  # bytes of a row of scores
            multiply(function, at_q, of_q[2], 4, at_k, 4, of_k[2], count, seen, depth, 0, 0, at_p, line, spare)
            probabilities_again(p, dropped, start, rows, columns, is_causal, scale, kept[i], inverse, logarithm[i])
            multiply(
                function, at_d, 4, line, at_g, of_g[2], 4, seen, width, count, at_vg, of_vg[2], at_vg, of_vg[2], spare
            )  # fmt: skip
            multiply(function, at_g, of_g[2], 4, at_v, 4, of_v[2], count, seen, width, 0, 0, at_s, line, spare)
            slopes(s, p, dropped, start, sums, scale)
            multiply(function, at_s, line, 4, at_k, of_k[2], 4, count, depth, seen, 0, 0, at_qg, of_qg[2], spare)
            multiply(
                function, at_s, 4, line, at_q, of_q[2], 4, seen, depth, count, at_kg, of_kg[2], at_kg, of_kg[2], spare
            )  # fmt: skip
        space[0] = 0  # the memory is needed until here
