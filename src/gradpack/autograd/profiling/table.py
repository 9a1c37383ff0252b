"""The columns of tables of profiler events, in torch's layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from math import floor, log10
from typing import Any

_WIDTH = 12
GAP = "  "
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_DEVICES = ("cuda", "xpu", "privateuse1")
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")

Column = tuple[str, str, int, Callable[[Any], Any]]  # title, ">" or "<", width, cell for an event, or its lines


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


def _number(title: str, cell: Callable[[Any], Any]) -> Column:
    return title, ">", _WIDTH, cell


def name_columns(events: Sequence[Any], most: int | None) -> list[Column]:
    """The columns of the names; `most` is the largest width."""
    width = _at_most(max(len(event.key) for event in events) + 4, most)
    found: list[Column] = [("Name", ">", width, lambda event: _shortened(event.key, most))]
    if any(event.overload_name for event in events):
        found.append(("Overload Name", ">", width, lambda event: _shortened(event.overload_name or "", most)))
    return found


def time_columns(total: float, device_total: float, device: str | None, unit: str | None) -> list[Column]:
    """The columns of times; `device` is the name of another device, if there are times on one."""

    def time(title: str, name: str) -> Column:
        return _number(title, lambda event: format_time(getattr(event, name), unit))

    def share(title: str, name: str, whole: float) -> Column:
        return _number(title, lambda event: format_share(getattr(event, name), whole))

    found = [
        share("Self CPU %", "self_cpu_time_total", total),
        time("Self CPU", "self_cpu_time_total"),
        _number("CPU total %", lambda event: total_share(event, total)),
        time("CPU total", "cpu_time_total"),
        time("CPU time avg", "cpu_time"),
    ]
    if device is not None:
        found += [
            time(f"Self {device}", "self_device_time_total"),
            share(f"Self {device} %", "self_device_time_total", device_total),
            time(f"{device} total", "device_time_total"),
            time(f"{device} time avg", "device_time"),
        ]
    return found


def total_share(event: Any, total: float) -> Any:
    """The cell of "CPU total %"."""
    return 0 if event.is_async else format_share(event.cpu_time_total, total)


def memory_columns(events: Sequence[Any], device: str) -> list[Column]:
    """The columns of memory on the CPU and, if there is any, on another device."""

    def memory(title: str, name: str) -> Column:
        return _number(title, lambda event: format_memory(getattr(event, name)))

    found = [memory("CPU Mem", "cpu_memory_usage"), memory("Self CPU Mem", "self_cpu_memory_usage")]
    if any(event.device_memory_usage for event in events):
        found.append(memory(f"{device} Mem", "device_memory_usage"))
        found.append(memory(f"Self {device} Mem", "self_device_memory_usage"))
    return found


def call_columns(events: Sequence[Any], most_shapes: int | None, most_source: int | None) -> list[Column]:
    """The columns of the number of calls, of shapes and of places in the source."""
    found = [_number("# of Calls", lambda event: event.count)]
    if any(event.node_id != -1 for event in events):
        found.append(_number("Node ID", lambda event: event.node_id))
    if any(event.input_shapes for event in events):
        shapes = _at_most(max(len(str(event.input_shapes)) for event in events) + 4, most_shapes)
        found.append(("Input Shapes", ">", shapes, lambda event: str(event.input_shapes)[:shapes]))
    places = [entry for event in events for entry in event.stack or ()]
    if places:
        width = _at_most(max(map(len, places)) + 4, most_source)
        found.append(
            ("Source Location", "<", width, lambda e: [*(_end_of(entry, width) for entry in e.stack or [""]), ""])
        )
    return found


def flops_columns(events: Sequence[Any]) -> list[Column]:
    """The column of floating point operations, if some are known."""
    known = [event.flops for event in events if event.flops]
    if not known:
        return []
    step = int(max(0, min(floor(log10(min(known)) / 3), len(_FLOPS) - 1)))
    return [_number(f"Total {_FLOPS[step]}", lambda e: f"{e.flops / 1000**step:8.3f}" if e.flops else "--")]


def lines(columns: list[Column], cells: Iterable[Any]) -> list[str]:
    """The lines of a row of the table: several, if a cell is a list."""
    rows = zip_longest(*(cell if isinstance(cell, list) else [cell] for cell in cells), fillvalue="")
    forms = [f"{{!s:{side}{width}}}{GAP}" for _, side, width, _ in columns]
    return ["".join(form.format(cell) for form, cell in zip(forms, row, strict=True)) for row in rows]
