"""Streams and events of a simulated device, with detection of data races between streams.

Kernels run at once; copies between host and device that are asked for without blocking wait in
their stream, and run as late as they may: when something that has to come after them does. Then
what a program forgot to wait for shows as wrong numbers. Before that, clocks show it: each stream
counts what it was given, and knows of every other stream up to which count it has waited for it.
Touching a block that another stream wrote later than that raises `StreamRaceError`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from itertools import count
from threading import RLock
from typing import Any, Protocol

from .arena import Arena, Block

_NUMBERS = count()
# The streams of `with stream: ...`, innermost last.
_CURRENT: ContextVar[tuple[Stream, ...]] = ContextVar("gradpack simulated stream", default=())


class Used(Protocol):
    """Memory whose uses by streams are recorded: a block of an arena, or pinned host memory."""

    writer: tuple[int, int] | None  # which stream wrote to it last, and when
    readers: dict[int, int]  # which streams have read it since, and when


class StreamRaceError(RuntimeError):
    """Two streams use the same memory, one of them writes, and nothing says which comes first."""


class Event:
    """A moment in a stream, which other streams and the host can wait for."""

    def __init__(self) -> None:
        self.clock: dict[int, int] = {}
        self.device: Device | None = None
        self.stream: Stream | None = None

    def record(self, stream: Stream | None = None) -> Event:
        """Record all work submitted to the stream so far."""
        if stream is None:
            raise TypeError("Event.record() needs a stream: say which with record(stream)")
        with stream.device.lock:
            self.clock, self.device, self.stream = dict(stream.clock), stream.device, stream
        return self

    def synchronize(self) -> None:
        """Block the host until the event has passed."""
        if self.device is not None:
            self.device.reach(self.clock)

    def query(self) -> bool:
        """Return whether the event has passed. If so, the host is synchronized with it."""
        if self.device is None:
            return True
        with self.device.lock:
            has = all(s.done >= self.clock.get(s.number, 0) for s in self.device.streams)
            if has:
                _join(self.device.host, self.clock)
            return has


class Stream:
    """A queue of work of one device, which runs in its order."""

    def __init__(self, device: Device) -> None:
        self.device, self.number = device, next(_NUMBERS)
        self.clock: dict[int, int] = {self.number: 0}  # of each stream, how much of it comes before what comes now
        self.waiting: deque[tuple[dict[int, int], Callable[[], None]]] = deque()  # with the clock of each
        device.streams.append(self)

    @property
    def done(self) -> int:
        """Return how much of the submitted work has been done."""
        return self.waiting[0][0][self.number] - 1 if self.waiting else self.clock[self.number]

    def wait_event(self, event: Event) -> None:
        """Make work submitted from now on wait for the event."""
        with self.device.lock:
            _join(self.clock, event.clock)

    def wait_stream(self, other: Stream) -> None:
        """Make work submitted from now on wait for all work already submitted to the other stream."""
        self.wait_event(other.record())

    def record(self, event: Event | None = None) -> Event:
        return (event or Event()).record(self)

    def synchronize(self) -> None:
        """Block the host until all work submitted to the stream is done."""
        self.record().synchronize()

    def __enter__(self) -> Stream:
        _CURRENT.set((*_CURRENT.get(), self))
        return self

    def __exit__(self, *exc: object) -> None:
        _CURRENT.set(_CURRENT.get()[:-1])

    def __repr__(self) -> str:
        return f"<stream {self.number} of {self.device}>"


class Device:
    """A simulated accelerator: an arena, streams, and counts of what went on.

    Attributes:
        arena: its memory.
        counts: "h2d", "d2h" and "d2d" copies, and the bytes in each ("h2d_bytes", ...), "syncs" of the host, "kernels".
        forbid_sync: whether the host may not wait for the device now; doing so raises.
    """

    def __init__(self, index: int, capacity: int) -> None:
        self.index = index
        self.lock = RLock()  # one thread at a time gives it work
        self.arena = Arena(f"sim:{index}", capacity, self.lock, self._released, self._flush)
        self.copies: Any = None  # its streams, as others ask for them
        self.streams: list[Stream] = []
        self.host: dict[int, int] = {}
        self.forbid_sync = False
        self._fault: StreamRaceError | None = None
        self._held: list[tuple[int, int, dict[int, int]]] = []  # not to be reused before these counts
        self.reset_counts()
        self.default = Stream(self)

    def reset_counts(self) -> None:
        self.counts = dict.fromkeys("h2d d2h d2d h2d_bytes d2h_bytes d2d_bytes syncs kernels".split(), 0)
        self.arena.reset_peak()

    def count(self, what: str, nbytes: int) -> None:
        """Count one copy of so many bytes."""
        with self.lock:
            self.counts[what] += 1
            self.counts[f"{what}_bytes"] += nbytes

    def current(self) -> Stream:
        """The stream that work of this device goes to now."""
        return next((s for s in reversed(_CURRENT.get()) if s.device is self), self.default)

    def run(self, work: Callable[[], Any], reads: Iterable[Used], writes: Iterable[Used]) -> Any:
        """Run a kernel on the current stream. All that it comes after has happened."""
        stream = self.current()
        with self.lock:
            self._order(stream, reads, writes)
            self.counts["kernels"] += 1
            self._happen(stream.clock)
            return work()

    def later(self, work: Callable[[], None], reads: Iterable[Used], writes: Iterable[Used]) -> None:
        """Submit work to the current stream that runs as late as possible."""
        stream = self.current()
        with self.lock:
            self._order(stream, reads, writes)
            stream.waiting.append((dict(stream.clock), work))

    def reach(self, clock: dict[int, int]) -> None:
        """Block the host until streams have reached these counts."""
        if self.forbid_sync:
            raise RuntimeError(f"sim:{self.index}: the host waits for the device, which is forbidden here")
        with self.lock:
            self.counts["syncs"] += 1
            self._happen(clock)
            _join(self.host, clock)

    def _happen(self, clock: dict[int, int]) -> None:
        """Run the delayed work up to these counts, and the work it depends on."""
        for stream in self.streams:
            while stream.waiting and stream.waiting[0][0][stream.number] <= clock.get(stream.number, 0):
                needed, work = stream.waiting[0]
                self._happen({k: v for k, v in needed.items() if k != stream.number})
                work()
                stream.waiting.popleft()
        self._settle()

    def _flush(self) -> None:
        """Run all delayed work."""
        for stream in self.streams:
            self._happen(stream.clock)

    def synchronize(self) -> None:
        """Let the host wait for all streams."""
        for stream in self.streams:
            stream.synchronize()
        self._raise()

    def _order(self, stream: Stream, reads: Iterable[Used], writes: Iterable[Used]) -> None:
        self._raise()
        _join(stream.clock, {k: v for k, v in self.host.items() if k != stream.number})
        for block in reads:
            self._after(stream, block.writer, "reads", "written")
        for block in writes:
            self._after(stream, block.writer, "writes", "written")
            for reader in block.readers.items():
                self._after(stream, reader, "writes", "read")
        stream.clock[stream.number] = now = stream.clock[stream.number] + 1
        for block in reads:
            block.readers[stream.number] = now
        for block in writes:
            block.writer, block.readers = (stream.number, now), {}

    def _after(self, stream: Stream, other: tuple[int, int] | None, does: str, was: str) -> None:
        if other is not None and other[0] != stream.number and stream.clock.get(other[0], 0) < other[1]:
            raise StreamRaceError(
                f"sim:{self.index}: stream {stream.number} {does} memory that was {was} on stream {other[0]}, and "
                "has not waited for it: use wait_event or wait_stream"
            )

    def _released(self, block: Block) -> bool:
        """Whether a block that nothing refers to may be reused at once."""
        home = next(s for s in self.streams if s.number == block.home)
        uses = dict(block.readers)
        if block.writer is not None:
            uses[block.writer[0]] = max(uses.get(block.writer[0], 0), block.writer[1])
        others = {k: v for k, v in uses.items() if k != block.home and home.clock.get(k, 0) < v}
        unsafe = [k for k in others if k not in block.recorded and self.host.get(k, 0) < others[k]]
        if unsafe:
            self._fault = self._fault or StreamRaceError(
                f"sim:{self.index}: memory was freed while stream {unsafe[0]} may still use it: wait for it before, "
                "or call record_stream"
            )
            return True
        if self._pending(uses):
            self._held.append((block.start, block.size, uses))
            return False
        return True

    def _pending(self, uses: dict[int, int]) -> bool:
        return any(s.done < uses.get(s.number, 0) for s in self.streams)

    def _settle(self) -> None:
        for entry in [e for e in self._held if not self._pending(e[2])]:
            self._held.remove(entry)
            self.arena.free(entry[0], entry[1])

    def _raise(self) -> None:
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    def __repr__(self) -> str:
        return f"<simulated device {self.index}: {self.arena.used} of {self.arena.capacity} bytes used>"


def _join(clock: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    for stream, moment in other.items():
        if clock.get(stream, 0) < moment:
            clock[stream] = moment
    return clock
