"""Loops over the rows of a matrix: softmax of float32, layer_norm, running sums, products and extremes, recurrences.

Each row goes through the cache once, so that what is computed from it takes no longer than to read and write it. The
weights of layer_norm are always there, if only as ones; an empty `bias` stands for zeros. Of what runs on along a row,
each element waits for the one before it, but not for its neighbours in other rows: four of them are worked on side by
side. What runs on from one to the next is float64, as in torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import exp, largest_of_row
from .loop import loop, summing
from .sums import BLOCK, moments_of, place, sum_of

_f = np.float32


@summing
def _exponentials(x: Any, row: int, top: Any, out: Any) -> float:
    """`exp(x - top)` of a row into `out`, and their sum."""
    length, whole = x.shape[1], 0.0
    for first in range(0, length, BLOCK):
        part = x.dtype.type(0)
        for k in range(min(BLOCK, length - first)):
            j = place(first) + place(k)
            power = exp(x[row, j] - top)
            out[row, j] = power
            part += power
        whole += part
    return whole


@loop
def softmax(x: Any, out: Any) -> None:
    """`exp(x) / sum(exp(x))` of each row. A row with an inf, or of -inf only, becomes NaN, as in torch."""
    count, length = x.shape
    bits = x.view(np.int32)
    for i in range(count):
        whole = _exponentials(x, i, largest_of_row(bits, i, length, False), out)
        factor = _f(1 / whole)
        for j in range(length):
            out[i, j] *= factor


@loop
def log_softmax(x: Any, out: Any) -> None:
    """`(x - top) - log(sum(exp(x - top)))` of each row."""
    count, length = x.shape
    bits = x.view(np.int32)
    for i in range(count):
        top = largest_of_row(bits, i, length, False)
        level = _f(np.log(_exponentials(x, i, top, out)))
        for j in range(length):
            out[i, j] = (x[i, j] - top) - level


@summing
def _dot(g: Any, out: Any, row: int) -> float:
    length, whole = g.shape[1], 0.0
    for first in range(0, length, BLOCK):
        part = g.dtype.type(0)
        for k in range(min(BLOCK, length - first)):
            j = place(first) + place(k)
            part += g[row, j] * out[row, j]
        whole += part
    return whole


@loop
def softmax_gradient(g: Any, out: Any, made: Any) -> None:
    """`(g - sum(g * out)) * out` of each row."""
    count, length = g.shape
    for i in range(count):
        whole = _f(_dot(g, out, i))
        for j in range(length):
            made[i, j] = (g[i, j] - whole) * out[i, j]


@loop
def log_softmax_gradient(g: Any, out: Any, made: Any) -> None:
    """`g - exp(out) * sum(g)` of each row."""
    count, length = g.shape
    flat = g.reshape(-1)
    for i in range(count):
        whole = _f(sum_of(flat, i * length, length))
        for j in range(length):
            made[i, j] = g[i, j] - exp(out[i, j]) * whole


ROWS = 64  # rows whose gradients of a weight are added up in their own dtype


@loop
def layer_norm(x: Any, weight: Any, bias: Any, eps: float, out: Any, mean: Any, rstd: Any) -> None:
    """`(x - mean) * rstd * weight + bias`, with `rstd = 1 / sqrt(average((x - mean)^2) + eps)` of each row."""
    count, length = x.shape
    flat = x.reshape(-1)
    for i in range(count):
        centre, spread = moments_of(flat, i * length, length)
        scale = x.dtype.type(1 / np.sqrt(spread + eps))
        mean[i], rstd[i] = centre, scale
        if bias.size:
            for j in range(length):
                out[i, j] = (x[i, j] - centre) * scale * weight[j] + bias[j]
        else:
            for j in range(length):
                out[i, j] = (x[i, j] - centre) * scale * weight[j]


@summing
def layer_norm_gradients(
    g: Any, x: Any, weight: Any, mean: Any, rstd: Any, input_g: Any, weight_g: Any, bias_g: Any
) -> None:
    """With y = (x - mean) * rstd and d = g * weight: `rstd * (d - average(d) - y * average(d * y))`, and the sums over
    rows of g * y and of g, in float64 from one block of rows to the next.
    """
    count, length = x.shape
    of_weight, of_bias = np.zeros(length), np.zeros(length)
    weight_part, bias_part = np.zeros_like(weight_g), np.zeros_like(bias_g)
    for i in range(count):
        centre, scale = mean[i], rstd[i]
        whole, along = 0.0, 0.0
        for first in range(0, length, BLOCK):
            part, other = x.dtype.type(0), x.dtype.type(0)
            for k in range(min(BLOCK, length - first)):
                j = place(first) + place(k)
                d, y = g[i, j], (x[i, j] - centre) * scale
                weight_part[j] += d * y
                bias_part[j] += d
                part += d * weight[j]
                other += d * weight[j] * y
            whole += part
            along += other
        level, slope = x.dtype.type(whole / length), x.dtype.type(along / length)
        for j in range(length):
            input_g[i, j] = (g[i, j] * weight[j] - level - (x[i, j] - centre) * scale * slope) * scale
        if i % ROWS == ROWS - 1 or i == count - 1:
            for j in range(length):
                of_weight[j] += weight_part[j]
                of_bias[j] += bias_part[j]
            weight_part[:] = 0
            bias_part[:] = 0
    for j in range(length):
        weight_g[j], bias_g[j] = of_weight[j], of_bias[j]


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
