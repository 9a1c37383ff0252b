"""Sparse tensors in coordinate form: making them, taking them apart, and back to dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.coo import CooArray
from ...base.layouts import sparse_coo, strided
from ...core.tensor import Tensor, alias, wrap
from . import bodies as sparse_bodies
from .conversions import (
    _coalesce,
    _coo,
    _masked_like,
    _sparse_mask,
    _to_dense,
    _to_dense_unmasked,
    _to_sparse,
    _values_of,
)

FUNCTIONS = "sparse_coo_tensor"
METHODS = (
    "to_sparse to_sparse_coo to_dense coalesce is_coalesced indices values _indices _values _nnz sparse_dim dense_dim "
    "sparse_mask _coalesced_ sparse_resize_ sparse_resize_and_clear_ _dimI _dimV"
)


def is_sparse(value: Any, name: str, argument: str) -> bool:
    """Whether an argument, which has to be a tensor, is a sparse one."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(value).__name__}")
    return value._spec.layout is not strided


def _refuse_strided(name: str, self: Tensor, what: str = "sparse coordinate tensor layout") -> None:
    if self._spec.layout is strided:
        raise RuntimeError(f"{name} expected {what} but got Strided")


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A sparse tensor in coordinate form: `values` at `indices`, zero elsewhere.

    Args:
        indices: integers, shape (sparse dimensions, entries): one column for each entry.
        values: shape (entries, *sizes of the dense dimensions); entries of equal indices add up.
        size: the shape; by default the smallest that has room for the indices. Alone: a tensor without entries.
        dtype: of the values.
        check_invariants: whether indices are compared with the size; None: as
            `gradpack.sparse.check_sparse_tensor_invariants` says.
        is_coalesced: whether the indices are known to be in order and unique.

    Raises:
        RuntimeError: if the shapes do not fit together.

    Example::

        >>> import gradpack as torch
        >>> s = torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
        >>> s.to_dense()
        tensor([[0., 0., 3.],
                [4., 0., 0.]])
    """
    from ..create.create import tensor

    if values is None:
        size = indices if size is None else size
        shape = tuple(size)
        native = tensor(0.0, dtype=dtype)._data.dtype
        made = wrap(CooArray(np.zeros((len(shape), 0), np.int64), np.zeros((0,), native), shape))
        made._data.coalesced = True
        return made.requires_grad_() if requires_grad else made
    places = indices if isinstance(indices, Tensor) else tensor(indices)
    entries = values if isinstance(values, Tensor) else tensor(values, dtype=dtype)
    if dtype is not None:
        entries = entries.to(dtype)
    columns = places._data.astype(np.int64)
    if columns.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(columns.shape)}")
    if not entries.ndim and columns.ndim == 2:
        entries = entries.expand(columns.shape[1])
    if columns.shape[1] != entries._shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {columns.shape[1]}, nnz from values: "
            f"{entries._shape[0]}"
        )
    if size is None:
        if columns.size and columns.min() < 0:
            row = int(np.flatnonzero(columns.min(axis=1) < 0)[0])
            raise RuntimeError(f"found negative index {int(columns[row].min())} for dim {row}")
        reach = columns.max(axis=1) + 1 if columns.shape[1] else np.zeros(columns.shape[0], np.int64)
        shape = (*map(int, reach), *entries._shape[1:])
    else:
        shape = tuple(size)
    sparse_bodies.check(columns, entries._shape, shape, check_invariants)
    made = _coo(entries, alias(columns, places.long()._spec, columns.shape), shape, bool(is_coalesced))
    return made.requires_grad_() if requires_grad else made


def _to_layout(self: Tensor, name: str, sparse_dim: int | None) -> Tensor:
    if self._spec.layout is not strided:
        if sparse_dim is not None and sparse_dim != self._data.sparse_dim:
            raise RuntimeError(
                f"{name}: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not "
                "supported"
            )
        return self
    count = self.ndim if sparse_dim is None else sparse_dim
    _check_count("sparse_dim", count, self.ndim)
    if not count and self.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    return _to_sparse(self, count)


def _check_count(name: str, count: int, most: int) -> None:
    if not 0 <= count <= most:
        raise RuntimeError(f"dense_to_sparse: {name} argument must be in [0,{most}] range, but {count} is given")


def to_sparse(
    self: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> Tensor:
    """This tensor as a sparse one, in coordinate form: the only layout there is.

    Args:
        sparse_dim: how many dimensions, from the first, are sparse; None for all. Those after them are dense.
        layout: `torch.sparse_coo`, or None for it; `torch.strided` returns a dense tensor as it is.
        blocksize: None: layouts of blocks are not supported.
        dense_dim: how many dimensions, at the end, are dense: instead of `sparse_dim`.

    Raises:
        RuntimeError: for another layout, a number of dimensions out of range, or a block size.
        TypeError: for both `sparse_dim` and `dense_dim`.

    Example::

        >>> import gradpack as torch
        >>> torch.eye(2).to_sparse()
        tensor(indices=tensor([[0, 1],
                               [0, 1]]),
               values=tensor([1., 1.]),
               size=(2, 2), nnz=2, layout=gradpack.sparse_coo)
        >>> torch.eye(2).to_sparse(dense_dim=1).values()
        tensor([[1., 0.],
                [0., 1.]])
    """
    if layout is not None and layout is not sparse_coo:
        if layout is strided and self._spec.layout is strided:
            return self
        raise RuntimeError(f"to_sparse(): layout {layout!r} is not supported, only sparse_coo is")
    if blocksize is not None:
        raise RuntimeError("to_sparse(): blocksize is for layouts of blocks, and the layout is sparse_coo")
    if dense_dim is not None:
        if sparse_dim is not None:
            raise TypeError("to_sparse(): got both sparse_dim and dense_dim: one of them says the other")
        if self._spec.layout is not strided:
            raise RuntimeError(
                "to_sparse: conversion from Sparse to Sparse with dense_dim argument given is not supported"
            )
        _check_count("dense_dim", dense_dim, self.ndim)
        if dense_dim == self.ndim > 0:
            raise RuntimeError("dense_to_sparse: dense_dim argument must be !=self.dim() when self.dim()>0")
        sparse_dim = self.ndim - dense_dim
    return _to_layout(self, "to_sparse", sparse_dim)


def to_sparse_coo(self: Tensor) -> Tensor:
    """This tensor as a sparse one, in coordinate form."""
    return _to_layout(self, "to_sparse", None)


def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """This tensor with all of its zeros; a dense one as it is.

    Args:
        dtype: None, for a sparse tensor.
        masked_grad: whether gradients arrive only where there are entries (the default), or everywhere.

    Example::

        >>> import gradpack as torch
        >>> torch.sparse_coo_tensor([[0, 1]], [3.0, 4.0], (3,)).to_dense()
        tensor([3., 4., 0.])
    """
    if self._spec.layout is strided:
        return self if dtype is None else self.to(dtype)
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return (_to_dense_unmasked if masked_grad is False else _to_dense)(self)


def coalesce(self: Tensor) -> Tensor:
    """The same tensor with its entries in order, those of one place added up.

    Example::

        >>> import gradpack as torch
        >>> torch.sparse_coo_tensor([[1, 1]], [3.0, 4.0], (2,)).coalesce().values()
        tensor([7.])
    """
    _refuse_strided("coalesce", self)
    return self if self._data.coalesced else _coalesce(self)


def is_coalesced(self: Tensor) -> bool:
    """Whether the entries are known to be in order, one for each place."""
    _refuse_strided("is_coalesced", self)
    return bool(self._data.coalesced)


def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Set whether the tensor counts as coalesced."""
    self._data.coalesced = coalesced
    return self


def _refuse_uncoalesced(name: str, self: Tensor) -> None:
    if not self._data.coalesced:
        raise RuntimeError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")


def indices(self: Tensor) -> Tensor:
    """The places of the entries of a coalesced tensor: shape (sparse dimensions, entries)."""
    _refuse_strided("indices", self)
    _refuse_uncoalesced("indices", self)
    return wrap(self._data.indices)


def values(self: Tensor) -> Tensor:
    """The values of the entries of a coalesced tensor; it shares memory with them.

    Raises:
        RuntimeError: for a tensor that is not coalesced, or not sparse.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([0.0, 5.0]).to_sparse().values()
        tensor([5.])
    """
    _refuse_strided("values", self, "sparse tensor layout")
    _refuse_uncoalesced("values", self)
    return _values_of(self)


def _only_sparse(name: str, self: Tensor) -> CooArray:
    if self._spec.layout is strided:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: the tensor is dense."
        )
    return self._data


def _indices(self: Tensor) -> Tensor:
    """The places of the entries, coalesced or not."""
    return wrap(_only_sparse("_indices", self).indices)


def _values(self: Tensor) -> Tensor:
    """The values of the entries, coalesced or not, out of the graph. They share memory with the tensor."""
    return wrap(_only_sparse("_values", self).values)


def _nnz(self: Tensor) -> int:
    """The number of entries."""
    return _only_sparse("_nnz", self).nnz


def sparse_dim(self: Tensor) -> int:
    """How many dimensions are sparse: 0 for a dense tensor."""
    return 0 if self._spec.layout is strided else self._data.sparse_dim


def dense_dim(self: Tensor) -> int:
    """How many dimensions are dense."""
    return self.ndim - sparse_dim(self)


_dimI = sparse_dim  # noqa: N816 - torch's name
_dimV = dense_dim  # noqa: N816


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of this tensor at the places where `mask`, a sparse tensor, has entries.

    Example::

        >>> import gradpack as torch
        >>> mask = torch.eye(2).to_sparse()
        >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(mask).values()
        tensor([1., 4.])
    """
    _only_sparse("sparse_mask", mask)
    if self._shape != mask._shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self._shape)} but mask has size "
            f"{list(mask._shape)}"
        )
    return (_masked_like if self._spec.layout is not strided else _sparse_mask)(self, mask)


def _check_growth(old: tuple[int, ...], old_sparse: int, new: tuple[int, ...], sparse: int) -> None:
    """Raise if a tensor with entries would have fewer dimensions, or smaller ones."""
    for kind, before, after in (("sparse", old_sparse, sparse), ("dense", len(old) - old_sparse, len(new) - sparse)):
        if before != after:
            raise RuntimeError(
                f"changing the number of {kind} dimensions (from {before} to {after}) on a non-empty sparse tensor is "
                "not supported: make a sparse tensor of this shape, or clear this one with sparse_resize_and_clear_()"
            )
    for kind, part in (("sparse", slice(sparse)), ("dense", slice(sparse, None))):
        if any(b > a for b, a in zip(old[part], new[part], strict=True)):
            raise RuntimeError(
                f"shrinking the size of {kind} dimensions (from {list(old[part])} to {list(new[part])}) on a non-empty "
                "sparse tensor is not supported: make a sparse tensor of this shape, or clear this one with "
                "sparse_resize_and_clear_()"
            )


def sparse_resize_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a sparse tensor another shape, with the same entries, in place.

    The values of entries get zeros where dense dimensions grow.

    Args:
        size: the new shape.
        sparse_dim: how many of the dimensions, from the first, are sparse.
        dense_dim: how many, after those, are dense: their elements are parts of the values.

    Raises:
        RuntimeError: unless `sparse_dim + dense_dim` is the number of dimensions; for a tensor with entries, if one of
            the two changes or a dimension shrinks.
        NotImplementedError: for a dense tensor.

    Example::

        >>> import gradpack as torch
        >>> s = torch.sparse_coo_tensor([[0, 1]], [3.0, 4.0], (2,))
        >>> s.sparse_resize_((4,), 1, 0).to_dense()
        tensor([3., 4., 0., 0.])
    """
    data = _only_sparse("sparse_resize_", self)
    shape = tuple(size)
    if min(sparse_dim, dense_dim) < 0 or sparse_dim + dense_dim != len(shape):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    if data.nnz:
        _check_growth(data.shape, data.sparse_dim, shape, sparse_dim)
        room = np.zeros((data.nnz, *shape[sparse_dim:]), data.dtype)
        room[tuple(map(slice, data.values.shape))] = data.values
        data.values = room
    else:
        data.indices = np.zeros((sparse_dim, 0), np.int64)
        data.values = np.zeros((0, *shape[sparse_dim:]), data.dtype)
    data.shape = self._shape = shape
    self._counter[0] += 1
    return self


def sparse_resize_and_clear_(self: Tensor, size: Any, sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a sparse tensor another shape and take all entries away, in place.

    Args:
        size: the new shape.
        sparse_dim: how many of the dimensions, from the first, are sparse.
        dense_dim: how many, after those, are dense.

    Raises:
        RuntimeError: unless `sparse_dim + dense_dim` is the number of dimensions.
        NotImplementedError: for a dense tensor.

    Example::

        >>> import gradpack as torch
        >>> s = torch.eye(2).to_sparse()
        >>> s.sparse_resize_and_clear_((3, 4), 1, 1)._nnz(), s.shape, s.dense_dim()
        (0, gradpack.Size([3, 4]), 1)
    """
    data = _only_sparse("sparse_resize_and_clear_", self)
    data.indices = data.indices[:, :0]
    return sparse_resize_(self, size, sparse_dim, dense_dim)
