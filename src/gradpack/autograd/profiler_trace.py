"""Events as a trace in the format of Chrome's tracing tool, which Perfetto and TensorBoard open as well."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from socket import gethostname
from typing import Any

from .profiler_util import MEMORY_EVENT_NAME, EventList, FunctionEvent


def trace_of(events: EventList, metadata: Mapping[str, Any], *, base_us: float = 0.0) -> dict[str, Any]:
    """The trace as plain data: what is written as JSON.

    Args:
        metadata: goes in beside the events, at the top.
        base_us: is added to all times.
    """
    pid = os.getpid()
    rows: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "ts": base_us, "pid": pid, "tid": 0, "args": {"name": "python"}}
    ]
    for thread in sorted({event.thread for event in events}):
        args = {"name": f"thread {thread}"}
        rows.append({"ph": "M", "name": "thread_name", "ts": base_us, "pid": pid, "tid": thread, "args": args})
    forward: dict[int, FunctionEvent] = {}
    flows = 0
    for event in events:
        if event.name == MEMORY_EVENT_NAME and events._memory:
            continue  # it is among all changes
        rows.append(_row(event, pid, base_us))
        seq = event.sequence_nr
        if seq < 0:
            continue
        if event.scope != 1:
            if not event.name.startswith("autograd::engine"):
                forward.setdefault(seq, event)
        elif seq in forward:
            flows += 1
            first = forward[seq]
            common = {"id": flows, "pid": pid, "cat": "fwdbwd", "name": "fwdbwd"}
            rows.append({"ph": "s", "tid": first.thread, "ts": base_us + first.time_range.start, **common})
            rows.append({"ph": "f", "tid": event.thread, "ts": base_us + event.time_range.start, **common, "bp": "e"})
    rows += _changes(events, pid, base_us)
    about = {"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 0, "host_name": gethostname()}
    return {**about, **metadata, "traceEvents": rows}


def _changes(events: EventList, pid: int, base_us: float) -> list[dict[str, Any]]:
    """A point for each change of the memory that tensors hold, with the sum so far."""
    rows = []
    held: dict[str, int] = {}
    for time, change, thread, place in sorted(events._memory):
        held[place] = held.get(place, 0) + change
        args = {"Bytes": change, "Total Allocated": held[place], "Total Reserved": 0}
        args |= {"Device Type": 0, "Device Id": -1} if place == "cpu" else {"Device Type": 1, "Device Id": 0}
        row = {"name": MEMORY_EVENT_NAME, "pid": pid, "tid": thread, "ts": base_us + time, "ph": "i", "s": "t"}
        rows.append({**row, "cat": "cpu_instant_event", "args": args})
    return rows


# dtypes as traces have them: by their names in C++.
_TYPES = {
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
}


def _row(event: FunctionEvent, pid: int, base_us: float) -> dict[str, Any]:
    start = event.time_range.start
    row: dict[str, Any] = {"name": event.trace_name or event.name, "pid": pid, "tid": event.thread}
    row["ts"] = base_us + start
    if event.name == "[memory]":
        return {
            **row,
            "ph": "i",
            "s": "t",
            "cat": "cpu_instant_event",
            "args": {"Bytes": event.cpu_memory_usage + event.device_memory_usage},
        }
    args: dict[str, Any] = {"External id": event.id}
    if event.sequence_nr >= 0:
        args |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread}
    if event.input_shapes:
        args["Input Dims"] = event.input_shapes
        if event.input_dtypes:
            args["Input type"] = [_TYPES.get(name, name) for name in event.input_dtypes]
        if event.concrete_inputs:
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
    kind = "user_annotation" if event.is_user_annotation else "python_function" if event.scope == 7 else "cpu_op"
    return {**row, "ph": "X", "cat": kind, "dur": event.time_range.elapsed_us(), "args": args}


def write_trace(path: str, events: EventList, metadata: Mapping[str, Any], *, base_us: float = 0.0) -> None:
    """Write the trace to a file; compressed, if its name ends in `.gz`."""
    text = json.dumps(trace_of(events, {**metadata, "traceName": str(path)}, base_us=base_us))
    if str(path).endswith(".gz"):
        with gzip.open(path, "wt", encoding="utf-8") as packed:
            packed.write(text)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
