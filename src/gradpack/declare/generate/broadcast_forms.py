"""How the operands of an elementwise loop are broadcast: as rows that are repeated, or columns."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...kernels.conditions import dense

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
_SHORTEST = 16  # elements of a row, below which a loop over rows is no faster than NumPy's


def lies(shape: tuple[int, ...], whole: tuple[int, ...]) -> tuple[str, int] | None:
    """Return how an array of a shape is broadcast to another shape, and the length of the rows of that, or None.

    "i" for one of that shape; "r" for a row that is the same in all; "c" for a column, an element for each row.
    """
    if shape == whole:
        return "i", 0
    shape = (1,) * (len(whole) - len(shape)) + shape
    counted = [k for k, n in enumerate(shape) if n != 1]
    if len(shape) != len(whole) or not counted:
        return None
    first, last = counted[0], counted[-1] + 1
    if shape[first:] == whole[first:]:
        return "r", prod(shape)
    return ("c", prod(whole[last:])) if shape[:last] == whole[:last] else None


def spread(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...], int]:
    """Return a letter per argument, the arguments, and the length of the rows; an empty text if there is no such loop.

    Letters: "f" for an array of the shape of the largest, of one floating dtype; "r" and "c" for rows and columns, as
    `lies` says, also for views that repeat their elements with a stride of 0; "s" for a scalar.
    """
    arrays = [a for a in args if type(a) is _array_type and a.ndim]
    whole = max((a for a in arrays if dense(a)), key=lambda a: a.size, default=None)
    if whole is None or whole.dtype.char not in "fd":
        return "", args, 0
    kinds, given, length = "", [], 0
    for a in args:
        if type(a) is not _array_type or not a.ndim:
            if hasattr(a, "dtype") and a.dtype is not whole.dtype:
                return "", args, 0
            kinds += "s"
            given.append(a)
            continue
        if 0 in a.strides:
            if np.broadcast_shapes(a.shape, whole.shape) != whole.shape:  # the result is larger than all that are dense
                return "", args, 0
            a = a[tuple([slice(0, 1) if step == 0 else slice(None) for step in a.strides])]
        form = lies(a.shape, whole.shape)
        if form is None or a.dtype is not whole.dtype or not dense(a) or (length and form[1] not in (0, length)):
            return "", args, 0
        length = length or form[1]
        kinds += "f" if form[0] == "i" else form[0]
        given.append(a)
    return (kinds, tuple(given), length) if length >= _SHORTEST else ("", args, 0)


def read(kinds: str, arrays: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of a loop over rows that read the elements of arrays: for each row, and in the loop over it."""
    at = {"f": "_r, _i", "r": "_i"}
    lines = [(kind, f"p_{a} = a_{a}[{at.get(kind, '_r')}]") for kind, a in zip(kinds, arrays, strict=True)]
    return [line for kind, line in lines if kind == "c"], [line for kind, line in lines if kind != "c"]
