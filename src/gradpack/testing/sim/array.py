"""Arrays of a simulated device. Their memory is in its arena, and the host does not see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .arena import Block
from .streams import Device, Stream

DEVICES: list[Device] = []


class ImplicitTransferError(TypeError):
    """Something reads the memory of a device as if it were the host's."""


class pinned(np.ndarray[Any, Any]):  # noqa: N801 - a kind of array
    """Host memory that a simulated device copies asynchronously, with a record of the streams that use it."""

    writer: tuple[int, int] | None
    readers: dict[int, int]

    def __new__(cls, shape: Any, native: Any = "float32") -> Any:
        made = np.empty(shape, native).view(cls)
        made.writer, made.readers = None, {}  # as those of a block
        return made


def pinned_root(host: Any) -> pinned | None:
    """The pinned memory that an array shows a part of; None if it is other memory."""
    root = None
    while host is not None:
        if isinstance(host, pinned) and hasattr(host, "readers"):
            root = host
        host = host.obj if isinstance(host, memoryview) else getattr(host, "base", None)
    return root


class SimArray(NDArrayOperatorsMixin):
    """An array of a simulated device. NumPy's functions and operators run on it, as kernels, on the current stream."""

    __slots__ = ("__weakref__", "_array", "base", "block", "device")
    __array_priority__ = 1000.0

    def __init__(self, array: Any, block: Block, device: Device, base: SimArray | None = None) -> None:
        self._array, self.block, self.device = array, block, device
        self.base = base  # of a view, the array that it is a view of

    shape = property(lambda self: self._array.shape)
    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    nbytes = property(lambda self: self._array.nbytes)
    itemsize = property(lambda self: self._array.itemsize)
    strides = property(lambda self: self._array.strides)
    flags = property(lambda self: self._array.flags)
    address = property(lambda self: self._array.__array_interface__["data"][0])

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise ImplicitTransferError(
            f"an array of sim:{self.device.index} is not in host memory: copy it there with get(), or a tensor with "
            "cpu()"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return kernel(getattr(ufunc, method))(*inputs, **kwargs)
        return writing(getattr(ufunc, method), out[0], inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return kernel(function)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # among them protocols that would hand out the memory
            raise AttributeError(f"'SimArray' object has no attribute {name!r}")
        found = getattr(self._array, name)
        if not callable(found):
            return _returned(found, self.device, [self])
        method = getattr(np.ndarray, name)
        return lambda *args, **kwargs: kernel(method)(self, *args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return kernel(np.ndarray.__getitem__)(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        write(self, value, index)

    def __len__(self) -> int:
        return len(self._array)

    def __bool__(self) -> bool:
        return bool(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def item(self, *args: Any) -> Any:
        return self.get().item(*args)

    def tolist(self) -> Any:
        return self.get().tolist()

    def get(self, stream: Stream | None = None, out: Any = None, blocking: bool = True, raw: bool = False) -> Any:
        """A copy in host memory. Into `pinned` memory and not blocking, it is there when the stream has done it.

        Args:
            raw: copy the bytes.
        """
        device, source = self.device, self.raw() if raw else self._array
        device.count("d2h", self.nbytes)
        host = np.empty_like(source) if out is None else out
        root = pinned_root(host)
        with stream or device.current():
            device.later(lambda: np.copyto(host, source), [self.block], [] if root is None else [root])
            if blocking or root is None:
                device.current().synchronize()
        return host

    def set(self, host: Any, stream: Stream | None = None, raw: bool = False) -> None:
        """Copy from host memory, or its bytes if `raw`. From `pinned` memory, when the stream comes to it."""
        device, target = self.device, self.raw() if raw else self._array
        device.count("h2d", self.nbytes)
        root = pinned_root(host)
        source = np.array(host) if root is None else host
        with stream or device.current():
            device.later(lambda: np.copyto(target, source), [] if root is None else [root], [self.block])

    def raw(self) -> Any:
        """The bytes of its memory, which must be without gaps, in their order: a NumPy array for kernels."""
        strides = [s for s, n in zip(self.strides, self.shape, strict=True) if n > 1]
        if self.size and (any(s < 0 for s in strides) or self.nbytes != _span(self)):
            raise ValueError(f"an array with gaps is not one piece of memory: strides {self.strides} of {self.shape}")
        arena = self.device.arena
        start = self.address - arena.address
        return arena.bytes[start : start + self.nbytes]

    def record_stream(self, stream: Stream) -> None:
        """Delay reuse of the memory until the stream has done all work submitted so far."""
        self.block.recorded.add(stream.number)

    def __repr__(self) -> str:
        return f"SimArray(shape={self.shape}, dtype={self.dtype}, device=sim:{self.device.index})"


def _span(array: SimArray) -> int:
    """Return the bytes from the first to the last element of an array."""
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    return array.itemsize + sum(steps)


def empty(shape: Any, native: Any, device: Device, like: Any = None) -> SimArray:
    """Return an uninitialized array; `like` gives the order of its dimensions."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    native = np.dtype(native)
    order = sorted(range(len(shape)), key=lambda d: -abs(like.strides[d])) if like is not None else range(len(shape))
    strides, step = [0] * len(shape), native.itemsize
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    size = int(np.prod(shape, dtype=np.int64)) * native.itemsize
    stream = device.current()
    block = device.arena.allocate(size, stream.number)
    block.writer = stream.number, stream.clock[stream.number]  # earlier uses of the memory are over in this stream only
    return SimArray(device.arena.array(block, shape, native, tuple(strides)), block, device)


def asarray(host: Any, device: Device, native: Any = None) -> SimArray:
    """A copy of a host array on a device."""
    host = np.asanyarray(host, dtype=native)
    made = empty(host.shape, host.dtype, device, like=host)
    made.set(host)
    return made


def moved(array: SimArray, device: Device) -> SimArray:
    """A copy on another device."""
    made = empty(array.shape, array.dtype, device, like=array)
    device.count("d2d", array.nbytes)
    array.device.current().synchronize()
    source = array._array
    device.run(lambda: np.copyto(made._array, source), [], [made.block])
    return made


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays as one of arrays of a device: one kernel, whatever it computes in between."""

    def launch(*args: Any, **kwargs: Any) -> Any:
        device = _device_of((args, kwargs), None)
        if device is None:
            return function(*args, **kwargs)
        arrays: list[SimArray] = []
        opened, named = _opened(args, arrays), _opened(kwargs, arrays)
        result = device.run(lambda: function(*opened, **named), [a.block for a in arrays], [])
        return _returned(result, device, arrays)

    return launch


def writing(function: Callable[..., Any], out: SimArray, inputs: Any, kwargs: Any) -> SimArray:
    """A kernel that writes its result into an array."""
    _device_of((out, inputs), None)
    arrays: list[SimArray] = []
    opened = _opened(inputs, arrays)
    reads = [a.block for a in arrays if a.block is not out.block]
    out.device.run(lambda: function(*opened, out=out._array, **kwargs), reads, [out.block])
    return out


def write(array: SimArray, value: Any, index: Any = ...) -> None:
    """Write into an array, broadcasting and converting."""
    _device_of((array, value, index), None)
    arrays: list[SimArray] = []
    opened, place = _opened(value, arrays), _opened(index, arrays)

    def run() -> None:
        if place is ...:
            np.copyto(array._array, opened, casting="unsafe")
        else:
            array._array[place] = opened

    array.device.run(run, [a.block for a in arrays if a.block is not array.block], [array.block])


def _device_of(value: Any, found: Device | None) -> Device | None:
    """The device of the arrays in nested arguments."""
    if type(value) is SimArray:
        if found is not None and found is not value.device:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found sim:{found.index} and "
                f"sim:{value.device.index}"
            )
        return value.device
    if isinstance(value, list | tuple):
        for item in value:
            found = _device_of(item, found)
    elif isinstance(value, dict):
        found = _device_of(list(value.values()), found)
    return found


def _opened(value: Any, arrays: list[SimArray]) -> Any:
    """Nested arguments as the kernel sees them; `arrays` gets those of the device."""
    if type(value) is SimArray:
        arrays.append(value)
        return value._array
    if type(value) in (list, tuple):
        return type(value)([_opened(v, arrays) for v in value])
    return {k: _opened(v, arrays) for k, v in value.items()} if type(value) is dict else value


def _returned(value: Any, device: Device, arrays: list[SimArray]) -> Any:
    """Nested results of a kernel as arrays of the device. What is a view of an argument stays one."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_returned(v, device, arrays) for v in value])
    if type(value) in (list, tuple):
        return type(value)([_returned(v, device, arrays) for v in value])
    if not isinstance(value, np.ndarray | np.generic):
        return value
    array = np.asarray(value)
    if array.size and device.arena.holds(array):
        offset = array.__array_interface__["data"][0] - device.arena.address
        for whole in arrays:
            if array is whole._array:
                return whole
            if whole.block.start <= offset < whole.block.start + whole.block.size:
                return SimArray(array, whole.block, device, whole if whole.base is None else whole.base)
    made = empty(array.shape, array.dtype, device, like=array)
    np.copyto(made._array, array)
    return made
