"""Streams and events of the CPU: work is done when a call returns, so they have nothing to wait for."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ..base.devices import device as device_type

__name__ = "gradpack"


class Stream:
    """A queue of work of a device; `torch.cuda.Stream` is that of CUDA's.

    Raises:
        RuntimeError: for another device than the CPU.
    """

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _on_cpu("Stream", device)
        self.priority, self.stream_id, self.device_index = priority, 0, -1

    def query(self) -> bool:
        """Return True: all work is done."""
        return True

    def synchronize(self) -> None:
        """Return at once: all work is done."""

    def wait_stream(self, stream: Any, /) -> None:
        """Return at once: the work of the other stream is done."""

    def wait_event(self, event: Any, /) -> None:
        """Return at once: the event has happened."""

    def record_event(self, event: Event | None = None) -> Event:
        """Return an event of this stream: the one that is given, or a new one."""
        return Event() if event is None else event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leave the block."""

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device.type}, device_index=-1, stream_id=0"


class Event:
    """A point in the work of a device; `torch.cuda.Event` is that of CUDA's.

    Raises:
        RuntimeError: for another device than the CPU.
    """

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.device = _on_cpu("Event", device)
        self.event_id = 0

    def record(self, stream: Any = None) -> None:
        """Do nothing: all work is done."""

    def query(self) -> bool:
        """Return True: the event has happened."""
        return True

    def wait(self, stream: Any = None) -> None:
        """Return at once: the event has happened."""

    def synchronize(self) -> None:
        """Return at once: the event has happened."""

    def __repr__(self) -> str:
        return f"torch.Event device_type={self.device.type}, device_index=-1, event_flag=0, event_id=0"


def _on_cpu(name: str, device: Any) -> device_type:
    place = device_type("cpu" if device is None else device)
    if place.type != "cpu":
        raise RuntimeError(f"torch.{name}: it is of the CPU here; torch.{place.type}.{name} is that of {place}")
    return place
