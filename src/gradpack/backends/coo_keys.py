"""Coordinates as single numbers, which sort as the coordinates do, and runs of equal ones."""

from __future__ import annotations

from typing import Any

import numpy as np


def keys_of(indices: Any, shape: tuple[int, ...]) -> Any:
    """One number for each column of indices into an array of (at least) this shape."""
    keys = np.zeros(indices.shape[1], np.int64)
    for row, size in zip(indices, shape, strict=False):
        keys = keys * size + row
    return keys


def starts_of_runs(ordered: Any) -> Any:
    """Where runs of equal numbers start."""
    return np.flatnonzero(np.concatenate((np.ones(1, bool), ordered[1:] != ordered[:-1])))


def add_runs(rows: Any, starts: Any) -> Any:
    """Sums of runs of rows that begin at `starts`."""
    if rows.dtype.kind == "V" or rows.dtype == np.float16:  # low precision: added up in float32, rounded once
        return np.add.reduceat(rows.astype(np.float32), starts, axis=0).astype(rows.dtype)
    return np.add.reduceat(rows, starts, axis=0)
