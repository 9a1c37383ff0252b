"""Sums of functions of the elements of large arrays, block by block, without an intermediate array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...declare.generate.tiling import LARGE, alike
from ..pointwise.blockwise import BLOCK, aligned
from .kernels import CHUNK


def summed_products(fill: Callable[..., None], x: Any, y: Any) -> Any:
    """The sum of `a * b` over all elements, both computed from `x` and `y`; None if these are not large and dense.

    Args:
        fill: called as `fill(x, y, a, b)`, it writes `a` and `b` for a block.
    """
    if alike((x, y)) != "ff" or x.size < LARGE:
        return None
    size = BLOCK // x.itemsize
    xs, ys, sums = x.reshape(-1), y.reshape(-1), []
    first, second = aligned(size, x.dtype), aligned(size, x.dtype)
    for start in range(0, xs.size, size):
        part = slice(start, min(start + size, xs.size))
        a, b = (v[: part.stop - start] for v in (first, second))
        fill(xs[part], ys[part], a, b)
        whole = a.size - a.size % CHUNK
        sums.append(np.vecdot(a[:whole].reshape(-1, CHUNK), b[:whole].reshape(-1, CHUNK)))
        sums.append(np.vecdot(a[whole:], b[whole:]).reshape(1))
    return np.add.reduce(np.concatenate(sums)).reshape(())
