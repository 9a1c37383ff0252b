"""The simulated device as a backend, where each body and formula is one kernel, and its streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...backends import NUMPY
from ...backends.numpy import NATIVE, WrappingBackend
from ...base.devices import device
from ...base.dtypes import dtype
from .array import DEVICES, SimArray, asarray, empty, kernel, moved, pinned, pinned_root, write
from .streams import Device, Event, Stream


class SimBackend(WrappingBackend):
    name = "sim"
    array_types = (SimArray,)
    xp = np  # whose functions dispatch to arrays of the device

    def device_of(self, array: Any) -> device:
        return device("sim", array.device.index)

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        place = DEVICES[chosen(where)]
        if isinstance(value, SimArray):
            return moved(value, place) if place is not value.device else self.copy(value)
        return asarray(value, place, NATIVE[d])

    def cast(self, array: Any, d: dtype) -> Any:
        return array if array.dtype == NATIVE[d] else kernel(lambda a: NUMPY.cast(a, d))(array)

    def copy(self, array: Any) -> Any:
        return kernel(NUMPY.copy)(array)

    def write(self, array: Any, value: Any) -> None:
        write(array, value)

    def to_numpy(self, array: Any) -> Any:
        return array.get()

    def streams(self, where: device) -> SimStreams:
        place = DEVICES[chosen(where)]
        if place.copies is None:
            place.copies = SimStreams(place)
        return place.copies

    def address(self, array: Any) -> int:
        return array.address

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return kernel(NUMPY.bind(function))


def chosen(where: device) -> int:
    """The index of a device.

    Raises:
        RuntimeError: if there is none with that index.
    """
    index = where.index or 0
    if index >= len(DEVICES):
        raise RuntimeError(f"there is no device {str(where)!r}: there are {len(DEVICES)} simulated devices")
    return index


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
        array.get(stream, _in_root(host), blocking=False, raw=True)

    def to_device(self, host: Any, array: SimArray, stream: Stream) -> None:
        array.set(_in_root(host), stream, raw=True)

    def shown(self, whole: SimArray, offset: int, shape: Any, strides: Any, native: Any) -> SimArray:
        block, arena = whole.block, self.device.arena
        first = whole.address - arena.address - block.start + offset
        array = arena.array(block, shape, np.dtype(native), strides, first)
        return SimArray(array, block, self.device, whole if whole.base is None else whole.base)

    def hold(self, array: SimArray, home: Stream, event: Event) -> None:
        if event.stream is not None:
            array.record_stream(event.stream)


def _in_root(host: Any) -> Any:
    """Return pinned bytes as a part of their whole buffer, so that a delayed copy keeps only that alive."""
    root = pinned_root(host)
    if root is None:
        return host
    start = host.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return root[start : start + host.nbytes]
