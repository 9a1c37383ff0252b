"""Embedding: rows of a table by index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.coo import CooArray, at
from ...backends.numpy import as_intp, product
from ...base.dtypes import int32, int64
from ...base.modes import MODE, using
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import each_example
from ...declare.decorators import linear
from ..create.making import beside
from ..index.accumulate import add_rows as add_wide_rows
from ..random.floats import host_of
from ..reduce.kernels import SMALL, _array_type, _maximum, reshaped
from ..sparse import bodies as sparse_bodies

FUNCTIONS = ""


@linear(
    weight=lambda g, indices, weight_shape, padding_idx, scale_grad_by_freq: embedding_dense_backward(
        g, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    ),
    data_movement=True,
    node="EmbeddingBackward0",
    saved_as="indices padding_idx scale_grad_by_freq sparse=:False weight_sym_argsize_0=weight.shape[0]",
)
def _embedding(weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Any:
    """Rows of `weight`."""
    few = type(indices) is _array_type and type(weight) is _array_type and 0 < indices.size < SMALL
    if few and indices.dtype == np.int64 and _maximum(indices.view(np.uint64), None) < weight.shape[0]:
        return weight.take(as_intp(indices), 0)  # read as unsigned, negative indices are large
    if indices.size and (np.min(indices) < 0 or np.max(indices) >= weight.shape[0]):
        bad = int(np.min(indices)) if np.min(indices) < 0 else int(np.max(indices))
        error = RuntimeError if 0 in weight.shape else IndexError  # as torch
        raise error(f"index out of range in self: embedding() got index {bad} for {weight.shape[0]} rows")
    return np.take(weight, as_intp(indices), axis=0)


@linear(
    grad_output=lambda g, indices, padding_idx, scale_grad_by_freq: _pick_rows(
        g, indices, padding_idx, scale_grad_by_freq
    ),
    node="EmbeddingDenseBackwardBackward0",
)
def embedding_dense_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int = -1, scale_grad_by_freq: bool = False
) -> Any:
    """Add rows up by index: the adjoint of the lookup."""
    flat = reshaped(indices, (-1,))
    features = grad_output.shape[len(indices.shape) :]
    rows = reshaped(grad_output, (flat.shape[0], math.prod(features)))
    if scale_grad_by_freq and flat.shape[0]:
        rows = rows / np.bincount(as_intp(flat), minlength=num_weights)[flat][:, None].astype(rows.dtype)
    out = add_rows(rows, flat, num_weights)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return reshaped(out, (num_weights, *features))


def add_rows(rows: Any, index: Any, count: int) -> Any:
    """Sum of the rows that share an index, by sorting: far faster than adding them one at a time."""
    out = np.zeros((count, rows.shape[1]), rows.dtype)
    if not index.shape[0]:
        return out
    if type(rows) is _array_type and rows.size < SMALL:
        np.add.at(out, index, rows)
        return out
    if count <= (512 if rows.shape[1] < 32 else 128) and rows.dtype.kind == "f" and np.all(np.isfinite(rows)):
        hot = np.zeros((count, index.shape[0]), rows.dtype)
        hot[index, np.arange(index.shape[0])] = 1
        return product(hot, rows)  # a product with one-hot rows runs in BLAS
    if rows.shape[1] >= 32 and hasattr(np.add, "at"):
        return add_wide_rows(out, index, rows)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate((np.ones(1, bool), ordered[1:] != ordered[:-1])))
    out[ordered[starts]] = np.add.reduceat(rows[order], starts, axis=0)
    return out


@linear(
    input=lambda g, indices, input_shape, padding_idx, scale_grad_by_freq: embedding_dense_backward(
        g, indices, input_shape[0], padding_idx, scale_grad_by_freq
    ),
    node="EmbeddingBackward0",
)
def _pick_rows(input: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Any:
    """Rows by index, those of the padding index zero, scaled as the gradient was."""
    rows = np.take(input, as_intp(indices), axis=0)
    factor = np.ones(indices.shape, rows.dtype)
    if scale_grad_by_freq and indices.size:
        counts = np.bincount(as_intp(np.reshape(indices, (-1,))), minlength=input.shape[0])
        factor = factor / counts[indices].astype(rows.dtype)
    if padding_idx >= 0:
        factor = np.where(indices == padding_idx, np.zeros_like(factor), factor)
    return rows * np.reshape(factor, factor.shape + (1,) * (len(rows.shape) - len(factor.shape))).astype(rows.dtype)


@linear(
    weight=lambda g, indices, weight_shape, padding_idx, scale_grad_by_freq: embedding_sparse_backward(
        g, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    ),
    data_movement=True,
    node="EmbeddingBackward0",
)
def _embedding_sparse(weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False) -> Any:
    """`_embedding` with a sparse gradient."""
    return _embedding(weight, indices)


@linear(
    grad_output=lambda g, indices, padding_idx: _rows_at(g, indices, padding_idx),
    node="SparseCooTensorWithDimsAndTensorsBackward0",
    sparse=True,
)
def embedding_sparse_backward(
    grad_output: Array, indices: Array, num_weights: int, padding_idx: int = -1, scale_grad_by_freq: bool = False
) -> Any:
    """The gradient of the rows that were looked up, one entry for each, as a sparse matrix."""
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    features = grad_output.shape[len(indices.shape) :]
    flat = np.reshape(indices, (-1,)).astype(np.int64)
    rows = np.reshape(grad_output, (flat.shape[0], *features))
    if padding_idx >= 0:
        kept = flat != padding_idx
        flat, rows = flat[kept], rows[kept]
    return CooArray(flat[None, :], rows, (num_weights, *features))


@linear(
    input=lambda g, indices, input_shape, padding_idx: embedding_sparse_backward(
        g, indices, input_shape[0], padding_idx
    ),
    node="EmbeddingBackward0",
    sparse=True,
)
def _rows_at(input: Array, indices: Array, padding_idx: int = -1) -> Any:
    """Rows by index of a dense or sparse matrix, those of the padding index zero."""
    rows = at(input, np.reshape(indices, (1, -1)), 1)
    if padding_idx >= 0:
        rows = np.where((np.reshape(indices, (-1,)) == padding_idx)[:, None], np.zeros_like(rows), rows)
    return np.reshape(rows, (*indices.shape, *rows.shape[1:]))


sparse_bodies.own(embedding_sparse_backward)
sparse_bodies.own(_rows_at)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` at the indices in `input`.

    Args:
        input: integers, any shape.
        weight: shape (rows, features).
        padding_idx: a row that gets no gradient.
        max_norm: rows that are looked up are rescaled in place to at most this norm.
        scale_grad_by_freq: divide a row's gradient by how often it was looked up.
        sparse: the gradient of `weight` is a sparse tensor: one entry for each row that was looked up.

    Raises:
        IndexError: for an index outside the table.
        RuntimeError: for indices that are no integers.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1.0], [2.0]]))
        tensor([[2.],
                [1.]])
    """
    if not isinstance(input, Tensor) or not isinstance(weight, Tensor):
        name, value = (
            ("'input' (position 1)", input) if not isinstance(input, Tensor) else ("'weight' (position 2)", weight)
        )
        raise TypeError(f"embedding(): argument {name} must be Tensor, not {type(value).__name__}")
    if input._spec.dtype not in (int32, int64):
        raise RuntimeError(
            f"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.dtype} instead (while checking arguments for embedding)"
        )
    if padding_idx is not None:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} for {rows} rows")
        padding_idx %= rows
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, but embedding() got shape {list(weight._shape)}")
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    look_up = _embedding_sparse if sparse else _embedding
    return look_up(weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq)


@each_example
def _renormalise(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Rescale the rows in use to at most `max_norm`, in place and out of the graph."""
    with using(grad=False):
        used = beside(np.unique(host_of(indices)), weight)._data
        weight._data[used] = weight._spec.backend.bind(_shortened)(weight._data[used], max_norm, norm_type)
        weight._counter[0] += 1


def _shortened(rows: Any, max_norm: float, norm_type: float) -> Any:
    norms = np.sum(np.abs(rows) ** norm_type, axis=1) ** (1 / norm_type)
    scale = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
    return (rows * scale[:, None]).astype(rows.dtype)


_FEW = 64  # class indices, which Python looks through faster than NumPy


def one_hot_of_few(input: Tensor, classes: int) -> Tensor | None:
    """Return `one_hot` for few indices, all in range; else None."""
    few = type(input) is Tensor and input._spec.numpy and 0 < input._data.size < _FEW
    if not few or MODE.get().leaves_fast_path:
        return None
    index = input._data.ravel()
    found = index.tolist()
    least = max(found) + 1
    if min(found) < 0 or (classes != -1 and classes < least):
        return None
    classes = least if classes == -1 else classes
    made = np.zeros((*input._shape, classes), np.int64)
    made.reshape(-1)[np.arange(0, made.size, classes) + index] = 1
    return wrap(made)
