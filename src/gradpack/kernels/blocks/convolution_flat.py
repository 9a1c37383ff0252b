"""The gradient of a convolution by its weight, for windows that move by single steps, from images as single rows.

Images lie one after the other, and their rows too, each with as many zeros behind it as padding asks for: what is
before a row is the end of the row before. Moving all windows by an offset is then moving by a number of elements, so
that what all windows have at an offset is one piece of memory, and the sum over all places of all images one product
of matrices. Places between the images count as well, where the gradient is zero.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

BLOCK = 1 << 19  # bytes of images, copied rows and gradient at a time: they are to stay in the second-level cache
LEAST = 1 << 10  # places at a time
MANY = 1 << 10  # places, below which an arrangement takes longer than it saves
WASTE = 3  # places with those between images, for each one that counts: where more are lost than is gained


def worth_while(kernel: Any, stride: Any, padding: Any, groups: int, batch: int, size: Any, count: Any) -> bool:
    """Return whether this is faster: stride 1, one group, several kernel positions, and enough windows."""
    if groups != 1 or prod(kernel) < 2 or any(s != 1 for s in stride):
        return False
    places = prod(count)
    return places * batch >= MANY and prod(_lines(size, padding, count)) <= WASTE * places


def _lines(size: Any, padding: Any, count: Any) -> tuple[int, ...]:
    """Return the padded extent of each dimension in the flat layout."""
    return tuple(max(n + p, c) for n, p, c in zip(size, padding, count, strict=True))


def correlate_weight(x: Any, y: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """As `ops.conv.correlate.correlate_weight`, if that is faster.

    Only the dimensions of the kernel after the first cost copies: along it, windows are taken from the same ones.
    """
    batch, outs, *count = y.shape
    channels, size, dtype = x.shape[1], x.shape[2:], np.result_type(y.dtype, x.dtype)
    if not worth_while(kernel, stride, padding, groups, batch, size, count):
        return NotImplemented
    lines = _lines(size, padding, count)
    pitch = [prod(lines[i + 1 :]) for i in range(len(lines))]
    steps = [d * p for d, p in zip(dilation, pitch, strict=True)]
    before = sum(p * n for p, n in zip(padding, pitch, strict=True))
    reach = sum((k - 1) * s for k, s in zip(kernel, steps, strict=True))
    first = (kernel[0] - 1) * steps[0]
    moves = [sum(o * s for o, s in zip(offset, steps[1:], strict=True)) for offset in product(*map(range, kernel[1:]))]
    width = max(LEAST, BLOCK // ((len(moves) * channels + channels + outs) * x.itemsize))
    some = max(1, min(batch, width // prod(lines)))
    found = np.zeros((kernel[0], len(moves) * channels, outs), dtype)
    images: Any = None
    for start in range(0, batch, some):
        many = min(some, batch - start)
        places = many * prod(lines)
        if images is None or many < some:  # the zeros in between stay
            images = np.zeros((channels, places + max(before, reach)), x.dtype)
            grads = np.zeros((outs, places), y.dtype)
            rows = np.empty((len(moves), channels, min(width, places) + first), x.dtype)
        _lay(x[start : start + many], images[:, before : before + places], lines)
        _lay(y[start : start + many], grads, lines)
        for low in range(0, places, width):
            high = min(low + width, places)
            taken = rows[:, :, : high - low + first]
            for nr, move in enumerate(moves):
                np.copyto(taken[nr], images[:, low + move : high + move + first])
            for k in range(kernel[0]):
                seen = rows.reshape(-1, rows.shape[2])[:, k * steps[0] : k * steps[0] + high - low]
                found[k] += np.matmul(seen, grads[:, low:high].T)
    found = np.reshape(found, (kernel[0], -1, channels, outs))
    return np.reshape(np.moveaxis(found, (3, 2), (0, 1)), (outs, channels, *kernel))


def _lay(images: Any, flat: Any, lines: Any) -> None:
    """Put images, (number, channels, *size), into (channels, places) with `lines` from row to row."""
    shape = (flat.shape[0], images.shape[0], *lines)
    inside: Any = (slice(None), slice(None), *(slice(0, n) for n in images.shape[2:]))
    spaced = np.lib.stride_tricks.as_strided(
        flat, shape, (flat.strides[0], *(prod(shape[i + 1 :]) * flat.itemsize for i in range(1, len(shape))))
    )
    np.copyto(spaced[inside], np.swapaxes(images, 0, 1))
