"""A long formula on a large array, block by block, so that intermediate values stay in the cache.

NumPy runs one instruction over the whole array before the next. Of a formula of twenty
instructions on megabytes, each would go to main memory and back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
BLOCK = 1 << 17  # bytes: three of these fit into the second-level cache of common processors

try:
    _features: Any = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
except AttributeError:
    _features = {}
SHORT_EXP2: bool = _features.get("AVX512_SKX", False)  # there, exp2 is vectorised: half the time of exp
MINUS_LOG2_E = -1 / math.log(2)


def exp_of_negative(x: Any) -> Any:
    """`exp(-x)`."""
    return np.exp2(x * MINUS_LOG2_E) if SHORT_EXP2 and x.dtype == np.float32 else np.exp(-x)


def is_numpy(array: Any) -> bool:
    """Whether an array is NumPy's and so can be written to."""
    return type(array) is _array_type


def aligned(size: int, dtype: Any) -> Any:
    """An uninitialised vector aligned to a cache line: NumPy's binary loops run twice as fast on such."""
    native = np.dtype(dtype)
    memory = np.empty(size * native.itemsize + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size * native.itemsize].view(native)


def blockwise(step: Callable[..., None], x: Any, spare: int, *others: Any) -> Any:
    """An array of the shape, dtype and layout of `x`, filled by calling `step` for one block after another.

    Args:
        step: called as `step(x, out, *others, *buffers)`, it writes its result for the block `x` into `out`.
        spare: the number of buffers.
        others: more arrays of the shape of `x`, whose blocks `step` gets too.
    """
    arrays = (x, *others)
    out = np.empty_like(x)
    if out.flags.f_contiguous and all(a.flags.f_contiguous for a in arrays):
        target, *sources = (a.T.reshape(-1) for a in (out, *arrays))
    else:
        if not out.flags.c_contiguous:
            out = np.empty(x.shape, x.dtype)
        target = out.reshape(-1)
        sources = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    size = BLOCK // x.itemsize
    if x.size <= size:
        step(sources[0], target, *sources[1:], *(np.empty_like(target) for _ in range(spare)))
        return out
    buffers = [aligned(size, x.dtype) for _ in range(spare)]
    for start in range(0, x.size, size):
        first, *more = (a[start : start + size] for a in sources)
        step(first, target[start : start + size], *more, *(b[: first.size] for b in buffers))
    return out
