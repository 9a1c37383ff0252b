"""Dimensions and sizes as functions are given them."""

from __future__ import annotations

from typing import Any

from ...base.errors import dim_out_of_range
from ...core.tensor import Tensor


def wrap_dim(dim: Any, ndim: int) -> int:
    """A dimension counted from the front."""
    if type(dim) is int and 0 <= dim < ndim:
        return dim
    low, high = (-1, 1) if ndim == 0 else (-ndim, ndim)
    if not hasattr(dim, "__index__"):
        raise TypeError(f"a dimension must be int, not {type(dim).__name__}")
    dim = dim.__index__()
    if not low <= dim < high:
        raise dim_out_of_range(dim, ndim)
    return dim + (ndim or 1) if dim < 0 else dim


def wrap_dims(dims: Any, ndim: int) -> tuple[int, ...]:
    """Several dimensions counted from the front, none of them twice."""
    out = tuple([d if type(d) is int and 0 <= d < ndim else wrap_dim(d, ndim) for d in dims])
    if len(set(out)) != len(out):
        twice = next(d for d in out if out.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return out


def ints_of(values: tuple[Any, ...], op: str = "") -> tuple[int, ...]:
    """The sizes as a tuple, from `f(2, 3)` or `f((2, 3))`; an error names `op`."""
    if len(values) == 1 and type(values[0]) is tuple:
        values = values[0]
    for v in values:
        if type(v) is not int:
            break
    else:
        return values
    if (len(values) == 1 and not hasattr(values[0], "__index__")) or (
        len(values) == 1 and isinstance(values[0], Tensor) and values[0].ndim
    ):
        values = tuple(values[0])
    for v in values:
        if not hasattr(v, "__index__"):
            called = f"{op}(): " if op else ""
            raise TypeError(f"{called}a shape must be a tuple of ints, but found element of type {type(v).__name__}")
    return tuple(v if type(v) is int else v.__index__() for v in values)
