"""Recurrences along the last dimension of large arrays: one step of many lines at a time.

NumPy takes a line to its end before the next, one element after another. Turned around, portion by
portion, a step is one instruction on as many neighbours as there are lines, and elements are the
same to the last bit. Compiled loops, where there are some, run products in float64 and round once
where a recurrence multiplies and adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...kernels.dispatch import loops
from ..pointwise.blockwise import is_numpy

_PORTION = 1 << 17  # elements transposed at a time
_ENOUGH = 1 << 15  # elements: below this transposing does not pay
_SIDE_BY_SIDE = 64  # the least number of lines


def are_many(x: Any, place: int) -> bool:
    """Whether `place` is the last dimension of `x`, and `x` is large and has many lines along it."""
    if not is_numpy(x) or place != x.ndim - 1 or x.size < _ENOUGH or not x.flags.c_contiguous:
        return False
    return x.dtype.char in "fdil" and x.size >= _SIDE_BY_SIDE * x.shape[-1]


def _portions(x: Any) -> Iterator[slice]:
    step = max(_SIDE_BY_SIDE, _PORTION // x.shape[-1])
    return (slice(start, start + step) for start in range(0, x.size // x.shape[-1], step))


def _lines(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1])


def _turned(lines: Any) -> Any:
    """The transpose, copied in blocks, with padded rows: row lengths of a power of two would conflict in the cache."""
    count, length = lines.shape
    out = np.empty((length, count + 16), lines.dtype)[:, :count]
    for start in range(0, count, 32):
        out[:, start : start + 32] = lines[start : start + 32].T
    return out


def running_sums(x: Any, place: int, backwards: bool = False) -> Any:
    """Cumulative sums of float32 along the last dimension in a compiled loop; None if there is no such loop."""
    fast = loops("running", x) if place == x.ndim - 1 and x.dtype.char == "f" else None
    if fast is None:
        return None
    out = np.empty_like(x)
    fast.sums(_lines(x), backwards, _lines(out))
    return out


def running(function: Callable[..., Any], x: Any) -> Any:
    """Accumulate a binary `function` along the last dimension of an array for which `are_many` holds."""
    source, out = _lines(x), np.empty_like(x)
    target = _lines(out)
    fast = loops("running", x) if function is np.multiply else None
    if fast is not None:
        fast.products(source, target)
        return out
    for part in _portions(x):
        steps = _turned(source[part])
        _accumulate(function, steps)
        target[part] = steps.T
    return out


def _accumulate(function: Callable[..., Any], steps: Any) -> None:
    rows = list(steps)
    for before, row in pairwise(rows):
        function(before, row, out=row)


def running_extreme(function: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    """`running` for `numpy.maximum` or `numpy.minimum`, and the index of the last element equal to it so far."""
    source, values, indices = _lines(x), np.empty_like(x), np.empty(x.shape, np.int64)
    reached, places, count = _lines(values), _lines(indices), np.arange(x.shape[-1], dtype=np.int32)
    fast = loops("running", x)
    if fast is not None:
        fast.extremes(source, function is np.minimum, reached, places)
        return values, indices
    for part in _portions(x):
        steps = _turned(source[part])
        found = np.empty(steps.base.shape, x.dtype)[:, : steps.shape[1]]
        found[:] = steps
        _accumulate(function, found)
        new = steps == found
        if x.dtype.kind == "f" and not np.isfinite(np.add.reduce(found[-1])):
            new |= steps != steps  # noqa: PLR0124 - NaN stays, and only NaN differs from itself
        reached[part] = found.T
        numbers = np.empty(steps.base.shape, np.int32)[:, : steps.shape[1]]
        np.multiply(new, count[:, None], out=numbers)
        _accumulate(np.maximum, numbers)
        places[part] = numbers.T
    return values, indices


def recurrence(a: Any, b: Any, backwards: bool) -> Any:
    """`y[k] = b[k] + a[k] * y[k - 1]` along the last dimension of equal arrays; with `y[k + 1]` if `backwards`."""
    factors, terms, out = _lines(a), _lines(b), np.empty_like(b)
    target = _lines(out)
    fast = loops("running", a, b)
    if fast is not None:
        fast.recurrence(factors, terms, backwards, target)
        return out
    for part in _portions(b):
        by, made = list(_turned(factors[part])), _turned(terms[part])
        rows, spare = list(made), np.empty_like(made[0])
        if backwards:
            by.reverse()
            rows.reverse()
        for before, row, factor in zip(rows, rows[1:], by[1:], strict=False):
            np.multiply(factor, before, out=spare)
            np.add(row, spare, out=row)
        target[part] = made.T
    return out
