"""The memory behind a tensor, ours or that of an installed torch, so that policies treat both alike.

A storage is known by what it is while it lives, never by its address alone: once it is gone, the next
one may lie at the same place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any
from weakref import ref

import numpy as np

from ..backends.numpy import ml_dtypes
from ..backends.windows import _array_type
from ..base import dtypes
from ..tensor.tensor import Tensor, alias
from .info import SavedInfo
from .storage import Layout, dense, in_order, owner


class Memory:
    """Where a tensor lies.

    Attributes:
        data: its array.
        whole: the array of all the memory that it keeps alive.
        key: stands for that memory, and is unique while it lives.
        alive: says whether it does.
        tensor: the tensor itself.
        like: what `tensor_like` needs to make it again.
        guards: can it tell of writes?
        is_far: does it take time to come to host memory?
    """

    __slots__ = ("_counter", "alive", "data", "guards", "key", "like", "tensor", "version", "whole")

    alive: Callable[[], bool]
    is_far = False

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.data = tensor, tensor._data
        self.whole = whole = owner(self.data)
        self._counter: list[Any] = tensor._counter
        self.version = int(self._counter[0])
        self.like: Any = (tensor._spec, tensor._shape)
        self.key = id(whole)
        self.alive = _Alive(whole)
        self.guards = True

    def address(self, array: Any) -> int:
        """Where the first element of an array of this library lies."""
        found: int = array.__array_interface__["data"][0]
        return found

    def dense(self) -> tuple[Any, Layout, bool]:
        """The distinct elements of `data` without gaps, how they lay, and whether they lie there still."""
        elements, layout = dense(self.data)
        return elements, layout, bool(np.may_share_memory(elements, self.data))

    def copied(self, array: Any) -> Any:
        """Other memory with the same elements."""
        return array.copy()

    def guard(self, record: Any) -> None:
        """Have `record.before_write()` called before the memory is written to."""
        counter = self._counter
        counter[1:] = [entry for entry in counter[1:] if entry[0]() is not None]
        counter.append((ref(record), _guard_ref))


class _Alive:
    """Whether something is: holds it weakly."""

    __slots__ = ("_what",)

    def __init__(self, what: Any) -> None:
        self._what = ref(what)

    def __call__(self) -> bool:
        return self._what() is not None


class _Guard:
    """Stands among those who are to be told of writes, beside the modes that allow mutation."""

    def before_write(self, record: Any) -> None:
        record.before_write()


_guard = _Guard()
_guard_ref = ref(_guard)


def memory_of(tensor: Any) -> Memory | None:
    """Where a tensor lies, ours or torch's; None if it is in memory, but no array of NumPy's."""
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
    """Where a tensor lies on a device with streams.

    Attributes:
        streams: those of the device.
        native: the dtype that the library's arrays have.
        counter: of the tensor, which counts the writes.
    """

    __slots__ = ("counter", "native", "streams")

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
    """Where a tensor lies that is on another device. Its elements are copied from there when they are asked for."""

    __slots__ = ()

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self._counter = tensor._counter
        self.version = int(self._counter[0])
        self.like = (tensor._spec, tensor._shape)
        self.key = id(tensor._data)
        self.alive = _Alive(tensor._data)
        self.guards = False

    def fetch(self) -> Any:
        """A copy of the elements in host memory."""
        return np.array(self.tensor._spec.backend.to_numpy(self.tensor._data), order="C")


class _TorchMemory(Memory):
    """Where a tensor of an installed torch lies."""

    __slots__ = ()

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
        else:  # a part that counts its own writes, as unsafe_chunk makes them: others may write to the rest unseen
            self.whole = self.data
            self.key = storage._cdata, tensor.storage_offset(), tensor.shape, tensor.stride()
        held: Any = StorageWeakRef(storage)
        self.alive = lambda: not held.expired()
        self.guards = False


def _array(torch: Any, tensor: Any) -> Any:
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes().bfloat16)
    return tensor.numpy()


def tensor_like(array: Any, like: Any, counter: list[int]) -> Any:
    """A tensor around an array, like the one whose `Memory.like` this is."""
    if type(like) is tuple:
        spec, shape = like
        if not spec.backend.is_numpy:  # of a device without streams
            array = spec.backend.asarray(array, spec.dtype, spec.device)
        out = alias(array, spec, shape)
        out._counter = counter
        return out
    torch = sys.modules["torch"]
    if like is torch.bfloat16:
        return torch.from_numpy(_writable(array.view(np.int16))).view(torch.bfloat16)
    return torch.from_numpy(_writable(array))


def _writable(array: Any) -> Any:
    """The same, also where it is expanded: NumPy shows that for reading only, which torch warns of."""
    return array if array.flags.writeable else np.asarray(_Shown(array))


class _Shown:
    """What NumPy makes an array of that shows the memory of another one, which it keeps."""

    def __init__(self, array: Any) -> None:
        self.array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def described(tensor: Any) -> SavedInfo:
    """What can be known of a tensor by itself: neither the operation nor the slot."""
    if isinstance(tensor, Tensor):
        return SavedInfo(tensor, ("", ""))
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(tensor, torch.Tensor):
        raise TypeError(f"a policy packs tensors, not {type(tensor).__name__}")
    root = tensor if tensor._base is None else tensor._base
    kind = "parameter" if isinstance(root, torch.nn.Parameter) else None
    kind = kind or ("input" if tensor.requires_grad else "constant")
    dtype = getattr(dtypes, str(tensor.dtype).rpartition(".")[2].replace("bool", "bool_"))
    return SavedInfo.of_foreign(tuple(tensor.shape), tensor.stride(), dtype, tensor._version, kind)
