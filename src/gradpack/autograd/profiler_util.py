"""Lists of profiler events, with tables and averages. `torch.autograd.profiler_util`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from .profiling import table as layout
from .profiling.event_parts import DeviceType, FormattedTimesMixin, Interval, Kernel, ProfilerActivity
from .profiling.events import FunctionEvent, FunctionEventAvg
from .profiling.kineto import EventMetadata, MemRecordsAcc, StringTable
from .profiling.table import format_memory as _format_memory  # noqa: F401 - torch's name
from .profiling.table import format_share as _format_time_share  # noqa: F401
from .profiling.table import format_time as _format_time  # noqa: F401

OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"
_METRICS = ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]


_IN_NOTEBOOKS = 50  # rows


class EventList(list[Any]):
    """A list of events, or of averages, that can be shown as a table.

    Args:
        events: the events, or averages of events.
        use_device: the kind of the device that was measured beside the CPU.
        profile_memory: whether tables have columns of memory.
        with_flops: whether tables have a column of floating point operations.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.profiler.profile() as prof:
        ...     _ = torch.ones(100).exp().sum()
        >>> events = prof.function_events
        >>> isinstance(events, torch.autograd.profiler_util.EventList), [event.name for event in events]
        (True, ['aten::ones', 'aten::exp', 'aten::sum'])
        >>> averages = prof.key_averages()
        >>> "aten::exp" in averages.table(sort_by="cpu_time_total")
        True
        >>> events.total_average().count
        3
    """

    def __init__(
        self,
        events: Iterable[Any] = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self._use_device, self._profile_memory, self._with_flops = use_device, profile_memory, with_flops
        self._tree_built = False
        self._memory: list[tuple[float, int, int, str]] = []  # memory changes: time in us, bytes, thread, device

    def _build_tree(self) -> None:
        """Set parent and child events by their times; give backward events the stacks of forward."""
        self._populate_cpu_children()
        self._remove_dup_nodes()
        self._set_backward_stacktraces()
        self._tree_built = True

    def _populate_cpu_children(self) -> None:
        by_thread: dict[tuple[int, int], list[FunctionEvent]] = defaultdict(list)
        for event in self:
            if not event.is_async:
                by_thread[event.thread, event.node_id].append(event)
        for group in by_thread.values():
            group.sort(key=lambda event: (event.time_range.start, -event.time_range.end))
            around: list[FunctionEvent] = []  # the enclosing events, outermost first
            for event in group:
                span = event.time_range
                while around and (span.start >= around[-1].time_range.end or span.end > around[-1].time_range.end):
                    around.pop()
                if around:
                    around[-1].append_cpu_child(event)
                    event.set_cpu_parent(around[-1])
                around.append(event)

    def _remove_dup_nodes(self) -> None:
        """Remove events that are the only child of an event with the same name."""
        kept = []
        for event in self:  # parents come before children
            parent = event.cpu_parent
            if parent is not None and parent.name == event.name and len(parent.cpu_children) == 1:
                parent.cpu_children, parent.kernels = event.cpu_children, event.kernels
                for child in event.cpu_children:
                    child.cpu_parent = parent
            else:
                kept.append(event)
        self[:] = kept

    def _set_backward_stacktraces(self) -> None:
        nodes: Callable[[Any], Any] = lambda e: e if e is None or e.scope == 1 else nodes(e.cpu_parent)  # noqa: E731
        forward: dict[tuple[int, int], Any] = {}
        inside = [(event, nodes(event)) for event in self]
        for event, node in inside:
            if node is None and event.stack:
                forward.setdefault((event.sequence_nr, event.thread), event.stack)
        for event, node in inside:
            if node is not None:
                event.stack = forward.get((node.sequence_nr, node.fwd_thread or 0), [])

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the self CPU times of all events (without child events), in microseconds."""
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Return the events as a table.

        Args:
            sort_by: the attribute to sort by, in descending order: `cpu_time`, `cpu_time_total`,
                `self_cpu_time_total`, `cpu_memory_usage`, `self_cpu_memory_usage`, `count`, ... Default: not sorted.
            row_limit: the largest number of rows; -1 for all.
            header: a line above the table.
            top_level_events_only: leave out child events.
            time_unit: "s", "ms" or "us" for all times; chosen for each by default.

        Raises:
            AttributeError: if events have no attribute `sort_by`.
        """
        if not self:
            return ""
        events: list[Any] = self
        if sort_by is not None:
            events = sorted(events, key=attrgetter(layout.as_device(sort_by)), reverse=True)
        total = sum(event.self_cpu_time_total for event in events)
        device_total = sum(event.self_device_time_total for event in events)
        device = (events[0].use_device or "None").upper()
        has_device = any(event.self_device_time_total > 0 for event in events)
        widths = max_name_column_width, max_shapes_column_width, max_src_column_width
        columns = self._columns(events, widths, time_unit)
        rule = "".join("-" * wide + layout.GAP for _, _, wide, _ in columns)
        double = "=" * (len(rule) - len(layout.GAP))
        rows = [] if header is None else [double, header]
        shown: list[Any] = events
        if top_level_events_only:
            rows += [double, "This report only display top-level ops statistics"]
            shown = [event for event in events if event.cpu_parent is None]
        rows += [rule, *layout.lines(columns, [title for title, *_ in columns]), rule]
        for event in shown if row_limit < 0 else shown[:row_limit]:
            rows += layout.lines(columns, [cell(event) for *_, cell in columns])
        rows += [rule, f"Self CPU time total: {layout.format_time(total, time_unit)}"]
        if has_device:
            rows.append(f"Self {device} time total: {layout.format_time(device_total, time_unit)}")
        return "\n".join(rows) + "\n"

    def _columns(
        self, events: list[Any], widths: tuple[int | None, int | None, int | None], time_unit: str | None
    ) -> list[Any]:
        """Return the columns of a table: of each its name, what it is for, its width, and the text of an event."""
        total = sum(event.self_cpu_time_total for event in events)
        device_total = sum(event.self_device_time_total for event in events)
        device = (events[0].use_device or "None").upper()
        for event in events:
            event.self_cpu_percent = layout.format_share(event.self_cpu_time_total, total)
            event.total_cpu_percent = layout.total_share(event, total)
        columns = layout.name_columns(events, widths[0])
        columns += layout.time_columns(total, device_total, device if device_total > 0 else None, time_unit)
        columns += layout.memory_columns(events, device) if self._profile_memory else []
        columns += layout.call_columns(events, *widths[1:])
        return columns + (layout.flops_columns(events) if self._with_flops else [])

    def _repr_html_(self) -> str:
        """Return what notebooks show: the table, the events that took longest first."""
        from ..base.html import framed, table

        events: list[Any] = sorted(self, key=attrgetter("self_cpu_time_total"), reverse=True)
        if not events:
            return framed("profile", ["no events"], "")
        columns = self._columns(events, (None, None, None), None)
        cells = [[cell(event) for *_, cell in columns] for event in events[:_IN_NOTEBOOKS]]
        if len(events) > _IN_NOTEBOOKS:
            cells.append([f"{len(events) - _IN_NOTEBOOKS} more", *[""] * (len(columns) - 1)])
        facts = [f"{len(events)} events", f"{layout.format_time(self.self_cpu_time_total, None)} of CPU time"]
        return framed("profile", facts, table([title for title, *_ in columns], cells, range(1, len(columns))))

    def export_chrome_trace(self, path: str) -> None:
        """Export a trace for chrome://tracing and Perfetto."""
        from .profiling.trace import write_trace

        write_trace(path, self, self._memory, {})

    def supported_export_stacks_metrics(self) -> list[str]:
        """Return the metrics that `export_stacks` accepts."""
        return list(_METRICS)

    def export_stacks(self, path: str, metric: str) -> None:
        """Write a line for each event with its call stack, outermost first, and its metric, for flame graphs.

        Raises:
            ValueError: for a metric that is not in `supported_export_stacks_metrics()`.
        """
        if metric not in _METRICS:
            raise ValueError(f"metric should be one of: {_METRICS}")
        safe = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                value = int(getattr(event, layout.as_device(metric)))
                if event.stack and value > 0:
                    file.write(";".join(entry.translate(safe) for entry in reversed(event.stack)) + f" {value}\n")

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return sums over events of the same name.

        Args:
            group_by_input_shapes: group by the shapes of arguments, too.
            group_by_stack_n: group by this many innermost callers, too.
            group_by_overload_name: group by the overload, too.
        """
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        groups: dict[tuple[Any, ...], FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            key = [event.key, event.node_id, event.device_type, event.is_legacy, event.is_user_annotation]
            if group_by_overload_name:
                key.append(event.overload_name)
            if group_by_input_shapes:
                key.append(str(event.input_shapes))
            if group_by_stack_n > 0:
                key += (event.stack or [])[:group_by_stack_n]
            groups[tuple(key)].add(event)
        for average in groups.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        found = EventList(groups.values(), use_device=self._use_device, with_flops=self._with_flops)
        found._profile_memory = self._profile_memory
        return found

    def total_average(self) -> FunctionEventAvg:
        """Return the sums over all events."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = None
        total.key = "Total"
        return total


__all__ = ["DeviceType", "EventList", "EventMetadata", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg"]
__all__ += ["Interval", "Kernel", "MemRecordsAcc", "ProfilerActivity", "StringTable"]
