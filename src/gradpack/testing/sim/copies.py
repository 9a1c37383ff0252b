"""The streams of a simulated device, as `backends/streams.py` asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import SimArray, empty, pinned, pinned_root
from .streams import Device, Event, Stream


class SimStreams:
    """Streams and pinned memory of one simulated device. Copies from and to pinned memory run as late as they may."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.staging: Any = None

    def current(self) -> Stream:
        return self.device.current()

    def new(self) -> Stream:
        return Stream(self.device)

    def record(self, stream: Stream) -> Event:
        return stream.record()

    def wait(self, stream: Stream, event: Event) -> None:
        stream.wait_event(event)

    def synchronize(self, event: Event) -> None:
        event.synchronize()

    def passed(self, event: Event) -> bool:
        return event.query()

    def pinned(self, nbytes: int) -> Any:
        return pinned(nbytes, np.uint8)

    def empty(self, nbytes: int, stream: Stream) -> SimArray:
        with stream:
            return empty(nbytes, np.uint8, self.device)

    def to_host(self, array: SimArray, host: Any, stream: Stream) -> None:
        source, root = array.raw(), pinned_root(host)
        place = host if root is None else _in_root(host, root)
        self.device.count("d2h", array.nbytes)
        with stream:
            self.device.later(lambda: np.copyto(place, source), [array.block], [] if root is None else [root])
            if root is None:
                stream.synchronize()

    def to_device(self, host: Any, array: SimArray, stream: Stream) -> None:
        target, root = array.raw(), pinned_root(host)
        source = host.copy() if root is None else _in_root(host, root)
        self.device.count("h2d", array.nbytes)
        with stream:
            self.device.later(lambda: np.copyto(target, source), [] if root is None else [root], [array.block])

    def shown(self, whole: SimArray, offset: int, shape: Any, strides: Any, native: Any) -> SimArray:
        block, arena = whole.block, self.device.arena
        first = whole.address - arena.address - block.start + offset
        array = arena.array(block, shape, np.dtype(native), strides, first)
        return SimArray(array, block, self.device, whole if whole.base is None else whole.base)

    def hold(self, array: SimArray, home: Stream, event: Event) -> None:
        if event.stream is not None:
            array.record_stream(event.stream)


def _in_root(host: Any, root: Any) -> Any:
    """Return the same bytes as a part of the whole pinned buffer, so that a delayed copy keeps only that alive."""
    start = host.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return root[start : start + host.nbytes]
