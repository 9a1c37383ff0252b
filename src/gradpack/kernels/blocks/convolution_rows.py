"""Convolution along the first spatial dimension without copies: windows there overlap in memory.

The windows of a row, (channels, the rest of the kernel, the rest of the places), lie one row after
another. A window that reaches over k rows is then k matrices on top of each other, and the next one
begins one matrix further: only the other dimensions of the kernel cost copies, and a 3x3 convolution
copies a third of what all of its windows hold.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...ops.conv.sliding import cropped, reaching, windows

BLOCK = 3 << 19  # bytes of copied windows at a time: half of them are to be in the second-level cache
FEW = 24  # columns, below which a matrix product takes its time for other things
MANY = 1 << 10  # places, below which an arrangement takes longer than it saves


def worth_while(kernel: Any, dilation: Any, groups: int, batch: int, count: Any) -> bool:
    """Return whether this is faster: the kernel has several rows, and enough places for matrix products."""
    if groups != 1 or len(kernel) < 2 or kernel[0] < 2 or dilation[0] != 1 or count[0] < 2:
        return False
    return prod(count[1:]) * batch >= FEW and prod(count) * batch >= MANY


def _parts(batch: int, count: Any, depth: int, itemsize: int) -> list[tuple[slice, slice]]:
    """Parts of the batch and of the rows whose windows fill a block."""
    rest = prod(count[1:])
    row = max(1, depth * rest * itemsize)
    high = min(count[0], max(4, BLOCK // row))
    some = max(1, min(batch, max(BLOCK // (row * high), -(-FEW // rest))))
    return [
        (slice(n, min(n + some, batch)), slice(y, min(y + high, count[0])))
        for n in range(0, batch, some)
        for y in range(0, count[0], high)
    ]


def correlate(
    x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, count: Any, bias: Any = None
) -> Any:
    """As `ops.conv.correlate.correlate`, if that is faster."""
    batch, (outs, channels, *kernel) = x.shape[0], weight.shape
    if not worth_while(kernel, dilation, groups, batch, count):
        return NotImplemented
    out = np.empty((batch, outs, *count), np.result_type(x.dtype, weight.dtype))
    rest, depth, step = prod(count[1:]), channels * prod(kernel[1:]), stride[0]
    # (out channels, first dimension of the kernel, channels, the others), as rows of windows lie
    matrix = np.reshape(np.moveaxis(weight, 2, 1), (outs, -1))
    plus = None if bias is None else np.reshape(bias, (outs, *(1,) * len(kernel)))
    seen: Any = None
    taken = shape = inner = None
    for part, rows in _parts(batch, count, depth, x.itemsize):
        some, high = part.stop - part.start, rows.stop - rows.start
        if part != taken:  # padding a part at a time is done in the cache
            if inner is not None and inner.shape == x[part].shape:
                np.copyto(inner, x[part])  # the zeros around it are there, and windows look at the same memory
            else:
                image = reaching(x[part], padding, kernel, stride, dilation, count)
                inner = cropped(image, padding, x.shape[2:]) if any(padding) else None
                seen = windows(np.swapaxes(image, 1, 2), kernel[1:], stride[1:], dilation[1:], count[1:])
                # (rows, channels, *rest of the kernel, batch, *rest of the places)
                seen = np.moveaxis(seen, 0, 1 + len(kernel))
            taken = part
        given = seen[rows.start * step : (rows.stop - 1) * step + kernel[0]]
        if given.shape != shape:  # as a rule, parts are of one shape
            shape, lines = given.shape, np.empty(given.shape, x.dtype)
            size, wide = x.itemsize, some * rest
            strides = (step * depth * wide * size, wide * size, size)
            overlapping = np.ndarray((high, kernel[0] * depth, wide), x.dtype, lines, 0, strides)
            made = np.empty((high, outs, wide), out.dtype)
            product = np.moveaxis(made.reshape(high, outs, some, *count[1:]), (2, 1), (0, 1))
        np.copyto(lines, given)
        np.matmul(matrix, overlapping, out=made)
        target = out[part, :, rows]
        np.copyto(target, product)
        if plus is not None:  # after the copy, which is out of order: NumPy repeats a number fast along many places
            np.add(target, plus, out=target)
    return out
