"""Softmax of sparse tensors, over the entries that they have."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...backends.coo import CooArray
from ...backends.coo_keys import add_runs
from ...base.errors import dim_out_of_range
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general, linear
from .bodies import of_sparse
from .conversions import _masked_like
from .coordinates import is_sparse

_normalization = partial(of_sparse, general, cost="cheap", overlap="read_first")


@_normalization(
    input=lambda g, out, dim: _softmax_slope(g, out, dim),
    jvp=lambda input_t, out, dim: _softmax_slope(input_t, out, dim),
    node="SparseSoftmaxBackward0",
)
def _softmax(input: Array, dim: int) -> Any:
    """Softmax over the entries of each line."""
    return _of_lines(input, dim, False)


@_normalization(
    input=lambda g, out, dim: _log_softmax_slope(g, out, dim),
    jvp=lambda input_t, out, dim: input_t - _lines(input_t * _exp(out), dim),
    node="SparseLogSoftmaxBackward0",
)
def _log_softmax(input: Array, dim: int) -> Any:
    """Logarithms of the softmax over the entries of each line."""
    return _of_lines(input, dim, True)


def _softmax_slope(g: Any, out: Any, dim: Any) -> Any:
    product = _masked_like(g, out) * out
    return product - out * _lines(product, dim)


def _log_softmax_slope(g: Any, out: Any, dim: Any) -> Any:
    own = _masked_like(g, out)
    return own - _exp(out) * _lines(own, dim)


@of_sparse(linear, input=lambda g, dim: _lines(g, dim))
def _lines(input: Array, dim: int) -> Any:
    """Return at each entry the sum of the entries of its line along `dim`."""
    own = input.coalesce()
    order, starts, line = _grouped(own, dim)
    if not own.nnz:
        return own
    values = np.empty_like(own.values)
    values[order] = add_runs(own.values[order], starts)[line]
    return own.with_values(values)


@of_sparse(general, input=lambda g, out: g * out, jvp=lambda input_t, out: input_t * out, cost="cheap")
def _exp(input: Array) -> Any:
    """Exponentials of the entries."""
    return input.with_values(np.exp(input.values))


def _grouped(own: Any, dim: int) -> tuple[Any, Any, Any]:
    """The entries ordered by line along `dim`; where lines start; the line of each."""
    others = CooArray(np.delete(own.indices, dim, 0), own.values, own.shape[:dim] + own.shape[dim + 1 :])
    keys = others.keys()
    order = np.argsort(keys, kind="stable")
    change = np.concatenate((np.ones(1, bool), np.diff(keys[order]) != 0)) if keys.size else np.zeros(0, bool)
    return order, np.flatnonzero(change), np.cumsum(change) - 1


def _of_lines(input: Any, dim: int, log: bool) -> Any:
    own = input.coalesce()
    if not own.nnz:
        return own
    order, starts, line = _grouped(own, dim)
    rows = own.values[order]
    rows = rows - np.maximum.reduceat(rows, starts, axis=0)[line]
    total = np.add.reduceat(np.exp(rows), starts, axis=0)[line]
    values = np.empty_like(own.values)
    values[order] = rows - np.log(total) if log else np.exp(rows) / total
    return own.with_values(values)


def _along(name: str, input: Tensor, dim: int, dtype: Any) -> tuple[Tensor, int]:
    if not is_sparse(input, name, "input"):
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it is dense.")
    if not -input.ndim <= dim < input.ndim:
        raise dim_out_of_range(dim, input.ndim)
    dim %= input.ndim
    if dim >= input._data.sparse_dim:
        raise RuntimeError(f"{name}(): dim {dim} is a dense dimension; convert with to_dense() first")
    if dtype is not None:
        input = input.to(dtype)
    return input, dim


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Softmax along a dimension; unspecified elements count as minus infinity.

    Example::

        >>> import gradpack as torch
        >>> s = torch.sparse_coo_tensor([[0, 1, 1], [0, 0, 1]], [5.0, 2.0, 2.0], (2, 2))
        >>> torch.sparse.softmax(s, 1).to_dense()
        tensor([[1.0000, 0.0000],
                [0.5000, 0.5000]])
    """
    return _softmax(*_along("_sparse_softmax", input, dim, dtype))


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Logarithms of the softmax along a dimension; unspecified elements count as minus infinity."""
    return _log_softmax(*_along("_sparse_log_softmax", input, dim, dtype))
