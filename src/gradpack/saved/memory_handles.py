"""The memory of a tensor, of gradpack or of an installed torch, behind one interface for policies.

A storage is identified by its object while that lives, never by its address alone: after it is freed,
another one may have the same address.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any
from weakref import ref

import numpy as np

from ..backends.memory_layout import _array_type, address_of, owner_of
from ..backends.numpy import ml_dtypes
from ..base import dtypes
from ..core.copy_on_write import watch_writes
from ..core.tensor import Tensor, alias
from .info import SavedInfo
from .storage import Layout, dense, in_order


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

    alive: Callable[[], Any]
    is_far = False

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.data = tensor, tensor._data
        self.whole = whole = owner_of(self.data)
        self._counter: list[Any] = tensor._counter
        self.version = int(self._counter[0])
        self.like: Any = (tensor._spec, tensor._shape)
        self.key = id(whole)
        self.alive = ref(whole)
        self.guards = True

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

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor)
        self.guards = False

    def fetch(self) -> Any:
        """Return a copy of the elements in host memory, as a contiguous NumPy array."""
        return np.array(self.tensor._spec.backend.to_numpy(self.tensor._data), order="C")


class _TorchMemory(Memory):
    """The memory of a CPU tensor of an installed torch."""

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
        self.guards = False


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
    return array if array.flags.writeable else np.asarray(_Shown(array))


class _Shown:
    """An object with an `__array_interface__` from which NumPy makes a writable view of another array's memory."""

    def __init__(self, array: Any) -> None:
        self.array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def described(tensor: Any) -> SavedInfo:
    """Return the `SavedInfo` of a tensor alone: node and slot are empty."""
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
