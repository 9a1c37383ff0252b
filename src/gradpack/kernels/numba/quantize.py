"""Steps of `saved.quantize` on blocks whose columns are groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loops import quantized

whole_numbers = quantized.whole_numbers


def extremes(block: Any) -> tuple[Any, Any]:
    """As `saved.policies.quantize.extremes`."""
    low, high = np.empty((2, block.shape[1]), np.float32)
    quantized.extremes(block, low, high)
    return low, high


def numbers(block: Any, codes: Any, low: Any, step: Any, noise: Any) -> None:
    """As `saved.policies.quantize.numbers`."""
    quantized.numbers(codes, low, step, noise, block)
