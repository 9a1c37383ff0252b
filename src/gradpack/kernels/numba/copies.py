"""Row-major copies of large arrays, on all cores."""

from __future__ import annotations

from array import array
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...base.pool import split_compiled
from ..dispatch import HEAVY
from .loops.copies import copy_function, put_in_rows
from .ranges import over

_ROWS = 16  # parts have a multiple of as many rows, of which vectors are made
_array_type = np.ndarray  # NumPy's own
_CHARS = {4: "f", 8: "d"}  # the numbers that are moved, by their bytes


def row_major(x: Any) -> Any:
    """As `ops.shape.memory_formats.row_major`."""
    plan = _plan(x.shape, x.strides, x.itemsize)
    if plan is None:
        return NotImplemented
    out, block = np.empty(x.shape, x.dtype), plan.block[:]
    block[0], block[1] = id(x), id(out)
    split_compiled(copy_function(_CHARS[x.itemsize]), block, plan.parts, plan.part)
    return out


def joined(first: Any, arrays: Any, dim: int) -> Any:
    """As `ops.shape.join.joined`, of rows that are not short."""
    native = first.dtype
    if type(dim) is not int or not -first.ndim <= dim < first.ndim or native.char not in "fd" or not native.isnative:
        return NotImplemented
    if any(type(a) is not _array_type or a.dtype is not native or not a.flags.aligned for a in arrays):
        return NotImplemented
    at = dim % first.ndim
    lead, behind = first.shape[:at], first.shape[at + 1 :]
    if prod(lead) < 4 * _ROWS or min([prod(a.shape[at:]) for a in arrays]) < _ROWS:
        return NotImplemented
    if any(a.shape[:at] != lead or a.shape[at + 1 :] != behind for a in arrays):
        return NotImplemented
    out = np.empty((*lead, sum([a.shape[at] for a in arrays]), *behind), first.dtype)
    rows, start = out.reshape(prod(lead), -1), 0
    for a in arrays:
        laid = a if a.flags.c_contiguous else row_major(a)
        part = (a if laid is NotImplemented else laid).reshape(len(rows), -1)
        over(HEAVY, put_in_rows, part, rows, start)
        start += part.shape[1]
    return out


class Plan(NamedTuple):
    """How an array that lies in memory in some way is copied."""

    block: array[int]  # what the loop gets, without the arrays
    parts: int
    part: int  # how many of them a thread takes at a time


@lru_cache(1024)
def _plan(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> Plan | None:
    """Return the plan for an array; None if its dimensions do not make up four, or have no elements."""
    if size not in _CHARS or not prod(shape):
        return None
    merged: list[tuple[int, int]] = []  # sizes and strides, without those of 1, and one for what is side by side
    for n, s in zip(shape, strides, strict=True):
        if merged and merged[-1][1] == n * s:
            merged[-1] = merged[-1][0] * n, s
        elif n > 1:
            merged.append((n, s))
    if len(merged) > 4:
        return None
    (outer, outer_step), (inner, inner_step), (rows, row), (columns, step) = [(1, 0)] * (4 - len(merged)) + merged
    part = max(_ROWS, HEAVY // columns // _ROWS * _ROWS)
    parts = outer * inner * -(-rows // part)
    block = array("q", (0, 0, inner, rows, columns, outer_step, inner_step, row, step, part))
    return Plan(block, parts, max(1, HEAVY * parts // prod(shape)))
