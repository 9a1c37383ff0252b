"""Packed data of device memory: copied to the host asynchronously, kept there, and prefetched for backward.

Stages work on host memory. A policy whose stages do not look at the elements, such as `cpu()`, needs no thread and
does not block: one stream copies out, another one back. Until a copy is done, unpacking returns the source itself.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from threading import RLock
from typing import Any
from weakref import ref

from ...backends import NUMPY
from ...core.tensor import alias
from ..storage import DeviceMemory, strides_of, weakly
from .codec import CopyLimits
from .packed_store import PackedStorage, PackingPlan, afresh
from .transfers import CopyBack, CopyOut, half_of_memory, staging_of

LIMITS = CopyLimits(64 << 20, 64 << 20, half_of_memory())  # the default


class PackedDeviceStorage(PackedStorage):
    """The packed data of one storage of a device.

    Args:
        array: all its elements, contiguous.
        layout: the layout for `undense` if only a tensor's distinct elements are packed, None for a whole storage.
        is_shared: whether `array` is the program's memory, which in-place writes may change.
    """

    def __init__(self, memory: DeviceMemory, array: Any, layout: Any, is_shared: bool, how: PackingPlan) -> None:
        self._staging = staging = staging_of(memory.streams)
        self._limits, self._stats = how.limits, how.stats
        self._native = memory.native
        self._counter = memory.counter
        self._departure: CopyOut | None = None
        self._here = None if how.steps else array
        self._where: Any = None  # the stream for which `_unpacked` was unpacked
        host = None
        if how.steps:
            try:
                self._departure = CopyOut(staging, array, how.limits.pinned, how.stats)
                host = self._departure.host.view(NUMPY.native_of(memory.tensor.dtype))
            except Exception as error:  # raised when it is unpacked
                self._error = error.with_traceback(None)
        super().__init__(host, layout, how, memory.alive, array.nbytes)
        if self._departure is not None and is_shared:
            memory.guard(self)

    @property
    def is_as_it_was(self) -> bool:
        """Whether no stage looks at the elements, so that packing need not wait for the copy to the host."""
        return not any(stage.looks for stage in self.steps)

    @property
    def tier(self) -> str:
        found = super().tier
        return "cpu" if self.steps and found == "memory" else found

    @property
    def can_wait(self) -> bool:
        return self._workers is not None or self.is_as_it_was

    @property
    def is_waiting(self) -> bool:
        return self._ahead is not None or (self._held is not None and not self._held.asked)

    @property
    def holding(self) -> Any:
        return None if self._held is None else self._held.array

    @property
    def arrays(self) -> tuple[Any, ...]:
        if self._here is not None:
            return (self._here,)
        return () if self._error is not None else super().arrays

    def encode(self) -> None:
        if self._error is not None or self._here is not None:
            return
        if self.is_as_it_was:
            super().encode()
            return
        departure = self._departure
        assert departure is not None
        self._land(departure)
        if self._error is None:
            super().encode()
            departure.host = None  # the pinned memory can be reused

    def _land(self, departure: CopyOut) -> None:
        """Wait for the copy to the host. An error is raised when it is unpacked."""
        try:
            departure.finish()
        except Exception as error:
            self._error = error.with_traceback(None)

    def settle(self) -> None:
        super().settle()
        departure = self._departure
        if departure is not None and not departure.look():
            self._land(departure)

    def is_in_flight(self) -> bool:
        """Return whether the source is still kept on the device for a copy that is not done; does not block."""
        return self._departure is not None and not self._departure.look()

    def before_write(self, _: Any) -> None:
        if self._departure is not None:
            self._departure.before_write()

    def _forwarded(self) -> Any:
        """Return the source on the device if it is still there and all stages are lossless; else None."""
        departure = self._departure
        if departure is None or not all(stage.lossless for stage in self.steps):
            return self._here
        return departure.source

    def flat(self) -> Any:
        """Unpack the elements to the device. Tensors that are in use at the same time share the array."""
        self._finish_ahead()
        super().settle()
        if self.error is not None:
            raise afresh(self.error) from None
        home = self._staging.streams.current()
        with self._lock:
            arrival = self._held
            if arrival is not None and (arrival.home != home or self.counter[0]):
                arrival = self._held = None
            array = None if arrival is not None else self._used(home)
            if array is None:
                if arrival is None:
                    arrival = self._arrival(home)
                    self._stats.add(misses=1)
                elif not arrival.asked:
                    self._stats.add(hits=1)
                array = arrival.taken()
                self._unpacked, self._where = ref(array), home
            self._held = None if self.is_last else arrival
        if self._held is not None:
            self._order.holds(self)
        self._tell_order()
        return array

    def tensor(self, recipe: Any, like: Any) -> Any:
        spec, shape = like
        if recipe is None:
            offset, strides = 0, strides_of(self.layout, spec.dtype.itemsize)
        else:
            _, _, offset, strides = recipe
        self.asked += 1
        source = self._forwarded()
        if source is None:
            source, counter = self.flat(), self.counter
        elif source is self._here:
            counter = self.counter
        else:
            counter = self._counter  # the saved memory itself, under its own version counter
            self._stats.add(forwarded=1)
            self._tell_order()
        out = alias(self._staging.streams.shown(source, offset, shape, strides, self._native), spec, shape)
        out._counter = counter
        return out

    def _used(self, home: Any) -> Any:
        """Return the array that was unpacked last for this stream, if it is still in use and unmodified."""
        if self._unpacked is None or self.counter[0] or self._where != home:
            return None
        return self._unpacked()

    def _arrival(self, home: Any) -> CopyBack:
        """Begin the copy back to the device."""
        departure = self._departure
        after = departure.event if departure is not None and self.is_as_it_was else None
        arrival = CopyBack(self._staging, self._decoded_anew(), home, after, self._limits.pinned, self._stats)
        self.counter = [0]
        return arrival

    def fetch(self) -> None:
        if self._held is not None or self._ahead is not None or self.error is not None:
            return
        if self._forwarded() is not None or self._parts is None:
            return
        home = self._staging.streams.current()
        if self._used(home) is not None:
            return
        if self.is_as_it_was:
            self._fetched(home)
        elif self._workers is not None:
            self._ahead = self._workers.add(partial(weakly(self._fetched), home), 0)

    def _fetched(self, home: Any = None) -> None:
        with self._lock, suppress(Exception):  # such as out of memory: unpacking tries again, and raises there
            if self._held is None:
                self._held = self._arrival(home)


class CopiesInFlight:
    """The copies to the host that are in flight, oldest first, at most `window` bytes.

    Attributes:
        peak: the most bytes in flight so far.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self.peak = 0
        self._records: list[ref[PackedDeviceStorage]] = []
        self._lock = RLock()

    def add(self, record: PackedDeviceStorage) -> None:
        """Add a copy, and wait for the oldest until all in flight fit into the window."""
        with self._lock:
            self._records.append(ref(record))
        records = self._under_way()
        size = sum([record.size for record in records])
        for oldest in records:
            if size <= self.window:
                break
            oldest.settle()
            size -= oldest.size
        self.peak = max(self.peak, size)

    def bytes(self) -> int:
        """Return the bytes in flight, which are kept on the device only until they are copied."""
        return sum([record.size for record in self._under_way()])

    def drain(self) -> None:
        """Wait for all copies."""
        for record in self._under_way():
            record.settle()

    def _under_way(self) -> list[PackedDeviceStorage]:
        with self._lock:
            records = [record for known in self._records if (record := known()) is not None and record.is_in_flight()]
            self._records = [ref(record) for record in records]
        return records
