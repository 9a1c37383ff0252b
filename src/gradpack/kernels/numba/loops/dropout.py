"""Compiled loops of dropout, given the mask of the elements to keep."""

from __future__ import annotations

from typing import Any

from .loop import loop


@loop
def masked(x: Any, kept: Any, scale: float, out: Any) -> None:
    """`x * scale` where `kept`, bytes of 1 and 0, else `x * 0`."""
    factor = x.dtype.type(scale)
    for i in range(x.size):
        out[i] = x[i] * (x.dtype.type(kept[i]) * factor)
