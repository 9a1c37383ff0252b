"""The operations that lead from dense to sparse tensors and back, to their parts and from one to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.coo import CooArray, at
from ...core.tensor import Tensor
from ...declare.annotations import Array, Sizes
from ...declare.decorators import linear
from . import bodies as sparse_bodies


@linear(
    values=lambda g, indices: _values_at(g, indices),
    node="SparseCooTensorWithDimsAndTensorsBackward0",
    promote=(),
    result=None,
    sparse=True,
)
def _coo(values: Array, indices: Array, size: Sizes, coalesced: bool) -> Any:
    """The sparse tensor with these values at these places."""
    return CooArray(indices, values, size, coalesced)


@linear(
    input=lambda g, indices, input_shape: _coo(g, indices, input_shape, False),
    node="SparseMaskBackward0",
    promote=(),
    result=None,
    sparse=True,
)
def _values_at(input: Array, indices: Array) -> Any:
    """Return the values of a dense or sparse tensor at `indices`, shape (sparse dimensions, entries)."""
    return at(input, indices, indices.shape[0])


@linear(input=lambda g, input: _masked_by(g, input), node="ToDenseBackward0", promote=(), result=None, sparse=True)
def _to_dense(input: Array) -> Any:
    """The dense tensor; gradients arrive where there are entries."""
    return input.to_dense()


@linear(input=lambda g, input_shape: _all_sparse(g, len(input_shape)), promote=(), result=None, sparse=True,
        node="ToDenseBackward0")  # fmt: skip
def _to_dense_unmasked(input: Array) -> Any:
    """The dense tensor; gradients arrive everywhere."""
    return input.to_dense()


@linear(input=lambda g: _dense_again(g), node="ToSparseBackward1", promote=(), result=None, sparse=True)
def _to_sparse(input: Array, sparse_dim: int) -> Any:
    """The entries that are not zero."""
    return sparse_bodies.entries(input, sparse_dim)


@linear(input=lambda g: _dense_again(g), node="ToSparseBackward1", promote=(), result=None, sparse=True)
def _all_sparse(input: Array, sparse_dim: int) -> Any:
    """Every element as an entry, zero or not."""
    return sparse_bodies.entries(input, sparse_dim, every=True)


@linear(input=lambda g: g, node="ToDenseBackward0", promote=(), result=None, sparse=True)
def _dense_again(input: Array) -> Any:
    """Return a dense tensor, from a dense or sparse one."""
    return input.to_dense() if isinstance(input, CooArray) else input


@linear(input=lambda g: g, node="CoalesceBackward0", promote=(), result=None, sparse=True)
def _coalesce(input: Array) -> Any:
    """The entries in order, those of one place added up."""
    return input.coalesce()


@linear(input=lambda g, input: _at_places_of(g, input), node="ValuesBackward0", promote=(), result=None, sparse=True)
def _values_of(input: Array) -> Any:
    """The values of a coalesced tensor."""
    return input.values


@linear(values=lambda g, like: _values_at_like(g, like), promote=(), result=None, sparse=True, node="ValuesBackward0")
def _at_places_of(values: Array, like: Array) -> Any:
    """Values at the places of the entries of another sparse tensor."""
    return like.with_values(values)


@linear(input=lambda g, like: _at_places_of(g, like), promote=(), result=None, sparse=True, node="SparseMaskBackward0")
def _values_at_like(input: Array, like: Array) -> Any:
    """Return the values of a tensor at the indices of the entries of the sparse tensor `like`."""
    return at(input, like.indices, like.sparse_dim)


@linear(input=lambda g, like: _masked_like(g, like), node="SparseMaskBackward0", promote=(), result=None, sparse=True)
def _masked_like(input: Array, like: Array) -> Any:
    """A tensor at the places of the entries of a sparse one, as a sparse one."""
    own = like.coalesce()
    return CooArray(own.indices, at(input, own.indices, own.sparse_dim), own.shape)


@linear(
    input=lambda g, like: _dense_again(_masked_like(g, like)),
    node="SparseMaskBackward0",
    promote=(),
    result=None,
    sparse=True,
)
def _dense_masked_like(input: Array, like: Array) -> Any:
    """`_masked_like` of a dense tensor, whose gradient is dense too."""
    own = like.coalesce()
    return CooArray(own.indices, at(input, own.indices, own.sparse_dim), own.shape)


def _masked_by(input: Any, like: Any) -> Any:
    sparse = input.is_sparse if isinstance(input, Tensor) else isinstance(input, CooArray)
    return (_masked_like if sparse else _dense_masked_like)(input, like)


@linear(input=lambda g: _dense_again(g), node="ToSparseBackward1", promote=(), result=None, sparse=True)
def _entries_and_others(input: Array, like: Array) -> Any:
    """A dense tensor with entries where a sparse one has them, and wherever else it is not zero."""
    there = input != 0
    there[tuple(like.indices)] = True
    indices = np.stack(np.nonzero(there)).astype(np.int64)
    return CooArray(indices, input[tuple(indices)], input.shape, True)


@linear(
    input=lambda g, mask: _dense_again(_masked_like(g, mask)),
    node="SparseMaskBackward0",
    promote=(),
    result=None,
    sparse=True,
)
def _sparse_mask(input: Array, mask: Array) -> Any:
    """A tensor at the places of the entries of a mask."""
    return mask.with_values(at(input, mask.indices, mask.sparse_dim))


for _op in (
    _coo, _values_at, _to_dense, _dense_masked_like, _to_dense_unmasked, _to_sparse, _all_sparse, _dense_again,
    _coalesce, _values_of, _at_places_of, _values_at_like, _masked_like, _sparse_mask, _entries_and_others,
):  # fmt: skip
    sparse_bodies.own(_op)
