"""Parsing of the subscript in `x[...]`.

torch reads a subscript in two steps: the basic part (ints, slices, None, Ellipsis) takes a view,
and the tensors, lists and masks index that view. NumPy counts ints among the index arrays, which
puts the dimensions of `x[0, :, idx]` in another order; so both steps are taken here too.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base import dtypes
from ...base.callers import depth_of_user
from ...base.dtypes import INTEGRAL
from ...base.errors import is_foreign, mixed
from ...core.tensor import Tensor, wrap
from ...declare.batching.batch_tensor import is_batched
from ..create.create import tensor
from ..create.numbers import as_lists, plain_numbers

FULL = slice(None)
INDEX_DTYPES = frozenset({dtypes.int32, dtypes.int64})
_MASK_DTYPES = frozenset({dtypes.bool_, dtypes.uint8})


class Subscript(NamedTuple):
    """`place`: the basic part, None if it takes everything. `last`: the kind of item that determines the view's node.

    `indices`: for each dimension of the view None or an index tensor (a mask stands for as many
    dimensions as it has); None if there is no such tensor.
    """

    place: tuple[Any, ...] | None
    last: str
    indices: list[Tensor | None] | None


def parse(index: Any, shape: tuple[int, ...]) -> Subscript:
    """Split a subscript of a tensor of this shape into its basic part and its index tensors.

    Raises:
        IndexError: for an index out of bounds, too many indices, a mask of another shape, an index
            tensor of a dtype that cannot index.
        ValueError: for a slice step that is not positive.
        TypeError: for what cannot be an index at all.
    """
    items = [_item(i) for i in _as_tuple(index)]
    rest = len(shape) - sum(map(_dims_taken, items))
    if rest < 0:
        raise _too_many(items, len(shape))
    place: list[Any] = []
    indices: list[Tensor | None] = []
    masks: list[tuple[Tensor, int, int]] = []  # (mask, dimension of the tensor, dimension of the view)
    last, trivial, dim = "alias", True, 0  # the dimension of the tensor
    view_shape: list[int] = []
    for item in items:
        if type(item) is int:
            _check_in_bounds(item, dim, shape[dim])
            place.append(item)
            dim, last, trivial = dim + 1, "select", False
        elif type(item) is slice:
            place.append(item)
            whole = item.start is None and item.stop is None and item.step in (None, 1)
            trivial = trivial and whole
            last = last if whole and last != "alias" else "slice"
            view_shape.append(len(range(*item.indices(shape[dim]))))
            indices.append(None)
            dim += 1
        elif item is None or type(item) is bool:
            place.append(None)
            view_shape.append(1)
            indices.append(None if item is None else wrap(np.zeros(int(item), np.int64)))
            last, trivial = "unsqueeze", False
        else:
            count = rest if item is ... else _dims_taken(item)
            place.extend([FULL] * count)
            if item is ...:
                indices.extend([None] * count)
                rest = 0
            else:
                indices.append(item)
                if item._spec.dtype is dtypes.bool_:
                    masks.append((item, dim, len(view_shape)))
            view_shape.extend(shape[dim : dim + count])
            dim += count
    for mask, at, view_at in masks:
        _check_mask(mask, shape[at:], [*view_shape, *shape[dim:]], view_at)
    while indices and indices[-1] is None:
        indices.pop()
    return Subscript(None if trivial else (*place, ...), last, indices or None)


def _too_many(items: list[Any], ndim: int) -> IndexError:
    if ndim == 0 and len(items) == 1 and type(items[0]) is int:
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
            "convert a 0-dim tensor to a number"
        )
    return IndexError(f"too many indices for tensor of dimension {ndim}")


def _check_in_bounds(index: int, dim: int, size: int) -> None:
    if not -(2**63) <= index < 2**63:
        raise ValueError(f"Overflow when unpacking long long: {index}")
    if not -size <= index < size:
        raise out_of_bounds(index, dim, size)


def _check_mask(mask: Tensor, shape: tuple[int, ...], view_shape: list[int], at: int) -> None:
    """Raise unless a mask has the sizes of the dimensions it stands for, which are those of the view from `at` on."""
    for d, n in enumerate(mask._shape):
        if n != shape[d]:
            raise IndexError(
                f"The shape of the mask {list(mask._shape)} at index {d} does not match the shape of the indexed "
                f"tensor {view_shape} at index {at + d}"
            )


def out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    return IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def _as_tuple(index: Any) -> tuple[Any, ...]:
    if type(index) is tuple:
        return index
    if isinstance(index, list) and len(index) < 32 and any(_nests(i) for i in index):
        warnings.warn(
            "x[seq] with a non-tuple sequence of slices, sequences or tensors means x[tuple(seq)], as it does in "
            "torch, where this is deprecated: write x[tuple(seq)], or x[tensor(seq)] for one index tensor.",
            UserWarning,
            stacklevel=depth_of_user(),
        )
        return tuple(index)
    return tuple(index) if isinstance(index, tuple) else (index,)


def _nests(item: Any) -> bool:
    """Whether a list with such an element is read as a tuple, as NumPy once did."""
    return item is None or item is ... or isinstance(item, Tensor | slice | Sequence | np.ndarray)


def _dims_taken(item: Any) -> int:
    """How many dimensions of the tensor an item indexes."""
    if isinstance(item, Tensor):
        return len(item._shape) if item._spec.dtype is dtypes.bool_ else 1
    return 1 if type(item) in (int, slice) else 0


def _item(item: Any) -> Any:
    """One item as int, bool, slice, None, Ellipsis, or a tensor of int32, int64 or bool with dimensions."""
    kind = type(item)
    if kind is int or kind is bool or item is None or item is ...:
        return item
    if kind is slice:
        return _slice(item)
    if isinstance(item, Tensor):
        return _tensor(item)
    if isinstance(item, np.ndarray):
        return _array(item)
    if isinstance(item, str | bytes):
        raise TypeError(f"new(): invalid data type {kind.__name__!r}: that is no index")
    if isinstance(item, Sequence):
        return _sequence(item)
    if is_foreign(item):
        raise mixed("__getitem__")
    if hasattr(kind, "__index__") and not isinstance(item, np.bool_):
        return item.__index__()
    name = f"{kind.__module__}.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
    raise IndexError(
        f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {name})"
    )


def _slice(item: slice) -> slice:
    bounds = []
    for bound in (item.start, item.stop, item.step):
        if bound is not None and type(bound) is not int:
            if not hasattr(bound, "__index__"):
                raise TypeError("slice indices must be integers or None or have an __index__ method")
            bound = bound.__index__()
        bounds.append(bound)
    step = bounds[2]
    if step is not None and step <= 0:
        raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    return slice(*bounds)


def _tensor(item: Tensor) -> Any:
    d = item._spec.dtype
    if d.category <= INTEGRAL and not item._shape:
        if d in INDEX_DTYPES and is_batched(item):
            return item  # batched: an index for each example of `vmap`
        if d in _MASK_DTYPES:
            _deprecated_mask(d)
            return bool(item.item())
        return item.item()
    if d in INDEX_DTYPES or d is dtypes.bool_:
        return item
    if d is dtypes.uint8:
        _deprecated_mask(d)
        return wrap(item._data != 0)
    raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, not {d.name}")


def index_tensor(item: Tensor) -> Tensor:
    """An index tensor of any rank as one of int32, int64 or bool."""
    found = _tensor(item) if item._shape else item
    if found is item and item._spec.dtype not in INDEX_DTYPES | _MASK_DTYPES:
        raise IndexError(
            f"tensors used as indices must be long, int, byte or bool tensors, not {item._spec.dtype.name}"
        )
    return found


def _array(item: Any) -> Any:
    if item.dtype.kind not in "biufc":
        raise TypeError(
            f"can't convert np.ndarray of type {item.dtype.type.__module__}.{item.dtype.type.__name__} to an index"
        )
    if item.dtype in (np.bool_, np.uint8):
        return _tensor(wrap(item))
    return int(item) if not item.ndim else wrap(item.astype(np.int64, copy=False))


def _sequence(item: Any) -> Any:
    """Convert nested sequences to an index tensor: of bool, or of int64, truncating floats."""
    array = plain_numbers(item)
    if array is not None and array.dtype.kind in "bi":
        return wrap(array)
    item = as_lists(item)
    made = tensor(item, device="cpu")
    return _tensor(made if made._spec.dtype in _MASK_DTYPES else tensor(item, dtype=dtypes.int64, device="cpu"))


def _deprecated_mask(d: dtypes.dtype) -> None:
    if d is dtypes.uint8:
        warnings.warn(
            "indexing with dtype uint8 is deprecated, use bool instead: a uint8 tensor is read as a mask",
            UserWarning,
            stacklevel=depth_of_user(),
        )
