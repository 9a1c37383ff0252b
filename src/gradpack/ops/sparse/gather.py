"""The gradient of `gather` with `sparse_grad=True`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.coo import CooArray, at
from ...declare.annotations import Array
from ...declare.decorators import linear
from . import bodies as sparse_bodies


@linear(
    grad_output=lambda g, index, shape, dim: _entries_at(g, index, shape, dim),
    node="SparseCooTensorWithDimsAndTensorsBackward0",
    sparse=True,
)
def gather_sparse_backward(grad_output: Array, index: Array, shape: Any = (), dim: int = 0) -> Any:
    """A sparse tensor of `shape` with one entry for each element that `gather` read, in their order."""
    return CooArray(_columns(index, shape, dim), np.reshape(grad_output, (-1,)), tuple(shape))


@linear(input=lambda g, index, shape, dim: gather_sparse_backward(g, index, shape, dim), sparse=True)
def _entries_at(input: Array, index: Array, shape: Any = (), dim: int = 0) -> Any:
    """Return the values of a dense or sparse tensor of `shape` that `gather` with `index` along `dim` reads."""
    return np.reshape(at(input, _columns(index, shape, dim), len(shape)), index.shape)


def _columns(index: Any, shape: Any, dim: int) -> Any:
    """The coordinates of what `gather` reads, a column for each element."""
    ndim = len(shape)
    if not ndim:
        return np.zeros((0, index.size), np.int64)
    if not index.ndim:
        index = np.reshape(index, (1,))
    places = np.indices(index.shape, np.int64)
    places[dim] = index
    return np.reshape(places, (ndim, -1))


sparse_bodies.own(gather_sparse_backward)
sparse_bodies.own(_entries_at)
