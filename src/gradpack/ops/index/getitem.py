"""`x[...]` and `x[...] = value`: the subscript chooses the operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import spec_of
from ...base import late
from ...base.dtypes import bool_
from ...base.errors import is_foreign, mixed
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...core.torch_function import handle, overriding
from ...declare.dispatch.interpreter import apply
from ...declare.generate.profiling import watched
from ...declare.inplace.inplace import inplace
from ..reduce.kernels import reshaped
from .index import _put, filling
from .subscript import FULL, INDEX_DTYPES, parse
from .writing import item_for, keep_apart, number_array, number_tensor, write_part


def _view(input: Tensor, place: tuple[Any, ...] | None, last: str) -> Tensor:
    if place is None:
        return late._alias(input)
    call = late._select if last == "select" else late._slice
    if last == "unsqueeze":
        whole = all(item is None or item is ... or item == FULL for item in place)
        call = late._newaxis if whole else late._slice_newaxis
    return call(input, place)


def _getitem(self: Tensor, index: Any) -> Tensor:
    """`x[index]`: ints, slices, None, Ellipsis, bools, index tensors, masks, lists and NumPy arrays, as in torch.

    Without index tensors, lists and arrays the result is a view.

    Raises:
        IndexError: for an index out of bounds, or an object that is no index.
        ValueError: for a slice step that is not positive.
    """
    kind = type(index)
    try:
        if kind is int:
            return late._select(self, (index, ...))
        if kind is slice:
            if _is_plain(index):
                return late._slice(self, (index, ...))
        elif kind is Tensor:
            if _is_index(index) or _is_mask(index, self._shape):
                return late._index_along(self, index)
        elif kind is tuple:
            if len(index) == 2 and len(self._shape) > 1 and _is_index(index[0]) and _is_index(index[1]):
                return late._index_pair(self, *index)
            dim = len(index) - 1
            if 0 < dim < len(self._shape) and _is_index(index[dim]) and all(map(_is_full, index[:dim])):
                return late._index_along(self, index[dim], dim)
            made = _view_of_tuple(self, index)
            if made is not None:
                return made
        elif index is None:
            return late._newaxis(self, (None, ...))
    except IndexError:
        parse(index, self._shape)
        raise
    except RuntimeError:
        if self._spec.numpy:
            raise  # other backends: the index may be on the host
    found = overriding((index,))
    if not found:
        return _getitem_parsed(self, *parse(index, self._shape))
    taken: Tensor = handle(Tensor.__getitem__, "Tensor.__getitem__", found, (self, index), None)
    return taken


def _is_index(item: Any) -> bool:
    return type(item) is Tensor and bool(item._shape) and item._spec.dtype in INDEX_DTYPES


def _is_mask(item: Any, shape: tuple[int, ...]) -> bool:
    return bool(item._shape) and item._spec.dtype is bool_ and item._shape == shape[: len(item._shape)]


def _view_of_tuple(input: Tensor, index: tuple[Any, ...]) -> Tensor | None:
    """Return `input[index]` for a tuple of ints, slices, None and one Ellipsis; None for others."""
    call: Any = None
    dots = partial = False
    for item in index:
        t = type(item)
        if t is int:
            call, partial = late._select, True
        elif t is slice and _is_plain(item):
            if item.start is not None or item.stop is not None or item.step is not None:
                call, partial = late._slice, True
            elif call is None:
                call = late._slice  # a slice of everything does not determine the name of the view's node
        elif item is None:
            call = late._slice_newaxis if partial else late._newaxis
        elif item is ... and not dots:
            dots = True
        else:
            return None
    return None if call is None else call(input, index if dots else (*index, ...))


def _getitem_parsed(self: Tensor, place: Any, last: str, indices: Any) -> Tensor:
    """`self[index]`, for what `parse` found in the subscript."""
    if indices is None:
        return _view(self, place, last)
    indices = _beside(indices, self)
    part = self if place is None else _view(self, place, last)
    dim = next(d for d, i in enumerate(indices) if i is not None)
    if dim + 1 == len(indices):
        return late._index_along(part, indices[dim], dim)
    if len(indices) == 2 and all(i._spec.dtype in INDEX_DTYPES for i in indices if i is not None):
        return late._index_pair(part, *indices)
    return watched(
        late._index.op, "index", lambda *values: apply(late._index.op, values), (part, indices)
    )  # the interpreted path, which unwraps lists


def _beside(indices: Any, tensor: Tensor) -> Any:
    """Move indices from the CPU to the device of a tensor."""
    where = tensor._spec.device
    if where.type == "cpu":
        return indices
    return [i.to(where) if i is not None and i._spec.device.type == "cpu" else i for i in indices]


def _is_full(item: Any) -> bool:
    return type(item) is slice and _is_plain(item) and item == FULL


def _is_plain(item: slice) -> bool:
    start, stop = item.start, item.stop
    if item.step is not None and (type(item.step) is not int or item.step < 2):
        return False  # a step of 1 is none
    return (start is None or type(start) is int) and (stop is None or type(stop) is int)


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`: writes the elements that `x[index]` reads, broadcasting `value`.

    The write is an in-place `copy_` into a view, recorded in the graph of the tensor; with index
    tensors it is `index_put_`, which requires a value of the same dtype.
    """
    is_tensor = isinstance(value, Tensor)
    if not is_tensor and not isinstance(value, int | float | complex):
        if is_foreign(value):
            raise mixed("__setitem__")
        if _set_by_others(self, index, value):
            return
        raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")
    if type(index) is bool:
        if not index:
            return
        index = None
    indices: Any = None
    place, last = _plain_place(index), "slice"
    if place is None or not self._shape:
        if type(index) is Tensor and self._shape and (_is_index(index) or _is_mask(index, self._shape)):
            indices = [index]
        elif _set_by_others(self, index, value):
            return
        else:
            place, last, indices = parse(index, self._shape)
    if is_tensor:
        if value._view is not None and indices is None and _is_there(self, place, value):
            self._counter[0] += 1
            return
        if value._counter is self._counter and value.numel():
            value = _read_first(self, value, indices)
    try:
        if _needs_no_record(self, value if is_tensor else None):
            _write(self, place, indices, value)
        else:
            _write_recorded(self, place, last, indices, value)
    except (IndexError, OverflowError):
        parse(index, self._shape)
        raise


def _set_by_others(target: Tensor, index: Any, value: Any) -> bool:
    """Return whether an index or a value overrides `__torch_function__`, which then took over."""
    found = overriding((index, value))
    if found:
        handle(Tensor.__setitem__, "Tensor.__setitem__", found, (target, index, value), None)
    return bool(found)


def _read_first(target: Tensor, value: Tensor, indices: Any) -> Tensor:
    """Return a value that shares memory with the tensor written to, cloned if necessary; raise if it may overlap."""
    if indices is not None and (value.numel() != 1 or [i for i in indices if i is not None and i.dtype != bool_]):
        keep_apart(target, value)
        return value
    return value.clone() if value.numel() == 1 else value  # it may be one of the elements written to


def _needs_no_record(target: Tensor, value: Tensor | None) -> bool:
    """Return whether autograd has nothing to record if `value` (None: a number) is written into `target`."""
    mode = MODE.get()
    if target._view is not None or type(target._counter) is not list or not target._spec.whole or mode.leaves_fast_path:
        return False
    if not mode.grad:
        return True
    if target._edge is not None:
        return False
    if value is None:
        return True
    return (value._view is None or value._counter is not target._counter) and value._current_edge() is None


def _write(target: Tensor, place: Any, indices: Any, value: Any) -> None:
    """Write a number or a tensor into elements of `target`, out of the graph."""
    array = target._data[... if place is None else place]
    try:
        if indices is None:
            _fill(target, array, value)
        else:
            if isinstance(value, Tensor):
                given = filling(target, indices, value)
                kept = np.reshape(given._data, _without_leading_ones(given._shape))
            else:
                kept = number_array(value, target)
            _put(array, [None if i is None else i._data for i in indices], kept, False)
    except Exception:
        raise
    except BaseException:  # an interrupt: the write may have happened
        target._counter[0] += 1
        raise
    target._counter[0] += 1


def _write_recorded(target: Tensor, place: Any, last: str, indices: Any, value: Any) -> None:
    """Write a number or a tensor into elements of `target` by an operation that autograd records."""
    if not target._spec.numpy:
        indices = indices if indices is None else _beside(indices, target)
        if isinstance(value, Tensor) and value._shape and value._spec.device.type == "cpu":
            (value,) = _beside([value], target)
    if not isinstance(value, Tensor):
        value = number_tensor(value, target)
    elif value._shape[:1] == (1,):
        value = late.reshape(value, _without_leading_ones(value._shape))
    part = target if place is None else _view(target, place, last)
    if indices is not None:
        given = [part, indices, filling(target, indices, value), False]
        write_part(late._index_put.op, "index_put_", given, _put, indexed=True)
        return
    _check_fits(value._shape, part._shape)
    if value._counter is part._counter and value._shape != part._shape:
        value = late.expand(value, part._shape)  # a broadcast part of the tensor itself: read before the write
    if part.numel() < _SMALL:
        inplace(late._copied.op, "copy_", [part, value])
    else:
        write_part(late._copied.op, "copy_", [part, value], _overwrite)


def _is_there(target: Tensor, place: Any, value: Tensor) -> bool:
    """Whether `value` is the view `target[place]` itself: the `x[1:] = ...` that Python executes after `x[1:] += y`."""
    view: Any = value._view
    return (
        view.parent is target
        and view.args == (place,)
        and not target._relaid
        and not value._relaid
        and type(target._counter) is list
        and target._spec.numpy
    )


_SMALL = 4096  # elements: for fewer, an additional copy is faster than `write_part`


def _plain_place(index: Any) -> tuple[Any, ...] | None:
    """The subscript for NumPy, if it consists of ints and plain slices; else None."""
    items = index if type(index) is tuple else (index,)
    if not items:
        return None
    for item in items:
        if type(item) is not int and not (type(item) is slice and _is_plain(item)):
            return None
    return (*items, ...)


def _fill(target: Tensor, array: Any, value: Any) -> None:
    """Write a number or an untracked tensor into a part of `target`'s array."""
    backend, d = target._spec.backend, target._spec.dtype
    if isinstance(value, Tensor):
        shape = _without_leading_ones(value._shape)
        _check_fits(shape, array.shape)
        value = reshaped(backend.cast(value._data, d), shape)
    else:
        value = item_for(value, d)
    array[...] = value


def _overwrite(array: Any, source: Any) -> None:
    spec = spec_of(array)
    array[...] = spec.backend.cast(source, spec.dtype)


def _without_leading_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    start = 0
    while start < len(shape) and shape[start] == 1:
        start += 1
    return shape[start:]


def _check_fits(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    if len(shape) > len(target):
        raise RuntimeError(
            f"the number of sizes provided ({len(target)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(shape)}): a value of shape {list(shape)} cannot be written into {list(target)}"
        )
    for back in range(1, len(shape) + 1):
        if shape[-back] not in (1, target[-back]):
            raise RuntimeError(
                f"The expanded size of the tensor ({target[-back]}) must match the existing size ({shape[-back]}) at "
                f"non-singleton dimension {len(target) - back}.  Target sizes: {list(target)}.  Tensor sizes: "
                f"{list(shape)}"
            )


OPERATORS = {"__getitem__": _getitem, "__setitem__": _setitem}
for _name, _function in OPERATORS.items():
    _function.__name__ = _name  # what `__torch_function__` is told
