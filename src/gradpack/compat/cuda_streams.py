"""`torch.cuda.Stream` and `torch.cuda.Event`: CuPy's, under torch's names."""

from __future__ import annotations

import threading
from typing import Any

from ..backends import backend_on, cupy_loading
from ..base.devices import device as device_type

__name__ = "gradpack.cuda_streams"


def _backend(name: str) -> Any:
    """The backend of `cuda`.

    Raises:
        RuntimeError: if there is none, in torch's words.
    """
    error = cupy_loading.bring()
    if error is not None:
        raise RuntimeError(f"torch.cuda.{name} requires CUDA support: {error}")
    return backend_on("cuda")


class Stream:
    """A queue of work of one device, which runs in its order and beside that of other streams.

    Args:
        device: of which it is; the one in use by default.
        priority: lower numbers come first.

    Raises:
        RuntimeError: if there is no CUDA device.
    """

    def __init__(self, device: Any = None, priority: int = 0, *, _own: Any = None) -> None:
        backend = _backend("Stream")
        self._index = backend.chosen(None if device is None else _place(device))
        with backend.on(self._index):
            self._own = backend.library.cuda.Stream(non_blocking=True, priority=priority) if _own is None else _own

    @property
    def cuda_stream(self) -> int:
        """The handle, as a number."""
        return int(self._own.ptr)

    @property
    def device(self) -> device_type:
        return cupy_loading.at(self._index)

    @property
    def device_index(self) -> int:
        return self._index

    def query(self) -> bool:
        """Return whether all work submitted to this stream has completed."""
        return bool(self._own.done)

    def synchronize(self) -> None:
        """Block the host until all work submitted to this stream has completed."""
        self._own.synchronize()

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event after all work submitted to this stream so far, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Make the work submitted to this stream from now on wait for an event."""
        if event._own is not None:
            self._own.wait_event(event._own)

    def wait_stream(self, stream: Stream) -> None:
        """Make the work submitted from now on wait for all work already submitted to another stream."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self._index, self.cuda_stream) == (other._index, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self._index, self.cuda_stream))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"

    def __enter__(self) -> Stream:
        context = StreamContext(self)
        context.__enter__()
        _local.entered.append(context)
        return self

    def __exit__(self, *exc: object) -> None:
        _local.entered.pop().__exit__(*exc)


class Event:
    """A moment in a stream, which other streams and the host can wait for.

    Args:
        enable_timing: `elapsed_time` is to be asked for.
        blocking: `synchronize` lets the processor do other work.
        interprocess: other processes are to use it; not with `enable_timing`.

    Raises:
        RuntimeError: if there is no CUDA device.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._cuda = _backend("Event").library.cuda
        self._options = {"block": blocking, "disable_timing": not enable_timing, "interprocess": interprocess}
        self._own: Any = None  # made on the device of the stream that first records it

    def record(self, stream: Stream | None = None) -> None:
        """Record the work submitted to `stream` (default: the current one) so far."""
        given = current_stream() if stream is None else stream
        with self._cuda.Device(given._index):
            if self._own is None:
                self._own = self._cuda.Event(**self._options)
            self._own.record(given._own)

    def wait(self, stream: Stream | None = None) -> None:
        """Make the work submitted to `stream` (default: the current one) from now on wait for this event."""
        (current_stream() if stream is None else stream).wait_event(self)

    def query(self) -> bool:
        """Return whether the event has completed; True if it was never recorded."""
        return self._own is None or bool(self._own.done)

    def synchronize(self) -> None:
        """Block the host until the event has completed."""
        if self._own is not None:
            self._own.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to another one.

        Raises:
            ValueError: unless both were recorded, with timing.
        """
        for event in (self, end_event):
            if event._options["disable_timing"]:
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            if event._own is None:
                raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(self._cuda.get_elapsed_time(self._own, end_event._own))

    def __repr__(self) -> str:
        return "<torch.cuda.Event uninitialized>" if self._own is None else f"<torch.cuda.Event {self._own.ptr:#x}>"


class StreamContext:
    """Give the work of a block to a stream, on its device: what `torch.cuda.stream` returns; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._device: Any = None

    def __enter__(self) -> None:
        if self.stream is not None:
            self._device = _backend("Stream").library.cuda.Device(self.stream._index)
            self._device.__enter__()
            self.stream._own.__enter__()

    def __exit__(self, *exc: object) -> None:
        if self.stream is not None:
            self.stream._own.__exit__(*exc)
            self._device.__exit__(*exc)


class _Local(threading.local):
    def __init__(self) -> None:
        self.entered: list[StreamContext] = []  # the streams that were entered themselves, innermost last


_local = _Local()


def stream(stream: Stream | None) -> StreamContext:
    """Return a `with` block, `with torch.cuda.stream(s): ...`, whose work goes to a stream; None changes nothing."""
    return StreamContext(stream)


def _place(device: Any) -> device_type:
    return device_type("cuda", device) if isinstance(device, int) else device_type(device)


def _chosen(device: Any) -> tuple[Any, int]:
    """The backend of `cuda`, and the index of a device; by default of the one in use."""
    backend = cupy_loading.loaded()
    return backend, backend.chosen(None if device is None else _place(device))


def current_stream(device: Any = None) -> Stream:
    """The stream that work of this thread goes to.

    Raises:
        AssertionError: if CuPy is not installed, in torch's words.
    """
    backend, index = _chosen(device)
    with backend.on(index):
        return Stream(index, _own=backend.library.cuda.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """The stream that work goes to unless another was chosen.

    Raises:
        AssertionError: if CuPy is not installed, in torch's words.
    """
    backend, index = _chosen(device)
    return Stream(index, _own=backend.library.cuda.Stream.null)


def set_stream(stream: Stream | None) -> None:
    """Give the work of this thread to a stream from now on; None changes nothing."""
    if stream is not None:
        cuda = cupy_loading.loaded().library.cuda
        cuda.Device(stream._index).use()
        stream._own.use()
