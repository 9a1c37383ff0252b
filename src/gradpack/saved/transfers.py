"""Copies between a device and the host that go on beside the program, each way on a stream of its own.

A source stays alive until its copy is done, and what arrives is waited for by the stream that uses it, not by the
host. The host waits only where memory is to be free again: see `Departure.finish`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..base.sizes import shown
from .pinned import Pool

if TYPE_CHECKING:
    from ..backends.streams import Streams


class Staging:
    """What all policies share of one device: a stream for each direction, and pinned memory."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self.out, self.back = streams.new(), streams.new()
        self.pool = Pool(streams)


_LOCK = RLock()


def staging_of(streams: Streams) -> Staging:
    """The staging of a device."""
    with _LOCK:
        found: Staging | None = streams.staging
        if found is None:
            found = streams.staging = Staging(streams)
        return found


@dataclass(slots=True)
class Transfers:
    """What a policy has copied between devices and the host.

    Attributes:
        out, back: how many copies to the host, and to the device.
        bytes_out, bytes_back: their bytes.
        hits: how often what was asked for was on its way back, or there.
        misses: how often it was not: its copy began only then.
        forwarded: how often it had not left the device yet.
        waited_ms: how long the host waited for copies.
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
        """Count, here and for all."""
        with _LOCK:
            for counts in (self, ALL):
                for name, by in more.items():
                    setattr(counts, name, getattr(counts, name) + by)

    def since(self, before: Transfers) -> Transfers:
        """What was added to these counts since they were others."""
        names = [field.name for field in fields(self)]
        return Transfers(*[getattr(self, name) - getattr(before, name) for name in names])

    def __str__(self) -> str:
        return (
            f"{shown(self.bytes_out)} to the host, {shown(self.bytes_back)} back: {self.hits} hits, {self.misses} "
            f"misses, {self.forwarded} forwarded, {self.waited_ms:.1f} ms waited"
        )


ALL = Transfers()  # of all policies


class Departure:
    """A copy to the host.

    Attributes:
        source: the array of the device, until the copy is done or somebody writes to the array.
        host: where its bytes go.
        event: when they are there.
    """

    __slots__ = ("_home", "_staging", "_stats", "event", "host", "source")

    def __init__(self, staging: Staging, source: Any, cap: int, stats: Transfers) -> None:
        streams = staging.streams
        self.source: Any = None  # what dies half-made has nothing to hold
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
        """Let go of the source if the copy is done, and say whether it is gone."""
        if self.source is not None and self._staging.streams.passed(self.event):
            self.source = None
        return self.source is None

    def finish(self) -> None:
        """Let the host wait until the copy is done."""
        start, streams = perf_counter(), self._staging.streams
        try:
            streams.synchronize(self.event)
        except Exception:
            if self.source is not None:  # nobody knows whether the device is done with it
                streams.hold(self.source, self._home, self.event)
            raise
        finally:
            self._stats.add(waited_ms=(perf_counter() - start) * 1e3)
            self.source = None

    def before_write(self) -> None:
        """Let who writes to the source now wait for the copy, on the device."""
        streams, source = self._staging.streams, self.source
        if source is not None:
            streams.wait(streams.current(), self.event)
            streams.hold(source, self._home, self.event)
            self.source = None

    def __del__(self) -> None:
        source = self.source
        if source is not None:
            self._staging.streams.hold(source, self._home, self.event)


class Arrival:
    """A copy to the device.

    Attributes:
        array: its bytes there, as uint8. To be used on the stream `home`.
        asked: has anybody asked for it yet?
    """

    __slots__ = ("_event", "_staging", "array", "asked", "home")

    def __init__(self, staging: Staging, data: Any, home: Any, after: Any, cap: int, stats: Transfers) -> None:
        """Begin to copy.

        Args:
            data: a contiguous array in host memory.
            home: the stream that will use it.
            after: an event, after which `data` is there; None if it is.
        """
        streams, pool = staging.streams, staging.pool
        self._staging, self.home, self.asked = staging, home, False
        self._event: Any = None
        host = data.reshape(-1).view("uint8")
        slab = pool.slab(host)
        if slab is None:
            host, slab = self._staged(host, cap, stats)
        self.array = streams.empty(host.nbytes, home)
        streams.wait(staging.back, streams.record(home))  # which may still use the memory for what was there
        if after is not None:
            streams.wait(staging.back, after)
        streams.to_device(host, self.array, staging.back)
        self._event = streams.record(staging.back)
        if slab is not None:
            slab.event = self._event
        stats.add(back=1, bytes_back=host.nbytes)

    def _staged(self, host: Any, cap: int, stats: Transfers) -> tuple[Any, Any]:
        """The bytes in pinned memory, or as they are if there is none."""
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
        """The array. What its stream does from now on comes after the copy."""
        self.asked = True
        event, self._event = self._event, None
        if event is not None:
            self._staging.streams.wait(self.home, event)
        return self.array

    def __del__(self) -> None:
        event = self._event
        if event is not None:
            self._staging.streams.hold(self.array, self.home, event)
