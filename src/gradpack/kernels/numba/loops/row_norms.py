"""Normalisation of the rows of a matrix to mean 0 and variance 1, or to mean square 1, and the gradients of these.

Each row goes through the cache once, so that what is computed from it takes no longer than to read and write it.
Weights are always there, if only as ones; an empty `bias` stands for zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import loop, summing
from .sums import BLOCK, place, squares_about, sum_about, sum_of

ROWS = 64  # rows whose gradients of a weight are added up in their own dtype


@loop
def layer_norm(x: Any, weight: Any, bias: Any, eps: float, out: Any, mean: Any, rstd: Any) -> None:
    """`(x - mean) * rstd * weight + bias`, with `rstd = 1 / sqrt(average((x - mean)^2) + eps)` of each row."""
    count, length = x.shape
    flat = x.reshape(-1)
    for i in range(count):
        centre = x.dtype.type(sum_of(flat, i * length, length) / length)
        spread = squares_about(flat, i * length, length, centre) / length
        if centre * centre > spread:
            rest = sum_about(flat, i * length, length, centre) / length
            centre, spread = x.dtype.type(centre + rest), max(spread - rest * rest, 0.0)
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
