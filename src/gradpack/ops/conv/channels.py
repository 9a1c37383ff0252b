"""Arrays of (batch, channels, places), and sums over each channel of them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..reduce.kernels import SMALL, _add, _array_type, add_up, reshaped


def as_channels(x: Any) -> Any:
    """(batch, channels, *space) as (batch, channels, places)."""
    return reshaped(x, (*x.shape[:2], prod(x.shape[2:])))


def channel_sums(x: Any) -> Any:
    """The sum of each channel of (batch, channels, places), in float64."""
    if type(x) is _array_type and x.size < SMALL:
        return _add(x, (0, 2), np.float64)
    return np.sum(x[:, :, 0] if x.shape[2] == 1 else add_up(x, 2), axis=0, dtype=np.float64)


def channel_dots(a: Any, b: Any) -> Any:
    """The sum of products in each channel, in float64."""
    if a.shape[2] < 16 or a.size < SMALL:
        return channel_sums(a * b)
    return np.sum(np.vecdot(a, b), axis=0, dtype=np.float64)


def column(values: Any) -> Any:
    """Reshape one number per channel to broadcast against (channels, places)."""
    return reshaped(values, (-1, 1))
