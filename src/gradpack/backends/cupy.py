"""CuPy: arrays of CUDA devices.

Bodies and formulas of operations run on CuPy's namespace (`cupy_namespace.py`). What CuPy refuses is computed by
NumPy on the host and copied back, with a warning the first time: `on_host` counts it by the name of the function.

CuPy's memory pool gives memory that is freed to whoever next asks for some on the same stream, without waiting: that
is in order on this stream, and so its home (see `streams.py`) has to wait for others that still use it.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..base.devices import device
from ..base.dtypes import dtype
from ..base.errors import OutOfMemoryError
from .base import Backend, nested
from .cupy_loading import at
from .cupy_namespace import Namespace
from .numpy import NATIVE, NUMPY, WrappingBackend

HERE = nullcontext()


class CuPyBackend(WrappingBackend):
    """The backend of `cuda`.

    Attributes:
        library: the package CuPy.
        on_host: how often functions were computed on the host because CuPy refused them, by name.
    """

    name = "cuda"
    makes = True

    def __init__(self, library: Any) -> None:
        super().__init__()
        self.library = library
        self.array_types = (library.ndarray,)
        self.on_host: dict[str, int] = {}
        self.xp = Namespace(library)
        self._inside = Backend()  # binds functions to CuPy's namespace, as functions that are bound call them
        self._inside.name, self._inside.xp = self.name, self.xp
        self._streams: dict[int, CuPyStreams] = {}
        self._copying: deque[tuple[Any, Any]] = deque()  # (event, host memory to keep until it passes)
        self._refusals = _refusals(library)
        self._full: type[Exception] = library.cuda.memory.OutOfMemoryError

    # -- devices --

    def current(self) -> int:
        """The index of the device in use."""
        return int(self.library.cuda.runtime.getDevice())

    def chosen(self, where: device | None) -> int:
        """The index of a device; the one in use where it has none.

        Raises:
            RuntimeError: if there is none with that index.
        """
        if where is None or where.index is None:
            return self.current()
        if where.index >= self.library.cuda.runtime.getDeviceCount():
            raise RuntimeError("CUDA error: invalid device ordinal")
        return where.index

    def on(self, index: int) -> Any:
        """`with backend.on(index): ...` makes a device the current one."""
        return HERE if index == self.current() else self.library.cuda.Device(index)

    def device_of(self, array: Any) -> device:
        return at(array.device.id)

    def streams(self, where: device) -> CuPyStreams:
        index = self.chosen(where)
        found = self._streams.get(index)
        if found is None:
            found = self._streams.setdefault(index, CuPyStreams(self.library, index))
        return found

    def clock(self) -> CuPyClock:
        return CuPyClock(self.library)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    # -- arrays --

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        try:
            return self._array(value, self.chosen(where), NATIVE[d])
        except self._full as error:
            raise OutOfMemoryError(f"CUDA out of memory. {error}") from None

    def _array(self, value: Any, index: int, native: Any) -> Any:
        with self.on(index):
            if not isinstance(value, self.library.ndarray):
                return self.library.array(np.asarray(value, dtype=native), order="K")
            if value.device.id != index:  # CuPy copies between devices where it is asked for an array on this one
                self.library.cuda.Device(value.device.id).synchronize()
                value = self.library.array(value, order="K")
                return value if value.dtype == native else value.astype(native)
            return value.astype(native, order="K", copy=True)

    def upload(self, host: Any, d: dtype, where: device) -> Any:
        """Return a copy of a host array on a device, asynchronous if the host memory is pinned."""
        with self.on(self.chosen(where)):
            made = self.library.empty(host.shape, NATIVE[d], order="C")
            source = np.ascontiguousarray(host, dtype=NATIVE[d])
            made.set(source)
            self._hold(source)
        return made

    def download(self, array: Any, beside: bool) -> Any:
        """Return a copy in host memory. If `beside`: in pinned memory, complete once the current stream is."""
        if not beside:
            return self.to_numpy(array)
        with self.on(array.device.id):
            host = self.pinned(array.shape, array.dtype)
            array.get(out=host, blocking=False)
            self._hold(host)
        return host

    def _hold(self, host: Any) -> None:
        """Keep host memory alive until the copies submitted to the current stream have completed."""
        while self._copying and self._copying[0][0].done:
            self._copying.popleft()
        event = self.library.cuda.Event(disable_timing=True)
        event.record()
        self._copying.append((event, host))

    def pinned(self, shape: tuple[int, ...], native: Any) -> Any:
        """A NumPy array of pinned memory."""
        count = int(np.prod(shape, dtype=np.int64))
        if not count:
            return np.empty(shape, native)
        memory = self.library.cuda.alloc_pinned_memory(count * np.dtype(native).itemsize)
        return np.frombuffer(memory, native, count).reshape(shape)  # CuPy may give more than was asked for

    def ensure(self, array: Any) -> Any:
        if isinstance(array, self.library.ndarray):
            return array
        return self.library.array(np.asarray(array))

    def cast(self, array: Any, d: dtype) -> Any:
        native = NATIVE[d]
        if array.dtype == native:
            return array
        with self.on(array.device.id):
            if array.dtype.kind == "c" and native.kind != "c":
                array = array.real != 0 if native.kind == "b" else array.real
            return array if array.dtype == native else array.astype(native)

    def copy(self, array: Any) -> Any:
        with self.on(array.device.id):
            return array.copy(order="K")

    def write(self, array: Any, value: Any) -> None:
        with self.on(array.device.id):
            if isinstance(value, np.ndarray):
                value = self.library.array(value)
            if isinstance(value, self.library.ndarray):
                value = self.cast(value, self.dtype_of(array.dtype))
            array[...] = value

    def to_numpy(self, array: Any) -> Any:
        with self.on(array.device.id):
            return array.get()

    # -- operations --

    def making(self, where: device, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with self.on(self.chosen(where)):
                return self.bind(function)(*args, **kwargs)

        return run

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function to run on the device of its arrays, or on the host if CuPy refuses it."""
        bound = self._inside.bind(function)
        name = _name_of(function)

        def launch(*args: Any, **kwargs: Any) -> Any:
            index = self._place((args, kwargs))
            with self.on(self.current() if index is None else index):
                try:
                    return bound(*self._inward(args), **self._inward(kwargs))
                except self._full as error:
                    raise OutOfMemoryError(f"CUDA out of memory. {error}") from None
                except self._refusals as error:
                    # Errors other than refusals are raised again here.
                    result = NUMPY.bind(function)(*self._outward(args), **self._outward(kwargs))
                    self._tell(name, error)
                    return self._inward(result)

        return launch

    def _tell(self, name: str, error: Exception) -> None:
        self.on_host[name] = self.on_host.get(name, 0) + 1
        if self.on_host[name] == 1:
            warnings.warn(
                f"{name} is computed on the host, and copied there and back, because CuPy refuses it: "
                f"{type(error).__name__}: {error}",
                UserWarning,
                stacklevel=4,
            )

    def _place(self, value: Any) -> int | None:
        """The index of the device of the first array in nested arguments."""
        if isinstance(value, self.library.ndarray):
            return int(value.device.id)
        if isinstance(value, list | tuple):
            for item in value:
                found = self._place(item)
                if found is not None:
                    return found
        return self._place(list(value.values())) if isinstance(value, dict) else None

    def _inward(self, value: Any) -> Any:
        """Nested values with host arrays copied to the device: tensors without dimensions, masks."""
        if isinstance(value, np.ndarray):
            return self.library.array(value)
        return nested(self._inward, value)

    def _outward(self, value: Any) -> Any:
        return value.get() if isinstance(value, self.library.ndarray) else nested(self._outward, value)


def _name_of(function: Any) -> str:
    op = getattr(function, "op", None)
    return (op.name if op is not None else getattr(function, "__name__", "?")).strip("_")


def _refusals(library: Any) -> tuple[type[Exception], ...]:
    """Return the exceptions by which CuPy refuses unsupported dtypes, options, methods or kernels."""
    compiler = getattr(getattr(library.cuda, "compiler", None), "CompileException", NotImplementedError)
    return (TypeError, NotImplementedError, AttributeError, ValueError, ImportError, compiler)


class CuPyStreams:
    """Streams, events and pinned memory of one CUDA device, as offloading uses them."""

    def __init__(self, library: Any, index: int) -> None:
        self.library, self.index = library, index
        self.staging: Any = None

    def _here(self) -> Any:
        """Return the device as a context manager: the current device is thread-local."""
        return self.library.cuda.Device(self.index)

    def current(self) -> Any:
        with self._here():
            return self.library.cuda.get_current_stream()

    def new(self) -> Any:
        with self._here():
            return self.library.cuda.Stream(non_blocking=True)

    def record(self, stream: Any) -> Any:
        with self._here():
            event = self.library.cuda.Event(disable_timing=True)
            event.record(stream)
        return event

    def wait(self, stream: Any, event: Any) -> None:
        with self._here():
            stream.wait_event(event)

    def synchronize(self, event: Any) -> None:
        event.synchronize()

    def passed(self, event: Any) -> bool:
        return bool(event.done)

    def pinned(self, nbytes: int) -> Any:
        with self._here():
            return np.frombuffer(self.library.cuda.alloc_pinned_memory(max(nbytes, 1)), np.uint8, nbytes)

    def empty(self, nbytes: int, stream: Any) -> Any:
        with self._here(), stream:
            return self.library.empty(nbytes, np.uint8)

    def to_host(self, array: Any, host: Any, stream: Any) -> None:
        with self._here():
            self._bytes(array).get(stream=stream, out=host, blocking=False)

    def to_device(self, host: Any, array: Any, stream: Any) -> None:
        with self._here():
            self._bytes(array).set(host, stream=stream)

    def _bytes(self, array: Any) -> Any:
        """The memory of an array without gaps, as bytes in their order."""
        order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
        flat = array.transpose(order) if order != list(range(array.ndim)) else array
        if not flat.flags.c_contiguous or any(s < 0 for s in array.strides):
            raise ValueError(f"an array with gaps is not one piece of memory: strides {array.strides} of {array.shape}")
        return flat.reshape(-1).view(np.uint8)

    def shown(self, whole: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], native: Any) -> Any:
        with self._here():
            return self.library.ndarray(shape, native, whole.data + offset, strides)

    def hold(self, array: Any, home: Any, event: Any) -> None:
        self.wait(home, event)


class CuPyClock:
    """Times work of the stream in use by events."""

    def __init__(self, library: Any) -> None:
        self.cuda = library.cuda

    def moment(self) -> Any:
        """An event after all that the stream was given."""
        event = self.cuda.Event()
        event.record()
        return event

    def between(self, first: Any, last: Any) -> float:
        """The microseconds from one to the other. Lets the host wait for the later one."""
        last.synchronize()
        return float(self.cuda.get_elapsed_time(first, last)) * 1e3
