"""A long formula on a large array, block by block, so that intermediate values stay in the cache.

NumPy runs one instruction over the whole array before the next. Of a formula of twenty
instructions on megabytes, each would go to main memory and back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
BLOCK = 1 << 17  # bytes: three of these fit into the second-level cache of common processors


def is_numpy(array: Any) -> bool:
    """Whether an array is NumPy's and so can be written to."""
    return type(array) is _array_type


def blockwise(step: Callable[..., None], x: Any, spare: int) -> Any:
    """An array of the shape, dtype and layout of `x`, filled by `step(x, out, *buffers)` for one block after another.

    Args:
        step: writes its result for the block `x` into `out`; it may use the buffers.
        spare: the number of buffers.
    """
    out = np.empty_like(x)
    if out.flags.c_contiguous:
        source, target = np.ascontiguousarray(x).reshape(-1), out.reshape(-1)
    elif out.flags.f_contiguous and x.flags.f_contiguous:
        source, target = x.T.reshape(-1), out.T.reshape(-1)
    else:
        out = np.empty(x.shape, x.dtype)
        source, target = np.ascontiguousarray(x).reshape(-1), out.reshape(-1)
    size = BLOCK // x.itemsize
    if x.size <= size:
        step(source, target, *(np.empty_like(source) for _ in range(spare)))
        return out
    buffers = [np.empty(size, x.dtype) for _ in range(spare)]
    for start in range(0, x.size, size):
        block = source[start : start + size]
        step(block, target[start : start + size], *(b[: block.size] for b in buffers))
    return out
