"""Conversions of float32 to dtypes of 16 bits and back, and `saved.quantize` for blocks whose columns are groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loops import conversions

_LOOPS = {
    "fe": conversions.to_float16, "ef": conversions.from_float16,
    "fE": conversions.to_bfloat16, "Ef": conversions.from_bfloat16,
}  # fmt: skip


def as_native(array: Any, native: Any) -> Any:
    """As `backends.numpy.as_native`."""
    out = np.empty(array.shape, native)
    source, target = (a.view(np.uint16) if a.itemsize == 2 else a for a in (array, out))
    _LOOPS[array.dtype.char + native.char](source.reshape(-1), target.reshape(-1))
    return out


whole_numbers = conversions.whole_numbers


def extremes(block: Any) -> tuple[Any, Any]:
    """As `saved.policies.quantize.extremes`."""
    low, high = np.empty((2, block.shape[1]), np.float32)
    conversions.extremes(block, low, high)
    return low, high


def numbers(block: Any, codes: Any, low: Any, step: Any, noise: Any) -> None:
    """As `saved.policies.quantize.numbers`."""
    conversions.numbers(codes, low, step, noise, block)
