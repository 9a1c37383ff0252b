"""The streams of a CUDA device through CuPy, as `streams.py` asks for them.

CuPy's memory pool gives memory that is freed to whoever next asks for some on the same stream, without waiting: that
is in order on this stream, and so its home has to wait for others that still use it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


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
