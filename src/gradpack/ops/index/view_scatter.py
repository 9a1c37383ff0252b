"""Copies with a view overwritten: `select_scatter`, `slice_scatter` and `diagonal_scatter`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array, Number
from ...declare.decorators import linear
from ..shape.dims import wrap_dim
from .subscript import FULL

FUNCTIONS = "select_scatter slice_scatter diagonal_scatter"
METHODS = FUNCTIONS

_scattered = partial(linear, promote=("input",), data_movement=True)


@_scattered(
    input=lambda g, src_shape, dim, index: select_scatter(g, late.zeros_as(g, src_shape), dim, index),
    src=lambda g, dim, index: late.select(g, dim, index),
    axis=True,
)
def select_scatter(input: Array, src: Array, dim: int, index: int = 0) -> Any:
    """`input` with `src` where `select(input, dim, index)` reads.

    Args:
        src: the new elements, of the shape of that part.
        dim: the dimension; negative ones count from the last.
        index: an int; negative ones count from the end.

    Raises:
        IndexError: if `dim` or `index` is out of range.
        RuntimeError: if the shape of `src` is not that of the part.

    Example::

        >>> import gradpack as torch
        >>> torch.select_scatter(torch.zeros(2, 2), torch.tensor([1.0, 2.0]), 1, 0)
        tensor([[1., 0.],
                [2., 0.]])
    """
    out = np.asarray(input, copy=True)
    return _overwritten(out, late.select(out, dim, index), src)


@_scattered(
    input=lambda g, src_shape, dim, start, end, step: slice_scatter(
        g, late.zeros_as(g, src_shape), dim, start, end, step
    ),
    src=lambda g, dim, start, end, step: late._slice(g, _range_of(tuple(g.shape), dim, start, end, step)),
    axis=True,
    overlap="read_first",
)
def slice_scatter(
    input: Array, src: Array, dim: int = 0, start: Number = None, end: Number = None, step: int = 1
) -> Any:
    """`input` with `src` at `start:end:step` of a dimension.

    Args:
        src: the new elements, of the shape of that part.
        start, end: the first index, and the one that is no longer part of it; None for the ends.
        step: the distance between two indices; positive.

    Raises:
        IndexError: if `dim` is out of range.
        RuntimeError: if the shape of `src` is not that of the part, or the step is not positive.

    Example::

        >>> import gradpack as torch
        >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), 0, 1, 3)
        tensor([0., 1., 1., 0.])
    """
    out = np.asarray(input, copy=True)
    return _overwritten(out, out[_range_of(input.shape, dim, start, end, step)], src)


def _range_of(shape: Any, dim: int, start: Any, end: Any, step: int) -> tuple[Any, ...]:
    d = wrap_dim(dim, len(shape))
    if not len(shape):
        raise RuntimeError("slice_scatter() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return (*(FULL,) * d, slice(start, end, step), ...)


@_scattered(
    input=lambda g, src_shape, offset, dim1, dim2: diagonal_scatter(g, late.zeros_as(g, src_shape), offset, dim1, dim2),
    src=lambda g, offset, dim1, dim2: late.diagonal(g, offset, dim1, dim2),
)
def diagonal_scatter(input: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """`input` with `src` on the diagonal that `diagonal(input, offset, dim1, dim2)` reads.

    Raises:
        RuntimeError: if the shape of `src` is not that of the diagonal.

    Example::

        >>> import gradpack as torch
        >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.tensor([1.0, 2.0]))
        tensor([[1., 0.],
                [0., 2.]])
    """
    out = np.asarray(input, copy=True)
    return _overwritten(out, late.diagonal(out, offset, dim1, dim2), src)


def _overwritten(out: Any, part: Any, src: Any) -> Any:
    """`out`, with `src` written into `part`, a view of it."""
    if tuple(src.shape) != tuple(part.shape):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(part.shape)}"
        )
    part[...] = src
    return out
