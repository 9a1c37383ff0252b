"""`torch.cpu.Stream` and its kin, which torch has so that programs for any device run on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base.exits import block

__name__ = "gradpack.cpu"


class Stream:
    """A stream of the CPU: work is done when a call returns."""

    def __init__(self, priority: int = -1) -> None:
        """Take a priority, which has no effect."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing."""

    def record_event(self) -> None:
        """Do nothing."""

    def wait_event(self, event: Any) -> None:
        """Do nothing."""


class Event:
    """An event of the CPU: it has happened."""

    def query(self) -> bool:
        """Return True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Do nothing."""

    def synchronize(self) -> None:
        """Do nothing."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing."""


_streams = [Stream()]


def current_stream(device: Any = None) -> Stream:
    """Return the stream of the innermost block of `stream`."""
    return _streams[-1]


@block
def stream(stream: Stream | None) -> Iterator[None]:
    """Return a context manager in which `current_stream()` is another one."""
    _streams.append(_streams[-1] if stream is None else stream)
    try:
        yield
    finally:
        _streams.pop()


StreamContext = stream
