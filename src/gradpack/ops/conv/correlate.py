"""Convolution on arrays: the three products that come from one sum.

A convolution, its gradient by the input and its gradient by the weight are the derivatives of the
sum of x[n, c, place * stride + offset * dilation - padding] * weight[o, c, offset] * y[n, o, place]
by y, x and weight. Each is one large matrix product for a block of windows that fits into the
cache. Arrays are (batch, channels, *space), weights (out channels, channels / groups, *kernel).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from ...backends.numpy import product
from ...kernels.dispatch import accelerated
from . import small_windows as small
from .sliding import at, cropped, extent, moved, offsets, reaching, windows

BLOCK = 3 << 18  # bytes of copied windows at a time: they are to stay in the second-level cache


def _blocks(batch: int, count: Any, depth: int, itemsize: int) -> Iterator[tuple[slice, slice]]:
    """Parts of the batch and of the first spatial dimension, so that each part's windows fill a block."""
    rest = prod(count[1:])
    many = max(1, BLOCK // max(1, depth * rest * itemsize))  # rows of windows
    some, high = max(1, many // count[0]), min(many, count[0])
    for n in range(0, batch, some):
        for row in range(0, count[0], high):
            yield slice(n, min(n + some, batch)), slice(row, min(row + high, count[0]))


def _columns(views: Any, part: slice, rows: slice, groups: int, ndim: int, buffers: list[Any]) -> Any:
    """The windows of a block as a matrix for each group: (groups, channels / groups * kernel, windows)."""
    block = views[(part, slice(None), *(slice(None),) * ndim, rows)]
    block = moved(block, 0, 1 + ndim)  # (channels, *kernel, batch, *places)
    size = block.size
    if not buffers or buffers[0].size < size:
        buffers[:] = [np.empty(size, views.dtype)]
    columns = buffers[0][:size].reshape(block.shape)
    np.copyto(columns, block)
    return columns.reshape(groups, prod(block.shape[: 1 + ndim]) // groups, -1)


def _is_pointwise(kernel: Any, stride: Any) -> bool:
    return prod(kernel) == 1 and all(s == 1 for s in stride)


@accelerated
def correlate(
    x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, count: Any, bias: Any = None
) -> Any:
    """The derivative with respect to y: the convolution at `count` places, plus a bias per channel."""
    kernel, ndim = weight.shape[2:], len(count)
    table = small.table_for(x, weight, x.shape, kernel, stride, padding, dilation, count, groups)
    if table is not None:
        return small.output(x, weight, table, count, bias)
    if bias is not None:
        out = correlate(x, weight, stride, padding, dilation, groups, count)
        out += np.reshape(bias, (-1, *(1,) * len(count)))
        return out
    batch, channels, outs = x.shape[0], x.shape[1], weight.shape[0]
    dtype = np.result_type(x.dtype, weight.dtype)
    out = np.empty((batch, outs, *count), dtype)
    if not out.size or not weight.size:
        out.fill(0)
        return out
    x = reaching(x, padding, kernel, stride, dilation, count)
    places, per = prod(count), outs // groups
    if _is_pointwise(kernel, stride) and x.shape[2:] == tuple(count) and places >= 16:
        inside = np.reshape(x, (batch, groups, channels // groups, places))
        return np.reshape(product(np.reshape(weight, (groups, per, -1)), inside), out.shape)
    if channels == groups and groups > 1:
        return _depthwise(x, weight, stride, dilation, out)
    matrix = np.reshape(weight, (groups, per, -1))
    views = windows(x, kernel, stride, dilation, count)
    buffers: list[Any] = []
    rest = prod(count[1:])
    for part, rows in _blocks(batch, count, channels * prod(kernel), x.itemsize):
        columns = _columns(views, part, rows, groups, ndim, buffers)
        some = part.stop - part.start
        if some == 1:
            target = out[part.start].reshape(groups, per, places)[:, :, rows.start * rest : rows.stop * rest]
            target[...] = product(matrix, columns)
            continue
        made = product(matrix, columns).reshape(outs, some, *count)
        out[part] = moved(made, 1, 0)
    return out


def _depthwise(x: Any, weight: Any, stride: Any, dilation: Any, out: Any) -> Any:
    """Each channel by itself: one position of the window after another, without a copy of the windows."""
    batch, outs, *count = out.shape
    groups = x.shape[1]
    if all(s == 1 for s in stride):
        return _depthwise_dense(x, weight, dilation, out)
    ends = (1,) * len(count)
    spread = np.reshape(weight, (groups, outs // groups, *weight.shape[2:]))
    for n in range(batch):
        target = out[n].reshape(groups, outs // groups, *count)
        spare = np.empty_like(target)
        for nr, offset in enumerate(offsets(weight.shape[2:])):
            seen = np.expand_dims(x[n][at(offset, stride, dilation, count)], 1)
            factor = np.reshape(spread[(..., *offset)], (groups, -1, *ends))
            np.multiply(seen, factor, out=spare if nr else target)
            if nr:
                target += spare
    return out


def _depthwise_dense(x: Any, weight: Any, dilation: Any, out: Any) -> Any:
    """`_depthwise` for stride 1: whole images as one row, whose line ends are discarded."""
    batch, outs, *count = out.shape
    groups, whole = x.shape[1], x.shape[2:]
    per = outs // groups
    pitches = [prod(whole[i + 1 :]) for i in range(len(whole))]
    reach = 1 + sum((n - 1) * p for n, p in zip(count, pitches, strict=True))
    factors = np.reshape(weight, (groups, per, -1))
    made = np.empty((groups, per, count[0] * pitches[0]), out.dtype)
    used, spare = made[:, :, :reach], np.empty((groups, per, reach), out.dtype)
    kept: Any = (..., *(slice(0, n) for n in count[1:]))
    inside = np.reshape(made, (groups, per, count[0], *whole[1:]))[kept]
    if len(count) == 1:
        inside = used
    for n in range(batch):
        flat = np.reshape(x[n], (groups, 1, -1))
        for nr, offset in enumerate(offsets(weight.shape[2:])):
            start = sum(o * d * p for o, d, p in zip(offset, dilation, pitches, strict=True))
            seen, factor = flat[:, :, start : start + reach], factors[:, :, nr : nr + 1]
            np.multiply(seen, factor, out=spare if nr else used)
            if nr:
                used += spare
        np.copyto(np.reshape(out[n], inside.shape), inside)
    return out


@accelerated
def correlate_input(y: Any, weight: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The derivative with respect to x, of spatial size `size`: the input gradient, or a transposed convolution."""
    kernel, count = weight.shape[2:], y.shape[2:]
    batch, outs, per = y.shape[0], weight.shape[0], weight.shape[1]
    channels = per * groups
    shape = (batch, channels, *size)
    table = small.table_for(y, weight, shape, kernel, stride, padding, dilation, count, groups)
    if table is not None:
        return small.input_gradient(y, weight, table, shape)
    dtype = np.result_type(y.dtype, weight.dtype)
    if not prod(shape) or not y.size or not weight.size:
        return np.zeros(shape, dtype)
    places = prod(count)
    if _is_pointwise(kernel, stride) and not any(padding) and tuple(size) == tuple(count) and places >= 16:
        matrix = np.reshape(weight, (groups, outs // groups, per)).mT
        return np.reshape(product(matrix, np.reshape(y, (batch, groups, outs // groups, places))), shape)
    back = tuple(d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True))
    dense = all(s == 1 for s in stride) and all(b >= 0 for b in back)
    if dense and (outs // groups <= 3 * per or outs == groups):
        turned = np.reshape(weight, (groups, outs // groups, per, *kernel))
        turned = np.flip(np.swapaxes(turned, 1, 2), axis=tuple(range(3, 3 + len(kernel))))
        turned = np.reshape(turned, (channels, outs // groups, *kernel))
        return correlate(y, turned, stride, back, dilation, groups, tuple(size))
    reach = extent(kernel, stride, dilation, count)
    whole = tuple(max(r, p + n) for r, p, n in zip(reach, padding, size, strict=True))
    x = np.zeros((batch, channels, *whole), dtype)
    matrix = np.reshape(weight, (groups, outs // groups, -1)).mT
    for part, rows in _blocks(batch, count, channels * prod(kernel), dtype.itemsize):
        some, high = part.stop - part.start, rows.stop - rows.start
        given = np.reshape(y[(part, slice(None), rows)], (some, groups, outs // groups, -1))
        columns = product(matrix, given) if some == 1 or given.shape[-1] >= 16 else _side_by_side(matrix, given)
        columns = np.reshape(columns, (some, channels, *kernel, high, *count[1:]))
        first = rows.start * stride[0]
        target = x[part, :, first:]
        here = (high, *count[1:])
        for offset in offsets(kernel):
            target[at(offset, stride, dilation, here)] += columns[(slice(None), slice(None), *offset)]
    return np.ascontiguousarray(cropped(x, padding, size))


def _side_by_side(matrix: Any, given: Any) -> Any:
    """`matrix @ given[n]` for all n as one product, for few columns each."""
    some, groups, depth, places = given.shape
    made = product(matrix, np.reshape(moved(given, 0, 2), (groups, depth, some * places)))
    return moved(np.reshape(made, (groups, -1, some, places)), 2, 0)


@accelerated
def correlate_weight(x: Any, y: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The derivative with respect to the weight: the weight gradient of a convolution."""
    count, ndim = y.shape[2:], len(kernel)
    batch, channels, outs = x.shape[0], x.shape[1], y.shape[1]
    shape = (outs, channels // groups, *kernel)
    table = small.table_for(x, y, x.shape, kernel, stride, padding, dilation, count, groups)
    if table is not None:
        return small.weight_gradient(y, x, table, shape)
    dtype = np.result_type(y.dtype, x.dtype)
    total = np.zeros((groups, outs // groups, channels // groups * prod(kernel)), dtype)
    if not total.size or not y.size:
        return np.reshape(total, shape)
    x = reaching(x, padding, kernel, stride, dilation, count)
    per = outs // groups
    views = windows(x, kernel, stride, dilation, count)
    buffers: list[Any] = []
    for part, rows in _blocks(batch, count, channels * prod(kernel), x.itemsize):
        columns = _columns(views, part, rows, groups, ndim, buffers)
        given = moved(y[(part, slice(None), rows)], 0, 1)
        total += product(np.reshape(given, (groups, per, -1)), columns.mT)
    return np.reshape(total, shape)
