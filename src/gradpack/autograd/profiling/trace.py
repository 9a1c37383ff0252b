"""Events as a trace in Chrome's format, which Perfetto and TensorBoard open as well."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from socket import gethostname
from typing import Any

from .events import MEMORY_EVENT_NAME, FunctionEvent

Changes = Sequence[tuple[float, int, int, str]]  # memory changes: time in us, bytes, thread, device


def trace_of(
    events: Sequence[FunctionEvent], changes: Changes, metadata: Mapping[str, Any], *, base_us: float = 0.0
) -> dict[str, Any]:
    """Return the trace as plain data for JSON.

    Args:
        changes: changes of tensor memory; without them, the memory of events is written.
        metadata: top-level entries to add.
        base_us: an offset to add to all times, in microseconds.
    """
    pid = os.getpid()
    rows: list[dict[str, Any]] = []

    def say(what: str, thread: int, key: str, value: Any) -> None:
        rows.append({"ph": "M", "name": what, "ts": base_us, "pid": pid, "tid": thread, "args": {key: value}})

    say("process_name", 0, "name", "python")
    say("process_labels", 0, "labels", "CPU")
    say("process_sort_index", 0, "sort_index", pid)
    for thread in sorted({event.thread for event in events}):
        say("thread_name", thread, "name", f"thread {thread} (python)")
        say("thread_sort_index", thread, "sort_index", thread)
    begun = {event.flow_id: event for event in events if event.flow_start}
    flows = 0
    for event in events:
        if event.name == MEMORY_EVENT_NAME and changes:
            continue  # written from `changes`
        rows.append(_row(event, pid, base_us))
        if event.flow_id and not event.flow_start:
            flows += 1
            first = begun[event.flow_id]
            common = {"id": flows, "pid": pid, "cat": "fwdbwd", "name": "fwdbwd"}
            rows.append({"ph": "s", "tid": first.thread, "ts": base_us + first.time_range.start, **common})
            rows.append({"ph": "f", "tid": event.thread, "ts": base_us + event.time_range.start, **common, "bp": "e"})
    rows += _held(changes, pid, base_us)
    about = {"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 0, "host_name": gethostname()}
    return {**about, **metadata, "traceEvents": rows}


def _held(changes: Changes, pid: int, base_us: float) -> list[dict[str, Any]]:
    """Instant events for each change of tensor memory, with the running total."""
    rows = []
    held: dict[str, int] = {}
    for time, change, thread, place in sorted(changes):
        held[place] = held.get(place, 0) + change
        args = {"Bytes": change, "Total Allocated": held[place], "Total Reserved": 0}
        args |= {"Device Type": 0, "Device Id": -1} if place == "cpu" else {"Device Type": 1, "Device Id": 0}
        row = {"name": MEMORY_EVENT_NAME, "pid": pid, "tid": thread, "ts": base_us + time, "ph": "i", "s": "t"}
        rows.append({**row, "cat": "cpu_instant_event", "args": args})
    return rows


def _row(event: FunctionEvent, pid: int, base_us: float) -> dict[str, Any]:
    row: dict[str, Any] = {"name": event.trace_name or event.name, "pid": pid, "tid": event.thread}
    row["ts"] = base_us + event.time_range.start
    if event.name == MEMORY_EVENT_NAME:
        held = {"Bytes": event.cpu_memory_usage + event.device_memory_usage}
        return {**row, "ph": "i", "s": "t", "cat": "cpu_instant_event", "args": held}
    args: dict[str, Any] = {"External id": event.id}
    if event.sequence_nr >= 0:
        args |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread}
    if event.structured_input_shapes:
        args["Input Dims"] = event.structured_input_shapes
        args["Input Strides"] = event.structured_input_strides
        args["Input type"] = event.input_dtypes
        args["Concrete Inputs"] = ["" if value is None else str(value) for value in event.concrete_inputs]
    if event.stack:
        args["Call stack"] = ";".join(event.stack)
    if event.module_hierarchy:
        args["Module Hierarchy"] = event.module_hierarchy
    if event.flops:
        args["flops"] = event.flops
    if event.cpu_memory_usage:
        args["Bytes"] = event.cpu_memory_usage
    if event.device_memory_usage:
        args["Device Bytes"] = event.device_memory_usage
    kind, duration = event.activity_type or "cpu_op", event.time_range.elapsed_us()
    return {**row, "ph": "X", "cat": kind, "dur": duration, "args": args}


def write_trace(
    path: str, events: Sequence[FunctionEvent], changes: Changes, metadata: Mapping[str, Any], *, base_us: float = 0.0
) -> None:
    """Write the trace to a file; compressed, if its name ends in `.gz`."""
    write_json(path, trace_of(events, changes, {**metadata, "traceName": str(path)}, base_us=base_us))


def write_json(path: str, data: Any) -> None:
    """Write plain data to a file; compressed, if its name ends in `.gz`."""
    text = json.dumps(data).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(text) if str(path).endswith(".gz") else text)
