"""Bodies of elementwise operations for large arrays, with fewer passes than the plain bodies take.

Each takes `plain`, the operation's own body, and its arguments; it calls `plain` unless they are dense float arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...declare.generate.fusion import alike, compiled
from .blockwise import blockwise


def sign_of_large(plain: Callable[..., Any], input: Any) -> Any:
    """The sign, -1, 0 or 1."""
    made = compiled(_sign_of_number, input)
    return plain(input) if made is None else made


def _sign_of_number(x: Any) -> Any:
    return np.where(x > 0, 1.0, np.where(x < 0, -1.0, 0.0))


def hardshrink_of_large(plain: Callable[..., Any], input: Any, lambd: Any) -> Any:
    """`hardshrink` without branches: compares the bit patterns of absolute values, which order like the values."""
    if alike((input,)) != "f" or type(lambd) not in (int, float) or not lambd >= 0:
        return plain(input, lambd)
    made = compiled(_shrink, input, lambd)
    if made is not None:
        return made
    bits = np.dtype(f"i{input.itemsize}")
    limit, last = np.asarray(lambd, input.dtype).view(bits), np.asarray(8 * input.itemsize - 1, bits)

    def shrink(x: Any, out: Any, spare: Any) -> None:
        kept = np.abs(x, out=spare).view(bits)
        np.subtract(limit, kept, out=kept)  # negative where x is kept; the bits of NaN are above all
        np.right_shift(kept, last, out=kept)
        np.bitwise_and(kept, x.view(bits), out=out.view(bits))

    return blockwise(shrink, input, 1)


def _shrink(x: Any, lambd: Any) -> Any:
    return np.where(np.abs(x) <= lambd, 0.0, x)
