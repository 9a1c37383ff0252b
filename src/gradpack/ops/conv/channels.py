"""Arrays of (batch, channels, places): parts of them that fit into the cache, and sums and scales of each channel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...kernels.dispatch import loops
from ..reduce.kernels import SMALL, _add, _array_type, add_up, reshaped
from .sliding import size_of

BLOCK = 1 << 17  # bytes of the batch at a time: several of these fit into the second-level cache


def as_channels(x: Any) -> Any:
    """(batch, channels, *space) as (batch, channels, places)."""
    return reshaped(x, (*x.shape[:2], size_of(x.shape[2:])))


def blocks(x: Any) -> Iterator[slice]:
    """Parts of the batch, of (batch, channels, places), that fill a block."""
    if 0 < x.size < SMALL:
        return iter((slice(0, x.shape[0]),))
    each = max(1, x.shape[1] * x.shape[2] * x.itemsize)
    some = max(1, BLOCK // each)
    return (slice(n, n + some) for n in range(0, x.shape[0], some))


def channel_sums(x: Any) -> Any:
    """The sum of each channel of (batch, channels, places)."""
    if type(x) is _array_type and x.size < SMALL:
        return _add(x, (0, 2), np.float64)
    return np.sum(x[:, :, 0] if x.shape[2] == 1 else add_up(x, 2), axis=0)


def channel_dots(a: Any, b: Any) -> Any:
    """The sum of products in each channel."""
    return np.sum(np.vecdot(a, b), axis=0) if a.shape[2] >= 16 and a.size >= SMALL else channel_sums(a * b)


def compiled(x: Any, *others: Any) -> Any:
    """Return the compiled loops over channels, or None if they do not take these arrays."""
    return loops("channel_norms", x, *others) if x.size >= SMALL and x.shape[2] >= 16 else None


def column(values: Any) -> Any:
    """Reshape one number per channel to broadcast against (channels, places)."""
    return reshaped(values, (-1, 1))


def scaled(x: Any, scale: Any, shift: Any) -> Any:
    """`x * scale + shift`, with one scale and one shift for each channel."""
    if x.size < SMALL:
        return x * column(scale) + column(shift)
    out = np.empty_like(x)
    scale, shift = column(scale), column(shift)
    for part in blocks(x):
        here = out[part]
        np.multiply(x[part], scale, out=here)
        here += shift
    return out
