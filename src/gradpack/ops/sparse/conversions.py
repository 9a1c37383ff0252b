"""The operations that lead from dense to sparse tensors and back, to their parts and from one to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.coo import CooArray, at
from ...core.tensor import Tensor
from ...declare.annotations import Array, Sizes
from ...declare.decorators import linear
from .bodies import as_they_are, entries, of_sparse


@as_they_are(
    linear, values=lambda g, indices: _values_at(g, indices), node="SparseCooTensorWithDimsAndTensorsBackward0"
)
def _coo(values: Array, indices: Array, size: Sizes, coalesced: bool) -> Any:
    """The sparse tensor with these values at these places."""
    return CooArray(indices, values, size, coalesced)


@as_they_are(
    linear, input=lambda g, indices, input_shape: _coo(g, indices, input_shape, False), node="SparseMaskBackward0"
)
def _values_at(input: Array, indices: Array) -> Any:
    """Return the values of a dense or sparse tensor at `indices`, shape (sparse dimensions, entries)."""
    return at(input, indices, indices.shape[0])


@as_they_are(linear, input=lambda g, input: _masked_by(g, input), node="ToDenseBackward0")
def _to_dense(input: Array) -> Any:
    """The dense tensor; gradients arrive where there are entries."""
    return input.to_dense()


@as_they_are(linear, input=lambda g, input_shape: _all_sparse(g, len(input_shape)), node="ToDenseBackward0")
def _to_dense_unmasked(input: Array) -> Any:
    """The dense tensor; gradients arrive everywhere."""
    return input.to_dense()


@as_they_are(linear, input=lambda g: _dense_again(g), node="ToSparseBackward1")
def _to_sparse(input: Array, sparse_dim: int) -> Any:
    """The entries that are not zero."""
    return entries(input, sparse_dim)


@as_they_are(linear, input=lambda g: _dense_again(g), node="ToSparseBackward1")
def _all_sparse(input: Array, sparse_dim: int) -> Any:
    """Every element as an entry, zero or not."""
    return entries(input, sparse_dim, every=True)


@as_they_are(linear, input=lambda g: g, node="ToDenseBackward0")
def _dense_again(input: Array) -> Any:
    """Return a dense tensor, from a dense or sparse one."""
    return input.to_dense() if isinstance(input, CooArray) else input


@as_they_are(linear, input=lambda g: g, node="CoalesceBackward0")
def _coalesce(input: Array) -> Any:
    """The entries in order, those of one place added up."""
    return input.coalesce()


@as_they_are(linear, input=lambda g, input: _at_places_of(g, input), node="ValuesBackward0")
def _values_of(input: Array) -> Any:
    """The values of a coalesced tensor."""
    return input.values


@as_they_are(linear, values=lambda g, like: _values_at_like(g, like), node="ValuesBackward0")
def _at_places_of(values: Array, like: Array) -> Any:
    """Values at the places of the entries of another sparse tensor."""
    return like.with_values(values)


@as_they_are(linear, input=lambda g, like: _at_places_of(g, like), node="SparseMaskBackward0")
def _values_at_like(input: Array, like: Array) -> Any:
    """Return the values of a tensor at the indices of the entries of the sparse tensor `like`."""
    return at(input, like.indices, like.sparse_dim)


@as_they_are(linear, input=lambda g, like: _masked_like(g, like), node="SparseMaskBackward0")
def _masked_like(input: Array, like: Array) -> Any:
    """A tensor at the places of the entries of a sparse one, as a sparse one."""
    own = like.coalesce()
    return CooArray(own.indices, at(input, own.indices, own.sparse_dim), own.shape)


@as_they_are(linear, input=lambda g, like: _dense_again(_masked_like(g, like)), node="SparseMaskBackward0")
def _dense_masked_like(input: Array, like: Array) -> Any:
    """`_masked_like` of a dense tensor, whose gradient is dense too."""
    return _masked_like(input, like)


def _masked_by(input: Any, like: Any) -> Any:
    sparse = input.is_sparse if isinstance(input, Tensor) else isinstance(input, CooArray)
    return (_masked_like if sparse else _dense_masked_like)(input, like)


@as_they_are(linear, input=lambda g: _dense_again(g), node="ToSparseBackward1")
def _entries_and_others(input: Array, like: Array) -> Any:
    """A dense tensor with entries where a sparse one has them, and wherever else it is not zero."""
    there = input != 0
    there[tuple(like.indices)] = True
    indices = np.stack(np.nonzero(there)).astype(np.int64)
    return CooArray(indices, input[tuple(indices)], input.shape, True)


@as_they_are(linear, input=lambda g, mask: _dense_again(_masked_like(g, mask)), node="SparseMaskBackward0")
def _sparse_mask(input: Array, mask: Array) -> Any:
    """A tensor at the places of the entries of a mask."""
    return mask.with_values(at(input, mask.indices, mask.sparse_dim))


# -- the gradient of `gather` with `sparse_grad=True` --


@of_sparse(
    linear,
    grad_output=lambda g, index, shape, dim: _entries_at(g, index, shape, dim),
    node="SparseCooTensorWithDimsAndTensorsBackward0",
)
def gather_sparse_backward(grad_output: Array, index: Array, shape: Any = (), dim: int = 0) -> Any:
    """A sparse tensor of `shape` with one entry for each element that `gather` read, in their order."""
    return CooArray(_columns(index, shape, dim), np.reshape(grad_output, (-1,)), tuple(shape))


@of_sparse(linear, input=lambda g, index, shape, dim: gather_sparse_backward(g, index, shape, dim))
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
