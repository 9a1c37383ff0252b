"""Sums, means and maxima over bags of rows of a table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...backends.numpy import as_intp
from ...base import late
from ...base.callers import depth_of_user
from ...base.dtypes import INTEGRAL, float32, float64, int64
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import looking_at
from ...declare.decorators import general, linear
from ...kernels.conditions import MANY
from ...kernels.dispatch import accelerated
from ..conv.spatial import check_tensor
from ..create.making import beside
from ..random.floats import host_of
from ..reduce.kernels import add_up
from .embedding import _embedding, _embedding_sparse, _renormalise, add_rows

FUNCTIONS = "embedding_bag"

_MODES = ("sum", "mean", "max")


@linear(input=lambda g, bags: _rows_of_bags(g, bags), node="EmbeddingBagBackward0", dtypes="f")
def _bag_sums(input: Array, bags: Array, count: int) -> Any:
    """For each of `count` bags the sum of the rows whose number in `bags` it is."""
    size = bags.shape[0] // count if count else 0
    if size and bags.shape[0] == size * count:
        in_order = np.reshape(bags, (count, size)) == np.arange(count)[:, None]
        if np.all(in_order):  # bags of one size after one another
            return add_up(np.reshape(input, (count, size, input.shape[1])), 1)
    return add_rows(input, bags, count)


@linear(input=lambda g, bags, input_shape: _bag_sums(g, bags, input_shape[0]), dtypes="f")
def _rows_of_bags(input: Array, bags: Array) -> Any:
    """For each row, that of its bag."""
    return np.take(input, as_intp(bags), axis=0)


@linear(
    input=lambda g, rows, bags, input_shape: _table_sums(g, bags, rows, input_shape[0]),
    node="EmbeddingBagBackward0",
    dtypes="f",
)
def _table_sums(input: Array, rows: Array, bags: Array, count: int) -> Any:
    """`count` sums, of rows of a table: row `rows[k]` is added to sum `bags[k]`. The adjoint goes back."""
    return summed_rows(input, rows, bags, count)


@accelerated
def summed_rows(table: Any, source: Any, target: Any, count: int) -> Any:
    """A matrix of `count` rows, `out[target[k]] += table[source[k]]` for every k, from zeros."""
    return add_rows(np.take(table, as_intp(source), axis=0), target, count)


def _are_many(weight: Tensor, rows: Any) -> bool:
    """Return whether there are enough rows to sum without a copy, and all indices are in range."""
    if MODE.get().levels or weight._spec.dtype not in (float32, float64) or rows.size * weight._shape[1] < MANY:
        return False
    return bool(np.min(rows) >= 0 and np.max(rows) < weight._shape[0])


def _first_largest(rows: Any, bags: Any, count: int) -> tuple[Any, Any]:
    """The maxima of each bag, zero for an empty one, and in which row the first of them is, -1 for none."""
    values = np.zeros((count, rows.shape[1]), rows.dtype)
    where = np.full((count, rows.shape[1]), -1, np.int64)
    if not rows.size:
        return values, where
    order = np.argsort(bags, kind="stable")
    ordered, rows = bags[order], rows[order]
    starts = np.flatnonzero(np.concatenate((np.ones(1, bool), ordered[1:] != ordered[:-1])))
    values[ordered[starts]] = np.maximum.reduceat(rows, starts, axis=0)
    place = np.where(rows == values[ordered], np.arange(rows.shape[0])[:, None], rows.shape[0])
    first = np.minimum.reduceat(place, starts, axis=0)
    where[ordered[starts]] = order[np.minimum(first, rows.shape[0] - 1)]
    return values, where


@general(
    input=lambda g, where, input_shape: _put_rows(g, where, input_shape[0]),
    jvp=lambda input_t, where: _take_rows(input_t, where),
    results=("values", "where"),
    differentiable=1,
    node="EmbeddingBagBackward0",
    dtypes="f",
)
def _bag_maxima(input: Array, bags: Array, count: int) -> Any:
    """For each bag the maxima of its rows, and where they are."""
    return _first_largest(input, bags, count)


@linear(input=lambda g, where: _take_rows(g, where), dtypes="f")
def _put_rows(input: Array, where: Array, count: int) -> Any:
    """Zeros of `count` rows, with each element added to the row that `where` names; -1 names none."""
    out = np.zeros((count, input.shape[1]), input.dtype)
    columns = np.broadcast_to(np.arange(input.shape[1]), where.shape)
    known = where >= 0
    np.add.at(out, (where[known], columns[known]), input[known])
    return out


@linear(input=lambda g, where, input_shape: _put_rows(g, where, input_shape[0]), dtypes="f")
def _take_rows(input: Array, where: Array) -> Any:
    """For each column the element of the row that `where` names; zero for -1."""
    if not input.shape[0]:
        return np.zeros(where.shape, input.dtype)
    found = np.take_along_axis(input, np.maximum(where, 0), axis=0)
    return np.where(where >= 0, found, np.zeros_like(found))


# -- as torch has it --


@looking_at("indices", "offsets")
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums (mode 0), means (1) or maxima (2) over bags of rows of `weight`.

    Args:
        weight: the table: shape (rows, features).
        indices: the rows, all bags after one another.
        offsets: where each bag begins.
        mode: 0 for sums, 1 for means, 2 for maxima.
        per_sample_weights: what to multiply each row with, for sums.
        include_last_offset: whether `offsets` ends with the end of the last bag.
        padding_idx: a row that does not count.

    Returns:
        the result; for each index its bag; the sizes of the bags; for maxima, the rows they are in.

    Raises:
        RuntimeError: for offsets that do not fit, and for an index outside the table.

    Example::

        >>> import gradpack as torch
        >>> table = torch.tensor([[1.0], [2.0], [4.0]])
        >>> torch.embedding_bag(table, torch.tensor([0, 1, 2]), torch.tensor([0, 2]))[0]
        tensor([[3.],
                [4.]])
    """
    out, *tables = _pooled(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx
    )
    each, amounts, largest = (beside(table.astype(np.int64), weight) for table in tables)
    return out, each, amounts, largest


def _pooled(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool, mode: int, sparse: bool,
    per_sample_weights: Tensor | None, include_last_offset: bool, padding_idx: int | None,
) -> tuple[Tensor, Any, Any, Any]:  # fmt: skip
    """The results of `embedding_bag`, of which all but the first are arrays."""
    check_tensor("embedding_bag", weight=weight, indices=indices, offsets=offsets)
    starts = _check_offsets(weight, indices, offsets, per_sample_weights, include_last_offset)
    flat = host_of(indices)
    length = flat.shape[0]
    count = starts.shape[0] - include_last_offset
    ends = np.full(count, length)
    ends[:-1] = starts[1:count]
    bags = np.repeat(np.arange(count), as_intp(ends - starts[:count]))
    kept: Any = slice(None)
    if length and (flat.min() < 0 or flat.max() >= weight._shape[0]):
        worst = flat.min() if flat.min() < 0 else flat.max()
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {worst}: the table has "
            f"{weight._shape[0]} rows"
        )
    if padding_idx is not None:
        rows = weight._shape[0]
        if not -rows <= padding_idx < rows:
            raise RuntimeError(
                f"embedding_bag: padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
                f"got {padding_idx}"
            )
        kept = flat != padding_idx % rows
    sizes = np.bincount(bags[kept], minlength=count)
    used = beside(np.ascontiguousarray(flat[kept]), weight)
    inside, largest = beside(bags[kept].astype(np.int64), weight), np.zeros(0)
    plain = not (sparse or scale_grad_by_freq or mode == 2) and per_sample_weights is None
    if plain and _are_many(weight, flat[kept]):
        out = _table_sums(weight, used, inside, count)
        return _means(out, sizes) if mode else out, bags, sizes, largest
    found = (_embedding_sparse if sparse else _embedding)(weight, used, -1, scale_grad_by_freq)
    if per_sample_weights is not None:
        factor = per_sample_weights
        if padding_idx is not None and not kept.all():
            factor = factor[beside(np.flatnonzero(kept), weight)]
        if found._spec.dtype.low:  # products are not rounded before they are added up
            found, factor = found.to(float32), factor.to(float32)
        found = found * late.unsqueeze(factor, 1)
    if mode == 2:
        out, where = _bag_maxima(found, inside, count)
        at = host_of(where)
        largest = np.where(at >= 0, np.append(flat[kept], -1)[at], -1)
    else:
        out = _bag_sums(found, inside, count)
        out = _means(out, sizes) if mode else out
    return out if out._spec is weight._spec else out.to(weight.dtype), bags, sizes, largest


@looking_at("indices", "offsets")
def _result(weight: Tensor, indices: Tensor, offsets: Tensor, *options: Any) -> Tensor:
    return _pooled(weight, indices, offsets, *options)[0]


def _means(sums: Tensor, sizes: Any) -> Tensor:
    if sums._spec.numpy and not sums._spec.dtype.low:
        return late.div(sums, beside(np.maximum(sizes, 1)[:, None].astype(sums._spec.native), sums))
    divisor = beside(np.maximum(sizes, 1)[:, None].astype(np.float64), sums)
    means: Tensor = sums / divisor.to(float32 if sums._spec.dtype.low else sums.dtype).to(sums.dtype)
    return means


def _check_offsets(
    weight: Tensor, indices: Tensor, offsets: Tensor, per_sample_weights: Tensor | None, include_last_offset: bool
) -> Any:
    for name, value in (("indices", indices), ("offsets", offsets)):
        if value._spec.dtype.category != INTEGRAL or value.dtype.itemsize < 4:
            raise RuntimeError(
                f"Expected tensor for argument #{1 if name == 'indices' else 2} '{name}' to have one of the following "
                f"scalar types: Long, Int; but got {value.dtype} instead (while checking arguments for embedding_bag)"
            )
    if not weight.is_floating_point():
        raise RuntimeError(
            f"expected 'weight' to have a floating point dtype, but got {weight.dtype} (while checking arguments for "
            "embedding_bag)"
        )
    for name, value, wanted in (("input", indices, "1D or 2D"), ("offsets", offsets, "1D"), ("weight", weight, "2D")):
        if value.ndim != 1 + (name == "weight"):
            raise RuntimeError(f"{name} has to be a {wanted} Tensor, but got Tensor of dimension {value.ndim}")
    starts = host_of(offsets)
    if include_last_offset and not starts.shape[0]:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if starts.shape[0]:
        if starts[0] != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                f"However, got {starts[0]}"
            )
        if starts[-1] > indices._shape[0]:
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {indices._shape[0]} but got offsets[-1] of "
                f"{starts[-1]}"
            )
        if (starts[1:] < starts[:-1]).any():
            raise RuntimeError(f"embedding_bag(): offsets must not decrease, but got {starts.tolist()}")
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but {weight.dtype} does not equal {per_sample_weights.dtype} (while checking "
            "arguments for embedding_bag)"
        )
    return starts.astype(np.int64)


def _one_after_another(input: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None) -> Any:
    """All bags after one another, where each begins, and their weights."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        rows, size = input._shape
        offsets = beside(np.arange(rows, dtype=np.int64) * size, input)
        input = late.reshape(input, (-1,))
        per_sample_weights = None if per_sample_weights is None else late.reshape(per_sample_weights, (-1,))
    elif input.ndim == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    return input, offsets, per_sample_weights


def _bags(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima over bags of rows of `weight`.

    Args:
        input: the rows: (bags, size), or all bags after one another, then
        offsets: where each begins.
        max_norm: rows that are looked up are shortened to at most this norm, in place.
        mode: "sum", "mean" or "max".
        per_sample_weights: what to multiply each row with, for "sum"; the shape of `input`.
        include_last_offset: does `offsets` end with the end of the last bag?
        padding_idx: a row that does not count.

    Raises:
        ValueError: if the arguments do not fit.

    Example::

        >>> import gradpack as torch
        >>> table = torch.tensor([[1.0], [2.0], [4.0]])
        >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1], [2, 2]]), table)
        tensor([[1.5000],
                [4.0000]])
    """
    check_tensor("embedding_bag", input=input, weight=weight)
    if weight.dtype is int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            UserWarning,
            stacklevel=depth_of_user(),
        )
        input, weight = weight, input
    if per_sample_weights is not None and input._shape != per_sample_weights._shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim == 2:
        include_last_offset = False
    input, offsets, per_sample_weights = _one_after_another(input, offsets, per_sample_weights)
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        _renormalise(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    options = (_MODES.index(mode), sparse, per_sample_weights, include_last_offset, padding_idx)
    made: Tensor = _result(weight, input, offsets, scale_grad_by_freq, *options)
    return made
