"""index_select, index_add, index_copy, index_fill: a vector of indices along one dimension; take.

`index_select` and `index_add` are faster than `gather` and `scatter_add`: they move whole slices.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...backends.numpy import as_intp
from ...base import late
from ...base.dtypes import int64
from ...base.errors import not_a_tensor
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import linear, nondifferentiable
from ..pointwise.blockwise import is_numpy
from ..pointwise.operands import factor_for
from ..reduce.kernels import reshaped
from ..shape.dims import wrap_dim
from .accumulate import add_along, as_dtype, flat_of, fresh, into_zeros, set_along, store, widened
from .places import FEW, check_bounds, check_flat, check_index, counted_from_front
from .writing import keep_apart, number_op, own_value, value_form, write_op, write_part

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library

FUNCTIONS = "index_select index_add index_copy index_fill take take_along_dim"
METHODS = FUNCTIONS
INPLACE = "index_add_ index_copy_ index_fill_"


def _vector(
    op: str, shape: Any, dim: int, index: Any, low: int = 0, error: type[Exception] = RuntimeError
) -> tuple[int, Any]:
    """The dimension counted from the front, and the index as a checked vector."""
    d = wrap_dim(dim, len(shape))
    if len(getattr(index, "shape", ())) > 1:
        raise IndexError(f"{op}(): Index is supposed to be a vector, but got shape {list(index.shape)}")
    check_index(op, index, False)
    size = shape[d] if len(shape) else 1
    check_bounds(index, d, size, low * size, error, op)
    return d, reshaped(index, (-1,))


@linear(
    input=lambda g, input_shape, dim, index: _index_select_backward(g, index, input_shape, dim),
    data_movement=True,
    axis=True,
    overlap="apart",
)
def index_select(input: Array, dim: int, index: Array) -> Any:
    """The slices of `input` along `dim` at a vector of indices, as a copy.

    Args:
        dim: the dimension that is indexed.
        index: a vector of indices, of dtype int64 or int32; the result has its size along `dim`.

    Raises:
        RuntimeError: for an index that is negative or too large; along the first dimension it is an IndexError.
        IndexError: for a `dim` out of range, or an `index` that is no vector.

    Example::

        >>> import gradpack as torch
        >>> torch.index_select(torch.tensor([[1, 2, 3], [4, 5, 6]]), 1, torch.tensor([2, 0]))
        tensor([[3, 1],
                [6, 4]])
    """
    first = dim in (0, -len(input.shape)) and 0 not in input.shape[:1]  # torch raises different errors elsewhere
    d, index = _vector("index_select", input.shape, dim, index, error=IndexError if first else RuntimeError)
    if not len(input.shape):
        if index.shape[0] != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.shape[0]} value(s)")
        return np.asarray(input, copy=True)
    return input.take(as_intp(index), d) if is_numpy(input) else np.take(input, index, axis=d)


@linear(input=lambda g, index, dim: index_select(g, dim, index), data_movement=True, name="index_select_backward")
def _index_select_backward(input: Array, index: Array, shape: Any = (), dim: int = 0) -> Any:
    """Zeros of `shape` with `input` added where `index_select` reads."""
    d, index = _vector("index_select", shape, dim, index)
    return into_zeros(input, shape, lambda out, values: add_along(out, tuple(shape) or (1,), d, index, values))


# -- writing slices --


@write_op(
    input=lambda g: g,
    source=lambda g, dim, index, alpha, source_shape: _taken(g, dim, index, alpha, source_shape),
    axis=True,
)
def index_add(input: Array, dim: int, index: Array, source: Array, *, alpha: Any = 1) -> Any:
    """`input` with `alpha` times the slices of `source` added to its slices at `index` along `dim`.

    Repeated indices accumulate. The gradient of an embedding is one `index_add`.

    Args:
        dim: the dimension.
        index: a vector of indices, of dtype int64 or int32.
        source: the slices: as many along `dim` as there are indices.
        alpha: their factor.

    Raises:
        RuntimeError: for an index out of bounds, shapes that do not fit, or another dtype of `source`.

    Example::

        >>> import gradpack as torch
        >>> torch.index_add(torch.zeros(3, 2), 0, torch.tensor([0, 0, 2]), torch.ones(3, 2))
        tensor([[2., 2.],
                [0., 0.],
                [1., 1.]])
    """
    return _add_slices(fresh(input), dim, index, source, alpha)


def _add_slices(array: Any, dim: int, index: Any, source: Any, alpha: Any) -> Any:
    error = IndexError if len(array.shape) < 2 else RuntimeError
    d, index = _vector("index_add_", array.shape, dim, index, error=error)
    _check_source("index_add_", array, d, index, source, "self ({}) and source ({}) must have the same scalar type")
    values = widened(source)
    if alpha != 1:
        values = _times(values, alpha, values.dtype)
    return store(array, add_along(widened(flat_of(array)), array.shape or (1,), d, index, values))


def _times(values: Any, alpha: Any, dtype: Any) -> Any:
    return as_dtype(values * factor_for(alpha, values), dtype)


def _taken(g: Any, dim: int, index: Any, alpha: Any, shape: Any) -> Any:
    g = index_select(g, dim, index)
    g = g if alpha == 1 else _scaled(g, alpha)
    return g if tuple(g.shape) == tuple(shape) else late.reshape(g, shape)


@linear(input=lambda g, alpha: _scaled(g, alpha), data_movement=True, name="index_add_scale", refuses="unsigned")
def _scaled(input: Array, alpha: Any = 1) -> Any:
    """`input * alpha` in the dtype of `input`."""
    return _times(widened(input), alpha, input.dtype)


@write_op(
    input=lambda g, dim, index: _index_fill(g, dim, index, 0),
    source=lambda g, dim, index, source_shape: _taken(g, dim, index, 1, source_shape),
    contiguous=True,
    autocast="widest",
    axis=True,
)
def index_copy(input: Array, dim: int, index: Array, source: Array) -> Any:
    """`input` with its slices at `index` along `dim` replaced by those of `source`.

    Args:
        dim: the dimension.
        index: a vector of indices, of dtype int64.
        source: the slices: as many along `dim` as there are indices.

    Raises:
        IndexError: for an index out of bounds, or another number of slices.
        RuntimeError: for other shapes that do not fit, or another dtype of `source`.

    Example::

        >>> import gradpack as torch
        >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1.0, 2.0]))
        tensor([2., 0., 1.])
    """
    return _set_slices(np.asarray(input, copy=True), dim, index, source)


def _set_slices(array: Any, dim: int, index: Any, source: Any) -> Any:
    if getattr(index, "dtype", np.int64) != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {index.dtype}")
    d, index = _vector("index_copy_", array.shape, dim, index, error=IndexError)
    types = "self and source expected to have the same dtype, but got (self) {} and (source) {}"
    _check_source("index_copy_", array, d, index, source, types)
    if len(array.shape):
        return set_along(array, d, index, source)
    if index.shape[0]:
        array[...] = np.reshape(source, (-1,))[-1]
    return array


def _check_source(op: str, array: Any, d: int, index: Any, source: Any, types: str) -> None:
    """Raise unless `source` has a slice for each index."""
    if source.dtype != array.dtype:
        raise RuntimeError(f"{op}(): {types.format(array.dtype, source.dtype)}")
    shape, given = tuple(array.shape), tuple(source.shape)
    if shape and given == (*shape[:d], index.shape[0], *shape[d + 1 :]):
        return
    copies = op == "index_copy_"
    if copies and shape and len(given) not in (0, len(shape)):
        raise IndexError(
            f"{op}(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(given)}), destination dimensionality ({len(shape)})"
        )
    if copies and not given and index.shape[0] != 1:
        raise IndexError(f"{op}(): When source is scalar, index should have one element (got {index.shape[0]})")
    apart = copies or (shape and given)  # only copies take a number for a vector of one, and the other way round
    others = [(*s[:d], *s[d + 1 :]) if apart else s for s in (shape, given)]
    if others[0] != others[1]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shape)} source.shape = {list(given)} ({op}() along dimension {d})"
        )
    count = given[d] if given else 1
    if count != index.shape[0]:
        raise (IndexError if copies else RuntimeError)(
            f"{op}(): Number of indices ({index.shape[0]}) should be equal to source.size(dim): ({count}), for dim: {d}"
        )


@number_op(
    input=lambda g, dim, index: _index_fill(g, dim, index, 0),
    jvp=lambda input_t, dim, index: _index_fill(input_t, dim, index, 0),
    name="index_fill",
    cost="cheap",
)
def _index_fill(input: Array, dim: int, index: Array, value: Any = 0) -> Any:
    """`input` with one number in the slices at `index` along `dim`."""
    return _fill_slices(np.asarray(input, copy=True), dim, index, value)


@write_op(
    input=lambda g, dim, index: _index_fill(g, dim, index, 0),
    value=lambda g, dim, index: late.sum(_slices_once(g, index, dim)),
    name="index_fill_tensor",
    node="IndexFillBackward1",
    overlap="read_first",
)
def _index_fill_tensor(input: Array, dim: int, index: Array, value: Array) -> Any:
    """`_index_fill` with the value of a 0-dim tensor."""
    return _fill_slices(np.asarray(input, copy=True), dim, index, value)


def _slices_once(g: Any, index: Any, dim: int) -> Any:
    """`g` with zeros outside of the slices at `index`."""
    named = _index_fill(late.zeros_as(g, tuple(g.shape)), dim, index, 1)
    return late._masked_fill(g, late.eq(named, 0), 0)


def _fill_slices(array: Any, dim: int, index: Any, value: Any) -> Any:
    if len(getattr(index, "shape", ())) > 1:
        raise RuntimeError(f"Index has to be a vector/scalar: index_fill_() got one of shape {list(index.shape)}")
    if getattr(index, "dtype", np.int64) != np.int64:
        raise IndexError(f"index_fill_(): Expected dtype int64 for index, not {index.dtype}")
    d, index = _vector("index_fill_", array.shape, dim, index, -1, IndexError)
    if len(array.shape):
        return set_along(array, d, index, as_dtype(value, array.dtype))
    if index.shape[0]:
        array[...] = as_dtype(value, array.dtype)
    return array


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any, *, out: Any = None) -> Tensor:
    """`input` with one value in all slices at `index` along `dim`.

    Args:
        value: a number, or a 0-dim tensor.

    Raises:
        IndexError: for an index out of bounds, or not of int64.
        RuntimeError: for a value with dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.index_fill(torch.zeros(2, 3), 1, torch.tensor([0, 2]), 9)
        tensor([[9., 0., 9.],
                [9., 0., 9.]])
    """
    op, value = value_form("index_fill_", _index_fill, _index_fill_tensor, input, value)
    return op(input, dim, index, value) if out is None else op(input, dim, index, value, out=out)


def _method_index_fill_(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """In-place form of `index_fill`: writes only the slices that `index` names."""
    keep_apart(self, index)
    op, value = value_form("index_fill_", _index_fill, _index_fill_tensor, self, own_value(self, value))
    return write_part(op.op, "index_fill_", [self, dim, index, value], _fill_slices, indexed=True)


def _method_index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """In-place form of `index_add`."""
    keep_apart(self, index, source)
    return write_part(index_add.op, "index_add_", [self, dim, index, source, alpha], _add_slices)


def _method_index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """In-place form of `index_copy`: writes only the slices that `index` names."""
    keep_apart(self, index, source)
    return write_part(index_copy.op, "index_copy_", [self, dim, index, source], _set_slices)


# -- take --


@linear(
    input=lambda g, input_shape, index: late.reshape(late._add_into(g, index, (prod(input_shape),), 0), input_shape),
    data_movement=True,
    refuses="unsigned complex32",
    overlap="apart",
)
def take(input: Array, index: Array) -> Any:
    """The elements of `input`, read as if it had one dimension, at `index`; the result has the shape of `index`.

    Raises:
        IndexError: for an index out of range.
        RuntimeError: for an index that is not int64.

    Example::

        >>> import gradpack as torch
        >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, -1]))
        tensor([1, 4])
    """
    if getattr(index, "dtype", None) != np.int64:
        if not hasattr(index, "dtype"):
            raise not_a_tensor("take", "index", 2, index)
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype}")
    if type(input) is _array_type and index.size:
        try:
            return input.reshape(-1).take(as_intp(index))  # negative indices count from the end, as in torch
        except IndexError:
            pass
    if not prod(input.shape) and prod(index.shape):
        raise IndexError("take(): tried to take from an empty tensor")
    check_flat(index, prod(input.shape))
    return np.reshape(np.take(flat_of(input), as_intp(np.reshape(index, (-1,))), axis=0), index.shape)


@nondifferentiable(data_movement=True, promote=("index",))
def _counted(index: Array, size: int, negative: bool) -> Any:
    """Indices counted from the front, which `vmap` moves to the rows of each example.

    Raises:
        IndexError: for one that is not among `size` rows: it would be in those of another example.
    """
    check_flat(index, size, -size if negative else 0)
    return counted_from_front(index, size) if negative else np.array(index, copy=True)


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """`gather` with broadcasting, as `numpy.take_along_axis`; without `dim`, of the flattened input.

    Negative indices count from the end.

    Raises:
        RuntimeError: for indices of another rank or dtype.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[3, 1, 2], [9, 7, 8]])
        >>> torch.take_along_dim(x, torch.tensor([[1], [-1]]), dim=1)
        tensor([[1],
                [8]])
    """
    if indices._spec.dtype is not int64:
        raise RuntimeError(f"take_along_dim(): dtype of indices should be Long but got {indices._spec.dtype.name}")
    if dim is None:
        input, indices, dim = late.reshape(input, (input.numel(),)), late.reshape(indices, (indices.numel(),)), 0
    elif len(input._shape) != len(indices._shape):
        raise RuntimeError(
            f"take_along_dim(): input and indices should have the same number of dimensions, but got {input.ndim} "
            f"dimensions for input, and {indices.ndim} dimensions for indices"
        )
    d = wrap_dim(dim, input.ndim)
    size = input._shape[d] if input._shape else 1
    few = indices._data.ravel().tolist() if is_numpy(indices._data) and 0 < indices._data.size < FEW else None
    if few is not None and min(few) >= 0 and max(few) < size:
        front = indices
    elif is_batched(indices):
        front = late.remainder(indices, size) if size else indices
    else:
        front = wrap(indices._spec.backend.bind(_modulo)(indices._data, size)) if size else indices
    if _without(input._shape, d) == _without(front._shape, d):
        return late.gather(input, d, front) if out is None else late.gather(input, d, front, out=out)
    common = list(late.broadcast_shapes(_without(input._shape, d), _without(front._shape, d)))
    if input._shape:
        input = late.expand(input, (*common[:d], input._shape[d], *common[d + 1 :]))
        front = late.expand(front, (*common[:d], front._shape[d], *common[d + 1 :]))
    return late.gather(input, d, front) if out is None else late.gather(input, d, front, out=out)


def _modulo(index: Any, size: int) -> Any:
    return np.remainder(index, np.asarray(size, dtype=index.dtype))


def _without(shape: tuple[int, ...], d: int) -> tuple[int, ...]:
    return (*shape[:d], 1, *shape[d + 1 :])
