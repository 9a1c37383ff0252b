"""Which memory a tensor lies in, and how its elements are laid out there.

A storage is recognised by the array that owns it, held weakly: an address is taken again by the
next array once the first is gone, so an address alone would confuse the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from ..tensor.tensor import Tensor

_Kept = TypeVar("_Kept")


def owner(array: Any) -> Any:
    """The array whose memory this one shows: the last array on the way along `.base`."""
    kind = type(array)
    while isinstance(base := getattr(array, "base", None), np.ndarray) or type(base) is kind:
        array = base
    return array


def same_memory(a: Any, b: Any) -> bool:
    """Whether two arrays show memory of one owner."""
    return a is b or owner(a) is owner(b)


def arrays_in(packed: object, tell: Callable[[object], None]) -> Iterator[Any]:
    """The arrays in what a pack hook returned: arrays, tensors, and tuples, lists and dicts of them.

    What a policy of ours returned has a method `held`, which tells its arrays, and calls `tell` with those that it
    will consist of later, on whatever thread, when a job of its own is done.
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
        yield packed  # a scalar of NumPy's looks like an array, but nobody can tell when it is gone


class Storages:
    """A fixed set of storages, such as those of a model's parameters. Keeps none of them alive."""

    __slots__ = ("_known",)

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        owners = [owner(tensor._data) for tensor in tensors]
        self._known = {id(whole): ref(whole) for whole in owners}

    def __contains__(self, array: Any) -> bool:
        whole = owner(array)
        known = self._known.get(id(whole))
        return known is not None and known() is whole


def once(make: Callable[[Tensor], _Kept]) -> Callable[[Tensor], _Kept]:
    """`make`, called once for tensors that show the same elements of one storage at one version.

    An operation saves its tensors without asking who else saved them, so the same values are often
    packed twice. What `make` returns is remembered weakly, so it must allow weak references.
    """
    known: dict[tuple[Any, ...], tuple[ref[Any], ref[Any]]] = {}

    def made(tensor: Tensor) -> _Kept:
        array = tensor._data
        whole = owner(array)
        key: tuple[Any, ...] = (id(whole), tensor._version)
        if getattr(array, "strides", None) is not None:  # other libraries' arrays show all of their storage
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
    """The distinct elements of an array as a contiguous one, and what `undense` needs to undo it.

    Dimensions of stride zero (from `expand`) shrink to one element, and the rest is put in the
    order of memory: a transposed array is not copied.
    """
    small, layout = in_order(array)
    return np.ascontiguousarray(small), layout


def in_order(array: Any) -> tuple[Any, Layout]:
    """The distinct elements of an array in the order of memory, as a view of it, and how they lay."""
    small = array[tuple(slice(1) if not stride and size else slice(None) for size, stride in shape_of(array))]
    order = tuple(sorted(range(small.ndim), key=lambda dim: -abs(small.strides[dim])))
    return small.transpose(order), (array.shape, small.shape, order)


def strides_of(layout: Layout, itemsize: int) -> tuple[int, ...]:
    """The strides, in bytes, of what `undense` makes of contiguous elements."""
    shape, small, order = layout
    found, step = [0] * len(shape), itemsize
    for dim in reversed(order):
        found[dim] = step if small[dim] == shape[dim] else 0
        step *= small[dim]
    return tuple(found)


def shape_of(array: Any) -> Iterable[tuple[int, int]]:
    return zip(array.shape, array.strides, strict=True)


def undense(elements: Any, layout: Layout) -> Any:
    """What `dense` was given: same shape, same values, same order of strides."""
    shape, small, order = layout
    back = sorted(range(len(order)), key=order.__getitem__)
    array = elements.reshape([small[dim] for dim in order]).transpose(back)
    return array if array.shape == shape else np.broadcast_to(array, shape)
