"""Cumulative sums by products with a triangular matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.reduce.row_products import add_repeated

_LINE = 16  # elements per stretch: one row of the matrix product
_PORTION = 1 << 15  # elements


def running_sums(input: Any, place: int, backwards: bool) -> Any:
    """As `ops.reduce.cumulate.running_sums`, for numbers that are finite.

    Short stretches are multiplied by a triangular matrix of ones. The total before each stretch is accumulated in
    float64 and then added to it.
    """
    length = input.shape[place]
    if backwards:
        made = running_sums(input[..., ::-1].copy(), place, False)
        return made if made is NotImplemented else np.ascontiguousarray(made[..., ::-1])
    out = np.empty(input.shape, np.float32)
    source, target = input.reshape(-1, length), out.reshape(-1, length)
    triangle = np.triu(np.ones((_LINE, _LINE), np.float32))
    lines, width = max(1, 2 * _PORTION // length), min(length, 2 * _PORTION)
    for first in range(0, len(source), lines):
        some = slice(first, first + lines)
        before = np.zeros((len(source[some]), 1))
        for start in range(0, length, width):
            stretches, made = (v[some, start : start + width].reshape(-1, _LINE) for v in (source, target))
            np.matmul(stretches, triangle, out=made)
            sums = np.empty((len(before), len(made) // len(before) + 1))
            sums[:, 0], sums[:, 1:] = before[:, 0], made[:, -1].reshape(len(before), -1)
            np.add.accumulate(sums, 1, out=sums)
            before = sums[:, -1:]
            if not np.isfinite(before).all():  # infinity times the zeros of the triangle would be NaN
                return NotImplemented
            add_repeated(made, sums[:, :-1].astype(np.float32).reshape(-1))
    return out
