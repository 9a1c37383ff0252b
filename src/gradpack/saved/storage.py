"""The storage of a tensor, and the layout of its elements in it.

A storage is identified by a weak reference to the array that owns it, not by its address, which may be
reused by another array once the first one is freed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from ..core.tensor import Tensor

_Kept = TypeVar("_Kept")


def owner(array: Any) -> Any:
    """Return the array that owns this one's memory: the last one of the chain of `.base`."""
    kind = type(array)
    while isinstance(base := getattr(array, "base", None), np.ndarray) or type(base) is kind:
        array = base
    return array


def same_memory(a: Any, b: Any) -> bool:
    """Return whether two arrays share one storage."""
    return a is b or owner(a) is owner(b)


def arrays_in(packed: object, tell: Callable[[object], None]) -> Iterator[Any]:
    """Iterate over the arrays in the result of a pack hook: an array, a tensor, or tuples, lists and dicts of them.

    The packed objects of gradpack's policies have a method `held`, which returns their arrays, and calls `tell` with
    the arrays that replace them later, on any thread, when a background job is done.
    """
    if isinstance(packed, Tensor):
        yield packed._data
    elif isinstance(packed, tuple | list):
        for item in packed:
            yield from arrays_in(item, tell)
    elif isinstance(packed, dict):
        yield from arrays_in(list(packed.values()), tell)
    elif hasattr(packed, "held"):
        yield from arrays_in(packed.held(tell), tell)
    elif hasattr(packed, "nbytes") and hasattr(packed, "shape") and type(packed).__weakrefoffset__:
        yield packed  # NumPy scalars are excluded: they allow no weak references


class Storages:
    """A fixed set of storages, such as those of a model's parameters, held weakly."""

    __slots__ = ("_known",)

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        owners = [owner(tensor._data) for tensor in tensors]
        self._known = {id(whole): ref(whole) for whole in owners}

    def __contains__(self, array: Any) -> bool:
        whole = owner(array)
        known = self._known.get(id(whole))
        return known is not None and known() is whole


def once(make: Callable[[Tensor], _Kept]) -> Callable[[Tensor], _Kept]:
    """Return `make`, memoized for tensors that are the same view of one storage at one version.

    Several operations often save the same tensor, which would then be packed several times. Results of
    `make` are remembered weakly, so they must allow weak references.
    """
    known: dict[tuple[Any, ...], tuple[ref[Any], ref[Any]]] = {}

    def made(tensor: Tensor) -> _Kept:
        array = tensor._data
        whole = owner(array)
        key: tuple[Any, ...] = (id(whole), tensor._version)
        if getattr(array, "strides", None) is not None:  # arrays without strides are never views of a part
            key += (tensor._spec.backend.address(array), array.shape, array.strides, array.dtype)
        found = known.get(key)
        if found is not None and found[0]() is whole and (kept := found[1]()) is not None:
            return kept

        def forget(dead: ref[Any]) -> None:
            if key in known and known[key][1] is dead:
                del known[key]

        kept = make(tensor)
        known[key] = (ref(whole), ref(kept, forget))
        return kept

    return made


Layout = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def dense(array: Any) -> tuple[Any, Layout]:
    """Return the distinct elements of an array as a contiguous array, and the layout for `undense`.

    Dimensions of stride zero (from `expand`) shrink to size 1, and the others are permuted to the
    order of memory, so that a transposed array is not copied.
    """
    small, layout = in_order(array)
    return np.ascontiguousarray(small), layout


def in_order(array: Any) -> tuple[Any, Layout]:
    """Return a view of the distinct elements of an array in the order of memory, and the layout for `undense`."""
    small = array[tuple(slice(1) if not stride and size else slice(None) for size, stride in shape_of(array))]
    order = tuple(sorted(range(small.ndim), key=lambda dim: -abs(small.strides[dim])))
    return small.transpose(order), (array.shape, small.shape, order)


def strides_of(layout: Layout, itemsize: int) -> tuple[int, ...]:
    """Return the strides, in bytes, of the array that `undense` makes of contiguous elements."""
    shape, small, order = layout
    found, step = [0] * len(shape), itemsize
    for dim in reversed(order):
        found[dim] = step if small[dim] == shape[dim] else 0
        step *= small[dim]
    return tuple(found)


def shape_of(array: Any) -> Iterable[tuple[int, int]]:
    return zip(array.shape, array.strides, strict=True)


def undense(elements: Any, layout: Layout) -> Any:
    """Undo `dense`: return an array of the original shape, values and order of strides."""
    shape, small, order = layout
    back = sorted(range(len(order)), key=order.__getitem__)
    array = elements.reshape([small[dim] for dim in order]).transpose(back)
    return array if array.shape == shape else np.broadcast_to(array, shape)
