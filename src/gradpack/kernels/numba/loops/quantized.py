"""Blocks of float32 in which each column is a group that becomes whole numbers of few bits, and back again."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import loop


@loop
def extremes(block: Any, least: Any, largest: Any) -> None:
    """The least and the largest of each column; not finite for a column in which there is an inf or a NaN."""
    count, width = block.shape
    strange = np.zeros(width, np.float32)
    for j in range(width):
        least[j] = largest[j] = block[0, j]
    for i in range(count):
        for j in range(width):
            x = block[i, j]
            least[j] = x if x < least[j] else least[j]
            largest[j] = x if x > largest[j] else largest[j]
            strange[j] += x - x
    for j in range(width):
        largest[j] += strange[j]


@loop
def whole_numbers(block: Any, least: Any, per_step: Any, noise: Any, codes: Any) -> None:
    """`(x - least) * per_step + noise`, cut off, as bytes."""
    count, width = block.shape
    for i in range(count):
        for j in range(width):
            codes[i, j] = np.uint8(np.int32((block[i, j] - least[j]) * per_step[j] + noise[i, j]))


@loop
def numbers(codes: Any, least: Any, step: Any, noise: Any, out: Any) -> None:
    """`least + step * (code - noise)`."""
    count, width = out.shape
    for i in range(count):
        for j in range(width):
            out[i, j] = least[j] + step[j] * (np.float32(codes[i, j]) - noise[i, j])
