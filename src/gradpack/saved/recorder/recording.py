"""`record`: list all tensors that autograd saves, with their size, node, place in the program and lifetime.

A recording can be read as JSON, as a trace for Perfetto and chrome://tracing, as an HTML page, and as tables for a
terminal, which need rich: the extra `cli` installs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from os import PathLike
from sys import exc_info
from time import perf_counter
from typing import Any

from ...base.exits import Exit
from ...base.modes import RUN, Block, Undo
from ...core.packed import Packed
from ...core.tensor import Tensor
from ..info import SavedInfo
from ..meter import Recorder
from ..policies.transfers import ALL, Transfers
from .document import Row, Totals, document
from .recording_log import RecordingLog


class Record(Recorder):
    """The saved tensors of all operations that ran while the block was open: the result of `record()`.

    It can be read at any time, inside of the block as well. It unpacks nothing and keeps no tensor
    alive. Releases after the block are still recorded.

    Args:
        title: the heading of reports.
        limit: how many saved tensors to list; beyond it, they are only counted.

    Raises:
        ValueError: for a limit below 1.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with saved.record() as r:
        ...     y = x.exp().sum()
        ...     y.backward()
        >>> [(row.op, row.slot, row.bytes) for row in r.rows]
        [('exp', 'out', 4000)]
        >>> r.peak, r.now
        (4000, 0)
    """

    def __init__(self, title: str = "saved tensors", limit: int = 20_000) -> None:
        if limit < 1:
            raise ValueError(f"record(): limit is how many saved tensors to list, and at least 1, not {limit}")
        self.title = title
        self._log = RecordingLog(limit)
        self._end: float | None = None
        self.error = ""  # the name of the exception that ended the block, "" for none
        self._around: BaseException | None = None
        self._moved = copy(ALL), copy(ALL)  # the counts of transfers at the begin and the end of the block

    # --- called by autograd ---

    def note(self, info: SavedInfo, tensor: Tensor, packed: Packed | None) -> Any:
        """Add a saved tensor. The node keeps the returned object beside it, and releases both together."""
        now = perf_counter()
        with self._log.lock:
            hold = self._log.add(info, tensor, packed, now, RUN.get())
        return hold, super().note(info, tensor, packed)

    def ran(self, op: Any, values: Sequence[Any], outs: Sequence[Tensor], seconds: float) -> None:
        with self._log.lock:
            self._log.ran(op, values, outs, seconds)
        super().ran(op, values, outs, seconds)

    def compiled(self, seconds: float) -> None:
        now = perf_counter()
        with self._log.lock:
            self._log.compiled(seconds, now)
        super().compiled(seconds)

    def backward(self, begins: bool) -> None:
        now = perf_counter()
        with self._log.lock:
            self._log.backward(begins, now, RUN.get())
        super().backward(begins)

    def _changes(self) -> dict[str, Any]:
        if self._end is None and not self._entered:
            self._log.start = self._log._last = perf_counter()
            self._moved = copy(ALL), ALL
            self._around = exc_info()[1]
        return {"recorder": self}

    def _over(self, undo: Undo) -> None:
        self._end = perf_counter()
        error = exc_info()[1]
        if error is not None and error is not self._around:  # that of an `except` around the block is none of its own
            self.error = type(error).__name__
        if len(self._entered) < 2:
            self._moved = self._moved[0], copy(ALL)
        self._leave(undo)

    __exit__ = Exit(Block._last, _over)

    # --- public interface ---

    @property
    def rows(self) -> list[Row]:
        """One row for each saved tensor, in the order of saving."""
        return list(self._log.look().rows.values())

    @property
    def curve(self) -> list[tuple[float, int]]:
        """The bytes of saved tensors in memory after each change: (seconds since the start, bytes)."""
        return self._log.look().timeline.curve()

    @property
    def now(self) -> int:
        """The bytes of saved tensors in memory now: each storage once, without parameters and buffers.

        For tensors of a device, the bytes on that device.
        """
        return self._log.look().timeline.in_memory

    @property
    def tiers(self) -> dict[str, int]:
        """The bytes of saved tensors now in each place: "memory", "disk", and "cpu" for those offloaded to the host."""
        found: dict[str, int] = {}
        for (tier, _), held in self._log.look().timeline.now.items():
            found[tier] = found.get(tier, 0) + held
        return found

    @property
    def transfers(self) -> Transfers:
        """Counts of the copies between devices and the host while the block was open, of all policies and threads."""
        before, now = self._moved
        return now.since(before)

    @property
    def peak(self) -> int:
        """The maximum of the bytes of saved tensors in memory."""
        return self._log.look().timeline.peak

    @property
    def peak_at(self) -> float:
        """The time of the peak, in seconds since the start."""
        return self._log.look().timeline.peak_at

    @property
    def totals(self) -> Totals:
        """Counts and bytes, summed over all saves."""
        return self._log.look().totals

    def __repr__(self) -> str:
        return f"<{self.title}: {self.totals.saves} saves, peak {self.peak} bytes, now {self.now}>"

    def _repr_html_(self) -> str:
        from .recording_html import record_html

        return record_html(self)

    def document(self) -> dict[str, Any]:
        """Return the whole recording as a dict that JSON can hold."""
        from .advice import advice
        from .estimates import estimates

        rows, log, error = self.rows, self._log, self.error
        end = perf_counter() if self._entered or self._end is None else self._end
        seconds = max(end - log.start, log.seconds)
        parts = log.timeline, log.spans, log.totals, estimates(), log.forgotten, log.loops, error
        found = document(self.title, seconds, rows, *parts)
        return found | {"advice": advice(found)}

    def table(self, top: int | None = 20) -> Any:
        """Return tables for rich: the `top` largest saved tensors at the peak, and estimates for other policies.

        Raises:
            ImportError: without rich, which the extra `cli` installs.
        """
        from .recording_tables import tables

        return tables(self.document(), top)

    def json(self) -> str:
        """Return the document as JSON text."""
        return as_json(self.document())

    def trace(self) -> str:
        """Return a trace for Perfetto and chrome://tracing: counters, phases and the lifetime of each tensor."""
        return as_trace(self.document())

    def html(self, flame: Sequence[dict[str, Any]] | None = None) -> str:
        """Return a self-contained HTML page: bytes over time, a treemap of what is held, a table.

        Args:
            flame: calls to draw below, as nested dicts of `name`, `start`, `duration` and `children`.
        """
        from ..page import page

        return page(self.document(), flame)

    def write(self, file: str | PathLike[str]) -> None:
        """Write the page, trace or document to a file, by its ending: `.html`, `.trace.json` or `.json`.

        Raises:
            ValueError: for any other ending.
        """
        endings = {".html": self.html, ".trace.json": self.trace, ".json": self.json}
        for ending, make in endings.items():
            if str(file).endswith(ending):
                text = make()
                with open(file, "w", encoding="utf-8") as out:
                    out.write(text)
                return
        raise ValueError(f"write(): the name must end in one of {', '.join(endings)}, and {str(file)!r} does not")


def record(title: str = "saved tensors", limit: int = 20_000) -> Record:
    """Return a context manager that lists every tensor that operations save for backward while it is open.

    Args:
        title: the title of reports.
        limit: how many saved tensors to list. Later ones are listed only if they were held at the peak
            or are still held; all others are counted only.

    Returns:
        A `Record`: `rows`, `peak`, `curve`, `totals`, `now`; as reports `table()`, `json()`,
        `trace()`, `html()` and `write(file)`.

    A storage counts once, in full, from the moment at which the first operation saves a tensor in it
    until the last one is released; parameters and buffers do not count. Under hooks, the packed
    objects count instead. Recording slows operations down: measure times without it.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.saved import record
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with record() as r:
        ...     y = x.exp().sin().sum()
        ...     y.backward()
        >>> r.peak, r.now
        (4000, 0)
        >>> [(row.op, row.slot, row.kind, row.bytes) for row in r.rows]
        [('exp', 'out', 'output', 4000), ('sin', 'input', 'input', 4000)]
    """
    return Record(title, limit)


def as_json(document: dict[str, Any]) -> str:
    """Return the document as indented JSON text."""
    import json

    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def as_trace(document: dict[str, Any]) -> str:
    """Return Trace Event Format JSON: counters of the bytes held, spans, and the lifetime of every tensor.

    Times are in microseconds. Counters are tracks `saved for backward, memory` and one for each other tier,
    with one series for each kind. A tensor is an asynchronous event from its saving to its release.
    """
    import json

    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "tid": 1, "name": "process_name", "args": {"name": document["title"]}},
        {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "autograd"}},
    ]
    curve = document["curve"]
    tiers: dict[str, list[dict[str, Any]]] = {}
    for band in curve["bands"]:
        tiers.setdefault(band["tier"], []).append(band)
    for tier, bands in tiers.items():
        for i, at in enumerate(curve["times"]):
            args = {band["kind"]: band["bytes"][i] for band in bands}
            events.append({"ph": "C", "pid": 1, "ts": at * 1e6, "name": f"saved for backward, {tier}", "args": args})
    last = document["seconds"]
    for span in document["spans"] + document["compiled"]:
        end = last if span["end"] is None else span["end"]
        events.append(
            {"ph": "X", "pid": 1, "tid": 1, "ts": span["start"] * 1e6, "dur": (end - span["start"]) * 1e6}
            | {"name": span["name"], "cat": "phase" if span in document["spans"] else "compilation"}
        )
    for row in document["rows"]:
        about = ("slot", "kind", "shape", "dtype", "bytes", "charged", "module", "file", "line", "policy", "tier")
        name = f"{row['op']}.{row['slot']}"
        common = {"pid": 1, "tid": 1, "cat": "saved tensor", "id": row["id"], "name": name}
        end = last if row["released_at"] is None else row["released_at"]
        events.append(common | {"ph": "b", "ts": row["saved_at"] * 1e6, "args": {key: row[key] for key in about}})
        events.append(common | {"ph": "e", "ts": end * 1e6})
    events.sort(key=lambda event: event.get("ts", -1.0))
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, allow_nan=False)
