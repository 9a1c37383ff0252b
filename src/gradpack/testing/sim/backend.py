"""The simulated device as a backend: each body and formula is one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...backends import NUMPY
from ...backends.numpy import NATIVE, WrappingBackend
from ...base.devices import device
from ...base.dtypes import dtype
from .array import DEVICES, SimArray, asarray, kernel, moved, write
from .copies import SimStreams


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
        found: SimStreams = place.copies
        return found

    def address(self, array: Any) -> int:
        found: int = array.address
        return found

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
