"""Sums of losses over all elements, of float32: some at a time, and those sums in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import summing
from .sums import BLOCK


@summing
def bent_sum(x: Any, y: Any, limit: Any) -> Any:
    """The sum of m (d - m / 2) with d = |x - y| and m the smaller one of d and `limit`."""
    total: Any = 0.0
    for start in range(0, x.size, BLOCK):
        part = np.float32(0.0)
        for i in range(start, min(start + BLOCK, x.size)):
            d = abs(x[i] - y[i])
            inner = limit if d > limit else d  # NaN stays
            part += inner * (d - np.float32(0.5) * inner)
        total += part
    return total
