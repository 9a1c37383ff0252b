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
    """Raises if the same key occurs twice.

    Example::

        >>> import gradpack as torch
        >>> unique = torch.autograd.profiler.EnforceUnique()
        >>> unique.see("range", 1)
        >>> unique.see("range", 2)
        >>> unique.see("range", 1)
        Traceback (most recent call last):
            ...
        RuntimeError: duplicate key: ('range', 1)
    """

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

    Args:
        path: the file that nvprof wrote.

    Raises:
        AssertionError: if an unknown runtime call launched a kernel.
        RuntimeError: if a range or a launch occurs twice.

    Example::

        >>> import gradpack as torch
        >>> import pathlib, sqlite3, tempfile
        >>> tables = '''
        ...     CREATE TABLE StringTable (_id_, value);
        ...     CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id, name, timestamp);
        ...     CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_, cbid, start, end, correlationId);
        ...     CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (correlationId, name, start, end);
        ...     INSERT INTO StringTable VALUES (1, 'aten::mul, seq = 3'), (2, 'mul_kernel');
        ...     INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (7, 1, 10), (7, 0, 40);
        ...     INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 211, 12, 14, 5);
        ...     INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (5, 2, 20, 27);
        ... '''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = str(pathlib.Path(folder) / "trace.prof")
        ...     trace = sqlite3.connect(path)
        ...     _ = trace.executescript(tables)
        ...     trace.close()
        ...     event, = torch.autograd.profiler.parse_nvprof_trace(path)
        >>> event.name, event.time_range, event.kernels
        ('aten::mul, seq = 3', Interval(start=10, end=40), [Kernel(name='mul_kernel', device=0, duration=7)])
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
    """Load the ranges of an nvprof trace as an `EventList`: see `parse_nvprof_trace`.

    Args:
        path: the file that nvprof wrote.

    Raises:
        AssertionError: if an unknown runtime call launched a kernel.
        RuntimeError: if a range or a launch occurs twice.

    Example::

        >>> import gradpack as torch
        >>> import pathlib, sqlite3, tempfile
        >>> tables = '''
        ...     CREATE TABLE StringTable (_id_, value);
        ...     CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id, name, timestamp);
        ...     CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_, cbid, start, end, correlationId);
        ...     CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (correlationId, name, start, end);
        ...     INSERT INTO StringTable VALUES (1, 'aten::mul'), (2, 'aten::sum');
        ...     INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (7, 1, 10), (7, 0, 40), (8, 2, 50), (8, 0, 60);
        ... '''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = str(pathlib.Path(folder) / "trace.prof")
        ...     trace = sqlite3.connect(path)
        ...     _ = trace.executescript(tables)
        ...     trace.close()
        ...     events = torch.autograd.profiler.load_nvprof(path)
        >>> [(event.name, event.time_range.elapsed_us()) for event in events]
        [('aten::mul', 30), ('aten::sum', 10)]
    """
    return EventList(parse_nvprof_trace(path))
