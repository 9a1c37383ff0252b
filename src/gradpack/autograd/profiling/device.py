"""Device times in a profile: timestamps in the device's stream before and after each operation and node.

They are read when the events are built, so that recording does not synchronize.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable
from threading import get_ident
from time import perf_counter_ns
from typing import Any, NamedTuple

from ...backends import backend_on
from ...base.devices import bring
from ...base.modes import Mode
from ...declare.generate.profiling import OP
from ...graph.node import Node
from .events import FunctionEvent
from .recorder import Call, PassObserver, Recorder


def clock_of(kind: str) -> Any:
    """The clock of a kind of device; None if it has none."""
    bring(kind)
    backend = backend_on(kind)
    return None if backend is None else backend.clock()


class Span(NamedTuple):
    """Work that was given to a device: host thread, start and end on the host in ns, timestamps in the stream."""

    ident: int
    start: int
    end: int
    first: Any
    last: Any


class DeviceRecorder(Recorder):
    """A `Recorder` that also records timestamps on a device."""

    def __init__(self, clock: Any, **options: Any) -> None:
        super().__init__(**options)
        self.clock = clock
        self.spans: list[Span] = []
        self.append = None  # makes operations call `around`

    def around(self, op: Any, name: str, run: Call, values: tuple[Any, ...], mode: Mode, kind: int = OP) -> Any:
        """Run an operation, and record it."""

        def timed(*values: Any) -> Any:
            start, first = perf_counter_ns(), self.clock.moment()
            try:
                return run(*values)
            finally:
                self.spans.append(Span(get_ident(), start, perf_counter_ns(), first, self.clock.moment()))

        return super().around(op, name, timed, values, mode, kind)

    def nodes(self) -> PassObserver:
        """Return an observer for a backward pass."""
        return DevicePassObserver(self)

    def finish(self, events: Any, number: Callable[[int], int]) -> None:
        """Add to each event the time of its own work on the device, without that of child events."""
        by_thread: dict[int, list[FunctionEvent]] = defaultdict(list)
        for event in events:
            by_thread[event.thread].append(event)
        starts = {thread: [e.time_range.start for e in found] for thread, found in by_thread.items()}
        totals: dict[int, float] = {}  # by event, child events included
        for span in self.spans:
            thread = number(span.ident)
            start, end = ((t - self.start_ns) / 1000 for t in (span.start, span.end))
            place = bisect_right(starts.get(thread, []), start)
            event = by_thread[thread][place - 1] if place else None
            while event is not None and event.time_range.end < end:
                event = event.cpu_parent
            if event is not None:
                totals[event.id] = totals.get(event.id, 0.0) + self.clock.between(span.first, span.last)
        for event in reversed(events):  # child events come after their parent
            inside = sum(totals.get(child.id, 0.0) for child in event.cpu_children)
            own = totals.get(event.id, 0.0) - inside
            totals[event.id] = max(own, 0.0) + inside
            if own > 0:
                event.append_kernel(event.name, 0, own)


class DevicePassObserver(PassObserver):
    """Observes the nodes of a backward pass, with their device times."""

    __slots__ = ("clock", "first", "spans", "started")

    def __init__(self, recorder: DeviceRecorder) -> None:
        super().__init__(recorder)
        self.clock, self.spans = recorder.clock, recorder.spans
        self.named = None
        self.first: Any = None
        self.started = 0

    def start(self, node: Node, g: Any) -> None:
        """Called before a node runs."""
        super().start(node, g)
        self.started, self.first = perf_counter_ns(), self.clock.moment()

    def end(self, grads: Any) -> None:
        """Called after a node has run."""
        if self.first is not None:
            self.spans.append(Span(get_ident(), self.started, perf_counter_ns(), self.first, self.clock.moment()))
            self.first = None
        super().end(grads)
