"""Layer normalisation, block of rows by block, with products of matrices for all that is the same in each row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.pointwise.blockwise import aligned
from ...ops.reduce.row_products import add_multiples

# Elements of a block of rows: what is computed from them stays in the second-level cache.
_BLOCK = 1 << 16
_TOGETHER = 2  # blocks whose rows get their means and deviations in one go
# Rows whose mean is within two standard deviations of zero lose nothing in sums of what is not centred.
_FAR = 4.0


def _blocks(rows: Any) -> list[slice]:
    """Return slices of rows that fit the cache, of equal size except the last."""
    count = rows.shape[0]
    step = math.ceil(count / math.ceil(rows.size / _BLOCK))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _repeated(row: Any, count: int) -> Any:
    """Repeat a row `count` times: NumPy broadcasts a short vector slower than it reads a block."""
    out = aligned(count * row.size, row.dtype).reshape(count, row.size)
    out[:] = row
    return out


def normalized_rows(rows: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Result, mean and 1 / standard deviation of each row, in few passes, where that loses no digits.

    The result is (bias - mean * rstd * weight) + rstd * (x * weight). The bracket is a product of matrices with two
    columns and two rows, which takes BLAS a third of the time of an addition in which NumPy repeats a vector.
    """
    count, length = rows.shape
    dtype = rows.dtype
    average = np.full(length, 1 / length, dtype)
    blocks = _blocks(rows)
    ends = np.ones((2, length), dtype)
    ends[1] = 0 if bias is None else bias
    if weight is not None:
        ends[0] = weight
        factor = _repeated(weight, blocks[0].stop)
        buffer = aligned(factor.size, dtype).reshape(factor.shape)
    mean, rstd = np.empty((count, 1), dtype), np.empty((count, 1), dtype)
    shift = np.ones((count, 2), dtype)
    out = aligned(rows.size, dtype).reshape(rows.shape)
    for nr in range(0, len(blocks), _TOGETHER):
        some = slice(blocks[nr].start, blocks[nr : nr + _TOGETHER][-1].stop)
        centre = np.matmul(rows[some], average, out=mean[some, 0])
        variance = np.vecdot(rows[some], rows[some])
        variance /= length
        variance -= centre * centre
        variance += eps
        spread = np.divide(1, np.sqrt(variance, out=variance), out=rstd[some, 0])
        np.multiply(np.multiply(centre, spread, out=variance), -1, out=shift[some, 0])
        if not np.maximum.reduce(np.square(variance, out=variance)) <= _FAR:
            return NotImplemented
        for block in blocks[nr : nr + _TOGETHER]:
            x, part = rows[block], out[block]
            weighted = x if weight is None else np.multiply(x, factor[: len(x)], out=buffer[: len(x)])
            np.matmul(shift[block], ends, out=part)
            add_multiples(part, rstd[block, 0], weighted)
    return out, mean, rstd


def normalized_rows_backward(rows: Any, g: Any, weight: Any, mean: Any, rstd: Any, needs: Any) -> Any:
    """The gradients, from the sums of g and of g * rows over rows and columns, which are products with vectors.

    With y = (x - mean) * rstd, the sum of g * y is that of g * x, less that of g * mean, both times rstd.
    """
    if not np.square(mean * rstd).max() <= _FAR:
        return NotImplemented
    count, length = rows.shape
    dtype = rows.dtype
    weight_g = np.zeros(length, dtype) if needs[1] else None
    bias_g = np.zeros(length, dtype) if needs[2] else None
    input_g = aligned(rows.size, dtype).reshape(rows.shape) if needs[0] else None
    mean, rstd = mean[:, 0], rstd[:, 0]
    centre = mean * rstd
    blocks = _blocks(rows)
    ones = np.ones(max(length, blocks[0].stop), dtype)
    both = np.ones((2, length), dtype)
    vector = ones[:length] if weight is None else np.ascontiguousarray(weight)
    factor = None if weight is None or input_g is None else _repeated(vector, blocks[0].stop)
    buffer = aligned(blocks[0].stop * length, dtype).reshape(-1, length)
    of_along, of_total = rstd**3 / -length, rstd / -length
    level = np.zeros((count, 2), dtype)
    for block in blocks:
        x, d, r, m = rows[block], g[block], rstd[block], mean[block]
        dx = np.multiply(d, x, out=buffer[: len(x)])
        if weight_g is not None:
            weight_g += r @ dx
            weight_g -= centre[block] @ d
        if bias_g is not None:
            bias_g += ones[: len(x)] @ d
        if input_g is not None:
            total, along = d @ vector, dx @ vector
            # rstd * (d * weight - total / n - (x - mean) * rstd * along / n): what multiplies x, and what stands alone
            along -= total * m
            along *= of_along[block]
            total *= of_total[block]
            np.subtract(total, along * m, out=level[block, 0])
            part = input_g[block]
            np.matmul(level[block], both, out=part)
            add_multiples(part, r, d if factor is None else np.multiply(d, factor[: len(x)], out=dx))
            add_multiples(part, along, x)
    return input_g, weight_g, bias_g
