"""Subscripts: `x[...]` and `x[...] = value`.

The basic part of a subscript takes a view; index tensors copy out of it, or put into it.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...backends import spec_of
from ...base import late
from ...base.dtypes import INTEGRAL, bool_
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import linear, nondifferentiable
from ...declare.dispatch.interpreter import apply
from ...declare.generate.profiling import watched
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL, reshaped
from ..shape.dims import wrap_dim
from ..shape.shape import view_op
from .accumulate import add_along, add_flat, flat_of, into_zeros, store, taken, widened
from .places import counted_from_front, places_of
from .subscript import FULL, index_tensor, out_of_bounds
from .writing import keep_apart, write_op, write_part

FUNCTIONS = "select narrow index_put"
METHODS = FUNCTIONS
INPLACE = "index_put_"


# -- basic indices: views --


_basic = partial(
    linear, input=lambda g, input_shape, place: _embed(g, input_shape, place), view=True, data_movement=True
)


def _at(input: Array, place: Any = ()) -> Any:
    """`input[place]` for a tuple of slices, ints, None and Ellipsis."""
    return input[place]


_slice = _basic(
    name="slice", saved_as="dim=slice.dim start=slice.start end=slice.stop step=slice.step self_sym_sizes=input.shape"
)(_at)
# For a subscript that ends in an int, and in None: nodes of other names.
_select = _basic(name="select", saved_as="dim=select.dim index=select.index self_sym_sizes=input.shape")(_at)


@_basic(name="slice_newaxis", node="UnsqueezeBackward0", saved_as="")
def _slice_newaxis(input: Array, place: Any = ()) -> Any:
    """`_slice` for a subscript that ends in None; new dimensions have the strides that `unsqueeze` gives them."""
    part = input[tuple(item for item in place if item is not None)]
    return reshaped(part, input[place].shape)


@view_op(
    input=lambda g, input_shape: late.reshape(g, input_shape), name="newaxis", node="UnsqueezeBackward0", saved_as=""
)
def _newaxis(input: Array, place: Any = ()) -> Any:
    """`_slice` for a subscript that takes every element and adds dimensions."""
    return reshaped(input, input[place].shape)


@view_op(input=lambda g: g, name="alias")
def _alias(input: Array) -> Any:
    """The same elements in the same shape, as a view."""
    return input[...]


@linear(input=lambda g, place: _slice(g, place), data_movement=True, name="slice_backward")
def _embed(input: Array, shape: Any = (), place: Any = ()) -> Any:
    """Zeros of `shape` with `input` at `place`."""
    out = np.zeros(shape, dtype=input.dtype)
    out[place] = input
    return out


@nondifferentiable(data_movement=True, promote=("input",), cost="cheap")
def zeros_as(input: Array, shape: Any = ()) -> Any:
    """Zeros of `shape` in the dtype of `input`."""
    return np.zeros(tuple(shape), dtype=input.dtype)


def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """The part of `input` at one index of a dimension, without that dimension. A view.

    Args:
        dim: the dimension; negative ones count from the last.
        index: an int; negative ones count from the end.

    Raises:
        IndexError: if `dim` or `index` is out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, -1)
        tensor([2, 4])
    """
    shape = tuple(input.shape)
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, i = wrap_dim(dim, len(shape)), index.__index__()
    if not -shape[d] <= i < shape[d]:
        raise IndexError(f"select(): index {i} out of range for tensor of size {list(shape)} at dimension {d}")
    return _select(input, (*(FULL,) * d, i, ...))


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`length` elements of a dimension, from `start` on. A view.

    Args:
        start: the first element: an int, or a tensor without dimensions; negative ones count from the end.
        length: the number of elements.

    Raises:
        IndexError: if `dim` or `start` is out of range.
        RuntimeError: if there are fewer elements, or `length` is negative.

    Example::

        >>> import gradpack as torch
        >>> torch.narrow(torch.arange(5), 0, 1, 3)
        tensor([1, 2, 3])
    """
    shape = tuple(input.shape)
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if isinstance(start, Tensor) and (start._shape or start._spec.dtype.category != INTEGRAL):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    d, first = wrap_dim(dim, len(shape)), start.__index__()
    size = shape[d]
    if not -size <= first <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {first})")
    first += size if first < 0 else 0
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return _slice(input, (*(FULL,) * d, slice(first, first + length), ...))


# -- index tensors: copies --


@linear(
    input=lambda g, input_shape, index, start: _add_into(g, index, input_shape, start),
    data_movement=True,
    name="index_along",
    node="IndexBackward0",
    saved_as="indices=index.indices self_sym_sizes=input.shape",
)
def _index_along(input: Array, index: Array, start: int = 0) -> Any:
    """`input[:, ..., index]` with one index array, or mask, that starts at dimension `start`."""
    if index.dtype == np.bool:
        shape = input.shape
        merged = (*shape[:start], prod(index.shape), *shape[start + index.ndim :])
        input, index = np.reshape(input, merged), np.nonzero(np.reshape(index, (-1,)))[0]
    try:
        return taken(input, index, start)
    except IndexError as error:
        raise _bad_index(input.shape, [None] * start + [index], error) from None


@linear(input=lambda g, index, start: _index_along(g, index, start), data_movement=True, name="index_along_backward")
def _add_into(input: Array, index: Array, shape: Any = (), start: int = 0) -> Any:
    """Zeros of `shape` with `input` added where `_index_along` reads."""
    merged = shape
    if index.dtype == np.bool:
        merged = (*shape[:start], prod(index.shape), *shape[start + index.ndim :])
        index = np.nonzero(np.reshape(index, (-1,)))[0]
    return into_zeros(input, shape, lambda out, values: add_along(out, merged, start, index, values))


@linear(
    input=lambda g, input_shape, first, second: _add_pairs(g, first, second, input_shape),
    data_movement=True,
    name="index_pair",
    node="IndexBackward0",
    saved_as="indices=pair.indices self_sym_sizes=input.shape",
)
def _index_pair(input: Array, first: Array, second: Array) -> Any:
    """`input[first, second]` with two integer arrays: one element for each example, say."""
    try:
        return input[first, second]
    except IndexError as error:
        raise _bad_index(input.shape, [first, second], error) from None


@linear(input=lambda g, first, second: _index_pair(g, first, second), data_movement=True, name="index_pair_backward")
def _add_pairs(input: Array, first: Array, second: Array, shape: Any = ()) -> Any:
    """Zeros of `shape` with `input` added where `_index_pair` reads."""
    rows = counted_from_front(first, shape[0]) * shape[1] + counted_from_front(second, shape[1])
    merged = (shape[0] * shape[1], *shape[2:])
    return into_zeros(input, shape, lambda out, values: add_along(out, merged, 0, rows, values))


@linear(
    input=lambda g, input_shape, indices: _add_at(g, indices, input_shape),
    data_movement=True,
    name="index",
    saved_as="indices self_sym_sizes=input.shape",
)
def _index(input: Array, indices: Array) -> Any:
    """`input[indices]` for a list of index arrays, with None for a dimension that is taken whole."""
    place = _arrays_only(indices)
    try:
        out = input[place]
    except IndexError as error:
        raise _bad_index(input.shape, indices, error) from None
    return np.ascontiguousarray(out) if hasattr(np, "ascontiguousarray") else out


@linear(input=lambda g, indices: _index(g, indices), data_movement=True, name="index_backward")
def _add_at(input: Array, indices: Array, shape: Any = ()) -> Any:
    """Zeros of `shape` with `input` added where `_index` reads."""
    places = np.reshape(places_of(_arrays_only(indices), shape), (-1,))
    return into_zeros(input, shape, lambda out, values: add_flat(out, places, values))


@write_op(
    input=lambda g, indices, accumulate: g if accumulate else _index_zero(g, indices),
    values=lambda g, indices, values_shape: late.sum_to_size(_index(g, indices), values_shape),
    name="index_put",
)
def _index_put(input: Array, indices: Array, values: Array, accumulate: bool = False) -> Any:
    """`input` with `values` at `indices`, or with `values` added there."""
    return _put(np.asarray(input, copy=True), indices, values, accumulate)


@linear(input=lambda g, indices: _index_zero(g, indices), data_movement=True, name="index_put_backward")
def _index_zero(input: Array, indices: Array) -> Any:
    """`input` with zeros at `indices`."""
    return _put(np.asarray(input, copy=True), indices, np.zeros((), dtype=input.dtype), False)


def _put(array: Any, indices: Any, values: Any, accumulate: bool) -> Any:
    """The body of index_put on an array that may be written to."""
    place, shape = _arrays_only(indices), array.shape
    if values.dtype != array.dtype:
        values = _converted(array, place, values, accumulate)
    try:
        if accumulate and is_numpy(array) and array.size < SMALL and array.itemsize > 2:
            np.add.at(array, place, values)
        elif accumulate:
            places = places_of(place, shape)
            values = np.broadcast_to(values, places.shape)
            store(array, add_flat(widened(flat_of(array)), np.reshape(places, (-1,)), widened(values)))
        else:
            array[place] = values
    except IndexError as error:
        raise _bad_index(shape, indices, error) from None
    except (ValueError, TypeError):  # TypeError: 2-dim values for a mask
        found = np.broadcast_to(np.zeros((), dtype=np.bool), shape)[place].shape
        raise _mismatch(values, found) from None
    return array


def _converted(array: Any, place: tuple[Any, ...], values: Any, accumulate: bool) -> Any:
    """Convert values of another dtype if they are one element for one mask; else raise."""
    masks = [i for i in place if i is not FULL]
    if values.size == 1 and not accumulate and len(masks) == 1 and masks[0].dtype == np.bool:
        return values.astype(array.dtype)
    if values.size != 1:
        found = np.broadcast_to(np.zeros((), dtype=np.bool), array.shape)[place].shape
        extra = len(values.shape) - len(found)
        if extra > 0 or any(n not in (1, m) for n, m in zip(values.shape, found[-extra:] if extra else found)):  # noqa: B905
            raise _mismatch(values, found)
    raise RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{scalar_type(spec_of(array).dtype)} for the destination and {scalar_type(spec_of(values).dtype)} for the "
        "source."
    )


def _mismatch(values: Any, found: tuple[int, ...]) -> RuntimeError:
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape "
        f"{list(found)}"
    )


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False, *, out: Any = None) -> Tensor:
    """`input` with `values` written at the elements that a tuple of index tensors (or masks) selects.

    Args:
        values: broadcast to the shape of `input[indices]`; of the dtype of `input`.
        accumulate: add the values instead; elements selected repeatedly accumulate.

    Raises:
        IndexError: for an index out of bounds.
        RuntimeError: for values of another dtype, or that do not broadcast.

    Example::

        >>> import gradpack as torch
        >>> i = torch.tensor([0, 0, 2])
        >>> torch.index_put(torch.zeros(3), (i,), torch.ones(3), accumulate=True)
        tensor([2., 0., 1.])
    """
    places = _index_tensors("index_put", indices)
    args = (input, places, filling(input, places, values, accumulate), accumulate)
    if out is not None:
        return _index_put(*args, out=out)
    # the interpreted path, which unwraps lists
    return watched(_index_put.op, "index_put", lambda *given: apply(_index_put.op, given), args)


def _method_index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """In-place form of `index_put`: writes only the elements that `indices` name."""
    if not isinstance(values, Tensor):
        raise TypeError(f"index_put_(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    places = _index_tensors("index_put_", indices)
    keep_apart(self, values, *places)
    given = [self, places, filling(self, places, values, accumulate), accumulate]
    return write_part(_index_put.op, "index_put_", given, _put, indexed=True)


def filling(input: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Return `values`; one element for one mask is converted to the dtype of `input`, as in `masked_fill`."""
    if accumulate or not isinstance(values, Tensor) or values._spec.dtype is input._spec.dtype or values.numel() != 1:
        return values
    (place, *more) = [i for i in indices if i is not None] or [None]
    return values.to(input._spec.dtype) if not more and place is not None and place._spec.dtype is bool_ else values


def _index_tensors(name: str, indices: Any) -> list[Tensor]:
    if not isinstance(indices, tuple | list):
        raise TypeError(
            f"{name}(): argument 'indices' (position 2) must be tuple of Tensors, not {type(indices).__name__}"
        )
    for nr, i in enumerate(indices):
        if not isinstance(i, Tensor):
            raise TypeError(f"expected Tensor as element {nr} in argument 1, but got {type(i).__name__} ({name}())")
    return [index_tensor(i) for i in indices]


def _arrays_only(indices: Any) -> tuple[Any, ...]:
    """Convert a list of index arrays and None to a subscript for an array."""
    if any(isinstance(i, Tensor) for i in indices):
        raise TypeError("index tensors are unwrapped on the interpreted path")
    return tuple(FULL if i is None else i for i in indices)


def _bad_index(shape: Any, indices: Any, error: IndexError) -> IndexError:
    """Return the IndexError, in torch's words, for index arrays that do not fit `shape`; `error` if none applies."""
    dim = 0
    shapes = []
    if sum(1 if i is None else i.ndim if i.dtype == np.bool else 1 for i in indices) > len(shape):
        return IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})")
    for i in indices:
        if i is None:
            dim += 1
        elif i.dtype == np.bool:
            if tuple(i.shape) != tuple(shape[dim : dim + i.ndim]):
                at = next(d for d, n in enumerate(i.shape) if n != shape[dim + d])
                return IndexError(
                    f"The shape of the mask {list(i.shape)} at index {at} does not match the shape of the indexed "
                    f"tensor {list(shape)} at index {dim + at}"
                )
            shapes.append((int(i.sum()),))
            dim += i.ndim
        else:
            wrong = i[(i < -shape[dim]) | (i >= shape[dim])]
            if wrong.size:
                if not shape[dim]:
                    return IndexError("index is out of bounds for dimension with size 0")
                return out_of_bounds(int(wrong.reshape(-1)[0]), dim, shape[dim])
            shapes.append(tuple(i.shape))
            dim += 1
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        pass
    else:
        return error
    return IndexError(
        "shape mismatch: indexing tensors could not be broadcast together with shapes "
        + ", ".join(str(list(s)) for s in shapes)
    )
