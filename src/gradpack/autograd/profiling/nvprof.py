"""Traces of nvprof: SQLite files with the ranges of `emit_nvtx` and the kernels that ran in them."""

from __future__ import annotations

from typing import Any

from ..profiler_util import EventList, FunctionEvent

_LAUNCHES = (211, 13)  # the CUDA runtime calls that launch a kernel: since CUDA 9.2, and before

_RANGES = """
    SELECT first.id AS id, first.name AS name, first.timestamp AS began, last.timestamp AS ended
    FROM CUPTI_ACTIVITY_KIND_MARKER AS first
    JOIN CUPTI_ACTIVITY_KIND_MARKER AS last ON first.id = last.id
    WHERE first.name != 0 AND last.name = 0
"""
_KERNELS = """
    SELECT first.id AS id, call._id_ AS call, call.cbid AS cbid, kernel.name AS kernel,
           kernel.start AS began, kernel.end AS ended
    FROM CUPTI_ACTIVITY_KIND_MARKER AS first
    JOIN CUPTI_ACTIVITY_KIND_MARKER AS last ON first.id = last.id
    JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call ON first.timestamp < call.start AND call.end < last.timestamp
    JOIN CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel ON kernel.correlationId = call.correlationId
    WHERE first.name != 0 AND last.name = 0
"""


class EnforceUnique:
    """Raises if the same key occurs twice."""

    def __init__(self) -> None:
        self.seen: set[tuple[Any, ...]] = set()

    def see(self, *key: Any) -> None:
        """Raise RuntimeError if the key was seen before, else store it."""
        if key in self.seen:
            raise RuntimeError(f"duplicate key: {key}")
        self.seen.add(key)


def parse_nvprof_trace(path: str) -> list[FunctionEvent]:
    """Read the ranges of a trace as events, oldest first, each with the kernels launched in it.

    Times are in nanoseconds, as nvprof writes them.

    Raises:
        AssertionError: if an unknown runtime call launched a kernel.
        RuntimeError: if a range or a launch occurs twice.
    """
    import sqlite3

    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    try:
        strings = {row["id"]: row["value"] for row in connection.execute("SELECT _id_ AS id, value FROM StringTable")}
        events: dict[int, FunctionEvent] = {}
        unique = EnforceUnique()
        for row in connection.execute(_RANGES):
            unique.see(row["id"])
            event = FunctionEvent(row["id"], strings[row["name"]], 0, row["began"], row["ended"], node_id=0)
            event.use_device = "cuda"
            events[event.id] = event
        for row in connection.execute(_KERNELS):
            unique.see(row["id"], row["call"])
            if row["cbid"] not in _LAUNCHES:
                raise AssertionError(f"Expected cbid to be {_LAUNCHES[0]}, but got {row['cbid']}")
            name = strings.get(row["kernel"], row["kernel"])
            events[row["id"]].append_kernel(name, 0, row["ended"] - row["began"])
    finally:
        connection.close()
    return sorted(events.values(), key=lambda event: event.time_range.start)


def load_nvprof(path: str) -> EventList:
    """Load the ranges of an nvprof trace as an `EventList`.

    Args:
        path: the file that nvprof wrote.
    """
    return EventList(parse_nvprof_trace(path))
