"""Conditions of the table: for which arguments a kernel stands in for a function. They import NumPy only."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

ENOUGH = 1 << 15  # elements: to import Numba takes as long as NumPy takes for some hundreds of such arrays


def dense(array: Any) -> bool:
    """Whether a loop can read an array as it lies in memory. It may be one that must not be written to."""
    flags = array.flags
    return bool(flags.c_contiguous and flags.aligned)


def alike(first: Any, *others: Any, chars: str = "fd") -> bool:
    """Whether all are dense arrays of one dtype that loops take. None stands for one that is not there.

    Args:
        chars: the characters of the dtypes: float32 and float64.
    """
    native = first.dtype
    if native.char not in chars or not native.isnative or not dense(first):
        return False
    return all(a is None or (type(a) is ndarray and a.dtype == native and dense(a)) for a in others)
