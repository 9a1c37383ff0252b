"""How loops are compiled: the only module beside the loops themselves that names Numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit

Function = Callable[..., Any]


def _compiled(function: Function, fastmath: Any) -> Function:
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    try:
        made: Function = njit(cache=True, **options)(function)
    except RuntimeError:  # no folder where machine code could be kept
        made = njit(**options)(function)
    return made


# A loop over elements. A product and the sum after it may be rounded once, which only makes it more precise.
loop = partial(_compiled, fastmath={"contract"})
# A loop that adds up: in whatever order is fastest. NumPy adds in pairs, which is no worse, so callers add up parts.
summing = partial(_compiled, fastmath={"contract", "reassoc"})
# A function of numbers that loops call. It becomes part of them.
inlined = partial(_compiled, fastmath={"contract"})
