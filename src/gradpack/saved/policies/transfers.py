"""Asynchronous copies between a device and the host, with one stream for each direction, and pinned host memory.

A source is kept alive until its copy is done. The stream that uses an arriving copy waits for it; the host does not.
The host waits only where memory is to be freed: see `CopyOut.finish`.

Allocating pinned memory takes milliseconds, and it is not available to other processes: so a pool keeps slabs of
exactly the requested sizes for reuse, up to a limit. Beyond it the pool returns pageable memory, from and to which
copies are slower.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass, fields
from threading import RLock
from time import perf_counter
from typing import Any

import numpy as np

from ...backends.memory_layout import owner_of
from ...backends.streams import Streams
from ...base.sizes import shown
from ..storage import Finalized, FinalizedQueue


class Staging:
    """The copy streams, one for each direction, and the pinned memory of a device, shared by all policies."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self.out, self.back = streams.new(), streams.new()
        self.pool = Pool(streams)


_LOCK = RLock()


def staging_of(streams: Streams) -> Staging:
    """Return the staging of a device, made at first use."""
    with _LOCK:
        found: Staging | None = streams.staging
        if found is None:
            found = streams.staging = Staging(streams)
        return found


@dataclass(slots=True)
class Transfers:
    """Counts of a policy's copies between devices and the host.

    Attributes:
        out, back: the number of copies to the host, and to the device.
        bytes_out, bytes_back: their bytes.
        hits: how often an unpacked tensor had been prefetched.
        misses: how often it had not, so that its copy began only then.
        forwarded: how often it was still on the device, and was used there.
        waited_ms: milliseconds that the host waited for copies.
    """

    out: int = 0
    back: int = 0
    bytes_out: int = 0
    bytes_back: int = 0
    hits: int = 0
    misses: int = 0
    forwarded: int = 0
    waited_ms: float = 0.0

    def add(self, **more: float) -> None:
        """Add to these counts, and to those of all policies (`ALL`)."""
        with _LOCK:
            for counts in (self, ALL):
                for name, by in more.items():
                    setattr(counts, name, getattr(counts, name) + by)

    def since(self, before: Transfers) -> Transfers:
        """Return the difference of these counts and earlier ones."""
        names = [field.name for field in fields(self)]
        return Transfers(*[getattr(self, name) - getattr(before, name) for name in names])

    def __str__(self) -> str:
        return (
            f"{shown(self.bytes_out)} to the host, {shown(self.bytes_back)} back: {self.hits} hits, {self.misses} "
            f"misses, {self.forwarded} forwarded, {self.waited_ms:.1f} ms waited"
        )


ALL = Transfers()  # the counts of all policies


class CopyOut:
    """A copy to the host.

    Attributes:
        source: the array of the device; None once the copy is done, or before an in-place write to the array.
        host: the destination in host memory, an array of uint8.
        event: recorded after the copy.
    """

    def __init__(self, staging: Staging, source: Any, cap: int, stats: Transfers) -> None:
        streams = staging.streams
        self.source: Any = None  # for `__del__`, if this method raises
        self._staging, self._stats = staging, stats
        self._home = home = streams.current()
        self.host = host = staging.pool.take(source.nbytes, cap)
        slab = staging.pool.slab(host)
        streams.wait(staging.out, streams.record(home))
        if slab is not None and slab.event is not None:
            streams.wait(staging.out, slab.event)
        streams.to_host(source, host, staging.out)
        self.event = streams.record(staging.out)
        if slab is not None:
            slab.event = self.event
        self.source = source
        stats.add(out=1, bytes_out=source.nbytes)

    def look(self) -> bool:
        """Release the source if the copy is done; return whether it is released."""
        if self.source is not None and self._staging.streams.passed(self.event):
            self.source = None
        return self.source is None

    def finish(self) -> None:
        """Make the host wait until the copy is done, and release the source."""
        start, streams = perf_counter(), self._staging.streams
        try:
            streams.synchronize(self.event)
        except Exception:
            if self.source is not None:  # the device may still be reading it
                streams.hold(self.source, self._home, self.event)
            raise
        finally:
            self._stats.add(waited_ms=(perf_counter() - start) * 1e3)
            self.source = None

    def before_write(self) -> None:
        """Make the current stream, which is about to write to the source, wait for the copy."""
        streams, source = self._staging.streams, self.source
        if source is not None:
            streams.wait(streams.current(), self.event)
            streams.hold(source, self._home, self.event)
            self.source = None

    def __del__(self) -> None:
        source = self.source
        if source is not None:
            self._staging.streams.hold(source, self._home, self.event)


class CopyBack:
    """A copy to the device.

    Attributes:
        array: its bytes on the device, as uint8. To be used on the stream `home`.
        asked: whether it was used yet.
    """

    def __init__(self, staging: Staging, data: Any, home: Any, after: Any, cap: int, stats: Transfers) -> None:
        """Begin the copy.

        Args:
            data: a contiguous array in host memory.
            home: the stream that will use it.
            after: an event after which `data` is complete; None if it is already.
        """
        streams, pool = staging.streams, staging.pool
        self._staging, self.home, self.asked = staging, home, False
        self._event: Any = None
        host = data.reshape(-1).view("uint8")
        slab = pool.slab(host)
        if slab is None:
            host, slab = self._staged(host, cap, stats)
        self.array = streams.empty(host.nbytes, home)
        streams.wait(staging.back, streams.record(home))  # `home` may still use the memory's former contents
        if after is not None:
            streams.wait(staging.back, after)
        streams.to_device(host, self.array, staging.back)
        self._event = streams.record(staging.back)
        if slab is not None:
            slab.event = self._event
        stats.add(back=1, bytes_back=host.nbytes)

    def _staged(self, host: Any, cap: int, stats: Transfers) -> tuple[Any, Any]:
        """Return a copy of the bytes in pinned memory and its slab; the bytes themselves and None if there is none."""
        pool = self._staging.pool
        place = pool.take(host.nbytes, cap)
        slab = pool.slab(place)
        if slab is None:
            return host, None
        if slab.event is not None:
            start = perf_counter()
            self._staging.streams.synchronize(slab.event)
            stats.add(waited_ms=(perf_counter() - start) * 1e3)
        place[:] = host
        return place, slab

    def taken(self) -> Any:
        """Return the array; all later work on the stream `home` waits for the copy."""
        self.asked = True
        event, self._event = self._event, None
        if event is not None:
            self._staging.streams.wait(self.home, event)
        return self.array

    def __del__(self) -> None:
        event = self._event
        if event is not None:
            self._staging.streams.hold(self.array, self.home, event)


class Slab:
    """A block of pinned memory.

    Attributes:
        memory: the whole block, as an array of uint8.
        event: recorded after the last copy from or to it; None before the first copy.
    """

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.event: Any = None


class Pool:
    """The pinned memory of one device.

    Attributes:
        total: pinned bytes, in use or not.
        made: how many slabs were allocated.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self.total = self.made = 0
        self._idle: OrderedDict[int, list[Slab]] = OrderedDict()  # by size, the least recently used size first
        self._lent: dict[int, Finalized] = {}  # arrays in slabs, by id
        self._endings = FinalizedQueue()
        self._lock = RLock()

    def take(self, nbytes: int, cap: int) -> Any:
        """Return an uninitialized uint8 array of `nbytes`, pinned unless the pool would then exceed `cap` bytes.

        The device may still use the memory: wait for `slab(array).event` before use. The slab is returned to the pool
        when the array and all views of it are gone.
        """
        with self._lock:
            self._settle()
            slab = self._slab(nbytes, cap)
            if slab is None:
                return np.empty(nbytes, np.uint8)
            array = np.frombuffer(memoryview(slab.memory), np.uint8)  # each loan is a storage of its own
            self._lent[id(array)] = self._endings.watch(array, (id(array), slab))
            return array

    def slab(self, array: Any) -> Slab | None:
        """Return the slab that an array is in, or None."""
        whole = owner_of(array)
        lent = self._lent.get(id(whole))
        return lent.data[1] if lent is not None and lent() is whole else None

    @property
    def in_use(self) -> int:
        """Pinned bytes in use."""
        with self._lock:
            self._settle()
            return sum(lent.data[1].memory.nbytes for lent in self._lent.values())

    def _slab(self, nbytes: int, cap: int) -> Slab | None:
        found = self._idle.get(nbytes)
        if found:
            self._idle.move_to_end(nbytes)
            return found.pop(0)  # the oldest, whose copies are most likely done
        self._shrink(cap - nbytes)
        if self.total + nbytes > cap:
            return None
        try:
            memory = self._streams.pinned(nbytes)
        except MemoryError:
            return None
        self.total += nbytes
        self.made += 1
        return Slab(memory)

    def _shrink(self, most: int) -> None:
        """Free unused slabs until at most `most` bytes are pinned or all are in use."""
        while self.total > most and self._idle:
            size, slabs = next(iter(self._idle.items()))
            if slabs:
                slab = slabs.pop(0)
                if slab.event is not None:
                    self._streams.synchronize(slab.event)
                self.total -= size
            if not slabs:
                del self._idle[size]

    def _settle(self) -> None:
        for lent in self._endings.over():
            key, slab = lent.data
            if self._lent.get(key) is lent:
                del self._lent[key]
            self._idle.setdefault(slab.memory.nbytes, []).append(slab)


def half_of_memory() -> int:
    """Return half of the machine's physical memory, in bytes; 16 GiB if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not available on this system
        return 16 << 30
