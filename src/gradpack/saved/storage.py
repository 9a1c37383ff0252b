"""The memory of tensors: storages, the layout of elements in them, maps and queues that keep no object alive.

`Memory` is the memory of a tensor, of gradpack or of an installed torch, behind one interface for policies.

A storage is identified by its object while that lives, never by its address alone: after it is freed, another one
may have the same address.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Generic, TypeVar
from weakref import WeakMethod, WeakValueDictionary, ref

import numpy as np

from ..backends.memory_layout import _array_type, address_of, owner_of
from ..backends.numpy import ml_dtypes
from ..core.copy_on_write import watch_writes
from ..core.tensor import Tensor, alias

_Kept = TypeVar("_Kept")


class WeakIdentityMap(Generic[_Kept]):
    """A dict from objects to values that compares its keys by identity and keeps none of them alive."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[Any], _Kept]] = {}

    def get(self, thing: Any) -> _Kept | None:
        """Return the value for an object, or None."""
        found = self._known.get(id(thing))
        return None if found is None or found[0]() is not thing else found[1]

    def set(self, thing: Any, value: _Kept) -> _Kept:
        """Set and return the value for an object."""
        key, me = id(thing), ref(self)  # weakly: a callback that held the map would be a cycle

        def forget(dead: ref[Any]) -> None:
            this = me()
            if this is not None and key in this._known and this._known[key][0] is dead:
                del this._known[key]

        self._known[key] = ref(thing, forget), value
        return value

    def drop(self, thing: Any) -> None:
        """Remove an object."""
        del self._known[id(thing)]

    def __contains__(self, thing: Any) -> bool:
        found = self._known.get(id(thing))
        return found is not None and found[0]() is thing

    def __len__(self) -> int:
        return len(self._known)


def same_memory(a: Any, b: Any) -> bool:
    """Return whether two arrays share one storage."""
    return a is b or owner_of(a) is owner_of(b)


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


class Storages(WeakIdentityMap[bool]):
    """A set of storages, such as those of a model's parameters, held weakly."""

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        super().__init__()
        for tensor in tensors:
            self.set(owner_of(tensor._data), True)

    def __contains__(self, array: Any) -> bool:
        return self.get(owner_of(array)) is not None


def once(make: Callable[[Tensor], _Kept]) -> Callable[[Tensor], _Kept]:
    """Return `make`, memoized for tensors that are the same view of one storage at one version.

    Several operations often save the same tensor, which would then be packed several times. Results of
    `make` are remembered weakly, so they must allow weak references.
    """
    known: WeakIdentityMap[WeakValueDictionary[Any, _Kept]] = WeakIdentityMap()

    def made(tensor: Tensor) -> _Kept:
        array = tensor._data
        whole = owner_of(array)
        key: Any = tensor._version
        if getattr(array, "strides", None) is not None:  # arrays without strides are never views of a part
            key = (key, tensor._spec.backend.address(array), array.shape, array.strides, array.dtype)
        found = known.get(whole)
        if found is None:
            found = known.set(whole, WeakValueDictionary())
        kept = found.get(key)
        if kept is None:
            kept = found[key] = make(tensor)
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
    sizes = zip(array.shape, array.strides, strict=True)
    small = array[tuple([slice(1) if size and not stride else slice(None) for size, stride in sizes])]
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


def undense(elements: Any, layout: Layout) -> Any:
    """Undo `dense`: return an array of the original shape, values and order of strides."""
    shape, small, order = layout
    back = sorted(range(len(order)), key=order.__getitem__)
    array = elements.reshape([small[dim] for dim in order]).transpose(back)
    return array if array.shape == shape else np.broadcast_to(array, shape)


class Finalized(ref[Any]):
    """A weak reference to an object, with data (`data`) to use after its death."""

    __slots__ = ("data",)

    data: Any


class FinalizedQueue:
    """A set of watched objects, and a queue of those that have died, filled without running Python code at their death.

    A `__del__` may run at any moment. A KeyboardInterrupt that arrives inside of it is discarded, and so is the rest of
    the `__del__`. A weak reference whose callback is a C method, `deque.append`, cannot be interrupted.
    """

    def __init__(self) -> None:
        self._alive: dict[int, Finalized] = {}
        self._over: deque[Finalized] = deque()

    def watch(self, thing: Any, data: Any) -> Finalized:
        """Watch `thing`: after its death `over` yields the returned `Finalized`, which holds `data`."""
        ending = Finalized(thing, self._over.append)
        ending.data = data
        self._alive[id(ending)] = ending
        return ending

    def over(self) -> Iterator[Finalized]:
        """Iterate over the endings of objects that have died, and remove them: each is yielded once."""
        while self._over:
            ending = self._over.popleft()
            self._alive.pop(id(ending), None)
            yield ending


def weakly(method: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls a method, or does nothing once the method's object is gone."""
    weak = WeakMethod(method)

    def call(*args: Any) -> None:
        found = weak()
        if found is not None:
            found(*args)

    return call


class Memory:
    """The memory of a tensor; this class is for NumPy arrays in host memory.

    Attributes:
        data: the tensor's array.
        whole: the array that owns the storage.
        key: an identifier of the storage, unique while the storage lives.
        alive: a function that returns None once the storage is freed, such as a weak reference.
        tensor: the tensor itself.
        like: the argument for `tensor_like` that makes such a tensor again.
        guards: whether `guard` works, so that in-place writes can be waited for.
        is_far: whether the elements must be copied from a device.
    """

    is_far = False
    guards = True

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.data = tensor, tensor._data
        self.whole = whole = owner_of(self.data)
        self._counter: list[Any] = tensor._counter
        self.version = int(self._counter[0])
        self.like: Any = (tensor._spec, tensor._shape)
        self.key = id(whole)
        self.alive: Callable[[], Any] = ref(whole)

    def address(self, array: Any) -> int:
        """Return the address of the first element of an array."""
        return address_of(array)

    def dense(self) -> tuple[Any, Layout, bool]:
        """Return the distinct elements of `data` as a contiguous array, its layout, and whether it shares memory."""
        elements, layout = dense(self.data)
        return elements, layout, bool(np.may_share_memory(elements, self.data))

    def copied(self, array: Any) -> Any:
        """Return a copy of an array."""
        return array.copy()

    def guard(self, record: Any) -> None:
        """Register a call of `record.before_write(record)` before each in-place write to the storage."""
        watch_writes(self._counter, record, record)


def memory_of(tensor: Any) -> Memory | None:
    """Return the memory of a tensor, of gradpack or torch; None for a CPU tensor that is no strided NumPy array."""
    if isinstance(tensor, Tensor):
        if type(tensor._data) is _array_type:
            return Memory(tensor)
        if tensor._spec.device.type == "cpu":
            return None
        streams = tensor._spec.backend.streams(tensor._spec.device)
        return RemoteMemory(tensor) if streams is None else DeviceMemory(tensor, streams)
    torch = sys.modules["torch"]
    if tensor.device.type != "cpu" or tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg():
        return None
    return _TorchMemory(torch, tensor)


class DeviceMemory(Memory):
    """The memory of a tensor on a device with streams.

    Attributes:
        streams: the streams of the device.
        native: the dtype of the library's arrays.
        counter: the tensor's version counter.
    """

    is_far = True

    def __init__(self, tensor: Tensor, streams: Any) -> None:
        super().__init__(tensor)
        self.streams, self.native, self.counter = streams, tensor._spec.native, tensor._counter

    def address(self, array: Any) -> int:
        return self.tensor._spec.backend.address(array)

    def dense(self) -> tuple[Any, Layout, bool]:
        small, layout = in_order(self.data)
        if small.flags.c_contiguous:
            return small, layout, True
        return self.tensor._spec.backend.copy(small), layout, False

    def copied(self, array: Any) -> Any:
        return self.tensor._spec.backend.copy(array)


class RemoteMemory(Memory):
    """The memory of a tensor on a device without streams. `fetch` copies its elements to the host."""

    guards = False

    def fetch(self) -> Any:
        """Return a copy of the elements in host memory, as a contiguous NumPy array."""
        return np.array(self.tensor._spec.backend.to_numpy(self.tensor._data), order="C")


class _TorchMemory(Memory):
    """The memory of a CPU tensor of an installed torch."""

    guards = False

    def __init__(self, torch: Any, tensor: Any) -> None:
        StorageWeakRef: Any = import_module("torch.multiprocessing.reductions").StorageWeakRef
        storage = tensor.untyped_storage()
        plain = tensor.detach()
        root = tensor if tensor._base is None else tensor._base
        self.tensor = tensor
        self.version = tensor._version
        self.like = tensor.dtype
        self.key: Any = storage._cdata
        self.data = _array(torch, plain)
        if root.numel() * root.element_size() == storage.nbytes():
            flat = plain.as_strided((storage.nbytes() // tensor.element_size(),), (1,), 0)
            self.whole = _array(torch, flat)
        else:  # a part with its own version counter, as of unsafe_chunk: writes to the rest are not seen here
            self.whole = self.data
            self.key = storage._cdata, tensor.storage_offset(), tensor.shape, tensor.stride()
        held: Any = StorageWeakRef(storage)
        self.alive = lambda: None if held.expired() else True


def _array(torch: Any, tensor: Any) -> Any:
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes().bfloat16)
    return tensor.numpy()


def tensor_like(array: Any, like: Any, counter: list[int]) -> Any:
    """Return a tensor of an array, of the library, dtype and device that `like`, a `Memory.like`, describes."""
    if type(like) is tuple:
        spec, shape = like
        if not spec.backend.is_numpy:  # a device without streams
            array = spec.backend.asarray(array, spec.dtype, spec.device)
        out = alias(array, spec, shape)
        out._counter = counter
        return out
    torch = sys.modules["torch"]
    if like is torch.bfloat16:
        return torch.from_numpy(_writable(array.view(np.int16))).view(torch.bfloat16)
    return torch.from_numpy(_writable(array))


def _writable(array: Any) -> Any:
    """Return the array, as a writable view if NumPy made it read-only, as an expanded one: torch warns of those."""
    if array.flags.writeable:
        return array
    interface = array.__array_interface__
    interface["data"] = interface["data"][0], False  # not read-only
    return np.asarray(SimpleNamespace(__array_interface__=interface, array=array))
