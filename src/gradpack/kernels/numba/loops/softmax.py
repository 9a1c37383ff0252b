"""Softmax of the rows of a matrix of float32, its logarithm, and the gradients of both: each row in one go."""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import exp, largest_of_row
from .loop import loop, summing
from .sums import BLOCK, place

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


@summing
def _sum(g: Any, row: int) -> float:
    length, whole = g.shape[1], 0.0
    for first in range(0, length, BLOCK):
        part = g.dtype.type(0)
        for k in range(min(BLOCK, length - first)):
            part += g[row, place(first) + place(k)]
        whole += part
    return whole


@loop
def log_softmax_gradient(g: Any, out: Any, made: Any) -> None:
    """`g - exp(out) * sum(g)` of each row."""
    count, length = g.shape
    for i in range(count):
        whole = _f(_sum(g, i))
        for j in range(length):
            made[i, j] = g[i, j] - exp(out[i, j]) * whole
