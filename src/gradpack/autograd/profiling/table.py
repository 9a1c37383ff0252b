"""Profiler events as a table, in torch's layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, log10
from typing import Any

_WIDTH = 12
_GAP = "  "
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_DEVICES = ("cuda", "xpu", "privateuse1")
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")

Column = tuple[str, str, int, Callable[[Any], Any]]  # title, ">" or "<", width, cell text for an event


def as_device(name: str) -> str:
    """Replace the kind of device in an attribute name: `self_cuda_time_total` -> `self_device_time_total`."""
    for device in _DEVICES:
        name = name.replace(device, "device")
    return name


def format_time(time_us: float, unit: str | None = None) -> str:
    """Format a time in microseconds: `1.500ms`."""
    if unit not in _MICROSECONDS:
        unit = "s" if time_us >= 1e6 else "ms" if time_us >= 1e3 else "us"
    return f"{time_us / _MICROSECONDS[unit]:.3f}{unit}"


def format_share(time_us: float, total_us: float) -> str:
    """Format a share of a time: `12.50%`; NaN if the total is zero."""
    return f"{time_us * 100.0 / total_us:.2f}%" if total_us else "NaN"


def format_memory(nbytes: int) -> str:
    """Format a number of bytes: `1.50 KB`."""
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


def _shortened(text: str, width: int | None) -> str:
    return text if width is None or len(text) < width - 3 else text[: width - 3] + "..."


def _end_of(path: str, width: int) -> str:
    path = path[max(0, len(path) - width) :]
    return path if len(path) < width or width <= 3 else "..." + path[3:]


def _at_most(width: int, most: int | None) -> int:
    return width if most is None else min(width, most)


def build_table(
    events: Sequence[Any],
    sort_by: str | None = None,
    header: str | None = None,
    row_limit: int = 100,
    max_src_column_width: int | None = 75,
    max_name_column_width: int | None = 55,
    max_shapes_column_width: int | None = 80,
    with_flops: bool = False,
    profile_memory: bool = False,
    top_level_events_only: bool = False,
    time_unit: str | None = None,
) -> str:
    """Return events, or averages, as a table; an empty string if there are none. See `EventList.table`."""
    if not events:
        return ""
    if sort_by is not None:
        name = as_device(sort_by)
        events = sorted(events, key=lambda event: getattr(event, name), reverse=True)
    total = sum(event.self_cpu_time_total for event in events)
    device_total = sum(event.self_device_time_total for event in events)
    device = (events[0].use_device or "None").upper()
    columns: list[Column] = []

    def time(title: str, name: str) -> None:
        columns.append((title, ">", _WIDTH, lambda event: format_time(getattr(event, name), time_unit)))

    def share(title: str, name: str, whole: float) -> None:
        columns.append((title, ">", _WIDTH, lambda event: format_share(getattr(event, name), whole)))

    def memory(title: str, name: str) -> None:
        columns.append((title, ">", _WIDTH, lambda event: format_memory(getattr(event, name))))

    width = _at_most(max(len(event.key) for event in events) + 4, max_name_column_width)
    columns.append(("Name", ">", width, lambda event: _shortened(event.key, max_name_column_width)))
    if any(event.overload_name for event in events):
        overload: Callable[[Any], str] = lambda event: _shortened(event.overload_name or "", max_name_column_width)  # noqa: E731
        columns.append(("Overload Name", ">", width, overload))
    share("Self CPU %", "self_cpu_time_total", total)
    time("Self CPU", "self_cpu_time_total")
    columns.append(("CPU total %", ">", _WIDTH, lambda e: 0 if e.is_async else format_share(e.cpu_time_total, total)))
    time("CPU total", "cpu_time_total")
    time("CPU time avg", "cpu_time")
    has_device = any(event.self_device_time_total > 0 for event in events)
    if has_device:
        time(f"Self {device}", "self_device_time_total")
        share(f"Self {device} %", "self_device_time_total", device_total)
        time(f"{device} total", "device_time_total")
        time(f"{device} time avg", "device_time")
    if profile_memory:
        memory("CPU Mem", "cpu_memory_usage")
        memory("Self CPU Mem", "self_cpu_memory_usage")
        if any(event.device_memory_usage for event in events):
            memory(f"{device} Mem", "device_memory_usage")
            memory(f"Self {device} Mem", "self_device_memory_usage")
    columns.append(("# of Calls", ">", _WIDTH, lambda event: event.count))
    if any(event.node_id != -1 for event in events):
        columns.append(("Node ID", ">", _WIDTH, lambda event: event.node_id))
    if any(event.input_shapes for event in events):
        shapes = _at_most(max(len(str(event.input_shapes)) for event in events) + 4, max_shapes_column_width)
        columns.append(("Input Shapes", ">", shapes, lambda event: str(event.input_shapes)[:shapes]))
    source: Column | None = None
    stacks = [event.stack for event in events if event.stack]
    if stacks:
        place = _at_most(max(len(entry) for stack in stacks for entry in stack) + 4, max_src_column_width)
        source = ("Source Location", "<", place, lambda event: _end_of(event.stack[0], place) if event.stack else "")
        columns.append(source)
    known = [event.flops for event in events if event.flops]
    if with_flops and known:
        step = int(max(0, min(floor(log10(min(known)) / 3), len(_FLOPS) - 1)))
        flops: Callable[[Any], str] = lambda e: f"{e.flops / 1000**step:8.3f}" if e.flops else "--"  # noqa: E731
        columns.append((f"Total {_FLOPS[step]}", ">", _WIDTH, flops))

    def line(cells: list[Any]) -> str:
        parts = (f"{cell!s:{side}{wide}}" for cell, (_, side, wide, _) in zip(cells, columns, strict=True))
        return "".join(part + _GAP for part in parts)

    rule = "".join("-" * wide + _GAP for _, _, wide, _ in columns)
    double = "=" * (len(rule) - len(_GAP))
    lines = [] if header is None else [double, header]
    if top_level_events_only:
        lines += [double, "This report only display top-level ops statistics"]
    lines += [rule, line([title for title, *_ in columns]), rule]
    shown = 0
    for event in events:
        if shown == row_limit:
            break
        if top_level_events_only and event.cpu_parent is not None:
            continue
        shown += 1
        event.self_cpu_percent = format_share(event.self_cpu_time_total, total)
        event.total_cpu_percent = 0 if event.is_async else format_share(event.cpu_time_total, total)
        lines.append(line([cell(event) for *_, cell in columns]))
        if source is not None:
            rest = [_end_of(entry, source[2]) for entry in (event.stack or [])[1:]]
            lines.extend(line([text if column is source else "" for column in columns]) for text in (*rest, ""))
    lines += [rule, f"Self CPU time total: {format_time(total, time_unit)}"]
    if has_device:
        lines.append(f"Self {device} time total: {format_time(device_total, time_unit)}")
    return "\n".join(lines) + "\n"
