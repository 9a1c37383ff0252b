"""Pooling, and linear maps along the last dimensions of images."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...ops.nn.padding import sources
from ..dispatch import HEAVY
from .loops import images as loops
from .ranges import Whole, over


def max_with_codes(x: Any, geometry: Any) -> tuple[Any, Any]:
    """As `ops.conv.pool_kernels.max_with_codes`."""
    shape = (*x.shape[:-2], *geometry[-1])
    best, code = np.empty(shape, x.dtype), np.empty(shape, np.uint8)
    numbers = _numbers(geometry)
    over(HEAVY, loops.maxima, _images(x), *numbers, _images(best), _images(code))
    return best, code


def max_place(g: Any, code: Any, size: Any, geometry: Any) -> Any:
    """As `ops.conv.pool_kernels.max_place`."""
    out = np.empty((*g.shape[:-2], *size), g.dtype)
    numbers = _numbers(geometry)
    over(HEAVY, loops.put_back, _images(g), _images(code), *numbers, _images(out))
    return out


def _images(x: Any) -> Any:
    return x.reshape(-1, *x.shape[-2:])


def _numbers(geometry: Any) -> Any:
    """Kernel, stride, padding and dilation as arrays."""
    return [Whole(np.array(v, np.int64)) for v in geometry[:4]]


def summed_taps(x: Any, taps: Any, dim: int) -> Any:
    """As `ops.nn.along.summed_taps`."""
    place, index = x.ndim + dim, np.ascontiguousarray(taps.index)
    before, after, count = x.shape[:place], x.shape[place + 1 :], index.shape[1]
    weight = np.ones(index.shape, x.dtype) if taps.weight is None else taps.weight.astype(x.dtype)
    out = np.empty((*before, count, *after), x.dtype)
    if prod(after) == 1:
        loops.elements_taken(x.reshape(-1, taps.size), index, weight, out.reshape(-1, count))
    else:
        loops.rows_taken(x.reshape(prod(before), taps.size, -1), index, weight, out.reshape(prod(before), count, -1))
    return out


def bordered(input: Any, padding: Any, mode: str) -> Any:
    """As `ops.nn.padding.bordered`."""
    rows, columns = _sources_of_image(mode, input.shape, padding)
    out = np.empty((*input.shape[:-2], rows.size, columns.size), input.dtype)
    images = (prod(input.shape[:-2]), *input.shape[-2:])
    loops.bordered(input.reshape(images), rows, columns, padding[0], out.reshape(images[0], *out.shape[-2:]))
    return out


def unbordered(input: Any, shape: Any, padding: Any, mode: str) -> Any:
    """As `ops.nn.padding.unbordered`."""
    rows, columns = _sources_of_image(mode, shape, padding)
    out = np.zeros(shape, input.dtype)
    images = (prod(shape[:-2]), *shape[-2:])
    loops.unbordered(input.reshape(images[0], *input.shape[-2:]), rows, columns, padding[0], out.reshape(images))
    return out


def _sources_of_image(mode: str, shape: Any, padding: Any) -> tuple[Any, Any]:
    """Where the rows and columns of padded images come from; an image of one dimension has one row."""
    padding = (*padding, 0, 0)[:4]
    high = shape[-2] if len(shape) > 1 else 1
    sizes = ((high, *padding[2:]), (shape[-1], *padding[:2]))
    rows, columns = (np.ascontiguousarray(sources(mode, *size).index[0]) for size in sizes)
    return rows, columns
