"""The data of a recording: a `Row` for each saved tensor, bytes over time, and all of it as a JSON-serializable dict.

The dict is the source of the table, the traces and the HTML page.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from typing import Any


@dataclass(slots=True)
class Row:
    """One tensor saved by one operation. Times are seconds since the recording began."""

    id: int
    op: str  # the operation that saved it
    slot: str  # the name under which its node saves it: an argument, `out`, or a name of the operation's own
    kind: str  # one of `info.KINDS`
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None  # in elements; None where the array library has none
    device: str
    bytes: int  # of its distinct elements
    storage: int  # the number of its storage: rows with the same number share it
    storage_bytes: int  # of the whole storage
    saved_at: float
    phase: str  # "forward" or "backward"; saves under create_graph=True are "backward"
    module: str = ""  # the path of the module whose forward was running, "" outside of modules
    file: str = ""
    line: int = 0
    function: str = ""
    policy: str = ""  # the policy or hook that packed it, "" for none
    tier: str = "memory"  # where the packed bytes are
    packed_bytes: int | None = None  # of the packed form, None if it is not packed or not known
    charged: int = 0  # bytes charged to this row: 0 if another row held the memory first
    pack_ms: float | None = None
    unpack_ms: float | None = None  # of all unpacks together
    unpacks: int = 0
    released_at: float | None = None  # None while it is held
    changes: list[tuple[float, int]] = field(default_factory=list)  # (time, bytes in memory charged to it since then)
    until: float | None = None  # when the memory charged to it was freed; None while it is held
    name: str = ""  # given by `saved.name`
    exact: bool = False  # whether a loss or statistics depend on it, so that it must not be rounded
    recompute_ms: float | None = None  # None if it cannot be recomputed from what else is held
    needs: list[int] = field(default_factory=list)  # the storages that it would be recomputed from
    shares: list[int] = field(default_factory=list)  # ids of some other rows that share the memory

    def held_at(self, moment: float) -> int:
        """Return the bytes in memory that were charged to this row at a moment."""
        at = bisect_right(self.changes, moment, key=itemgetter(0))
        return self.changes[at - 1][1] if at else 0

    def change(self, at: float, by: int) -> None:
        """Add `by` bytes to what is charged to this row from time `at` on."""
        now = by + (self.changes[-1][1] if self.changes else 0)
        self.changes.append((at, now))


Label = tuple[str, str]  # (tier, kind): the tier is "memory", "cpu" or "disk"
IN_MEMORY = "memory"
TICK = 2e-9  # seconds: the least time between two changes
ASIDE = frozenset({"cpu", "disk"})  # tiers of offloaded bytes, which do not count as memory of the tensors' device


class Timeline:
    """The changes of the bytes held, 18 bytes for each.

    The peak is the most bytes in memory at once, without the tiers in `ASIDE`.
    """

    def __init__(self) -> None:
        self._times, self._labels, self._sizes = array("d"), array("H"), array("q")
        self._numbers: dict[Label, int] = {}
        self.labels: list[Label] = []
        self.now: dict[Label, int] = {}
        self.peak, self.peak_at = 0, 0.0

    def __len__(self) -> int:
        return len(self._times)

    def change(self, label: Label, by: int, at: float) -> bool:
        """Add a change of `by` bytes at a time not before the last one; return whether this is a new peak."""
        number = self._numbers.get(label)
        if number is None:
            number = self._numbers[label] = len(self.labels)
            self.labels.append(label)
            self.now[label] = 0
        self._times.append(at)
        self._labels.append(number)
        self._sizes.append(by)
        self.now[label] += by
        memory = self.in_memory
        if memory <= self.peak:
            return False
        self.peak, self.peak_at = memory, at
        return True

    @property
    def in_memory(self) -> int:
        """Bytes held now, without the tiers in `ASIDE`."""
        return sum(size for (tier, _), size in self.now.items() if tier not in ASIDE)

    def curve(self) -> list[tuple[float, int]]:
        """Return (seconds, bytes in memory) after each change."""
        aside = {number for label, number in self._numbers.items() if label[0] in ASIDE}
        changes = zip(self._times, self._labels, self._heights(), strict=True)
        return [(at, held) for at, number, held in changes if number not in aside]

    def bands(self, count: int = 1000) -> tuple[list[float], list[list[int]]]:
        """Return at most about `count` moments, and for each label the bytes held from each moment to the next.

        Of many changes close to each other, those with the most and the fewest bytes in memory are
        included, so that no peak is lost.
        """
        picked = self._pick(count)
        times: list[float] = []
        series: list[list[int]] = [[] for _ in self.labels]
        held = [0] * len(self.labels)
        for i, (at, number, by) in enumerate(zip(self._times, self._labels, self._sizes, strict=True)):
            held[number] += by
            if i in picked:
                times.append(at)
                for values, value in zip(series, held, strict=True):
                    values.append(value)
        return times, series

    def _pick(self, count: int) -> set[int] | range:
        """Return the indices of the changes to show: all, or first, last, highest and lowest of each interval."""
        total = len(self._times)
        if total <= count:
            return range(total)
        heights = self._heights()
        start, end = self._times[0], self._times[-1]
        stretches = max(1, count // 4)
        width = (end - start) / stretches or 1.0
        picked: set[int] = set()
        first = 0
        for i in range(1, total + 1):
            if i == total or int((self._times[i] - start) / width) != int((self._times[first] - start) / width):
                members = range(first, i)
                picked |= {first, i - 1, max(members, key=heights.__getitem__), min(members, key=heights.__getitem__)}
                first = i
        return picked

    def _heights(self) -> Sequence[int]:
        aside = {number for label, number in self._numbers.items() if label[0] in ASIDE}
        heights, held = array("q"), 0
        for number, by in zip(self._labels, self._sizes, strict=True):
            held += 0 if number in aside else by
            heights.append(held)
        return heights


FORMAT = "gradpack.saved.record"
VERSION = 1
COMPILING = "compiling loops"  # the name of its row
_SOON = 1e-6  # seconds: changes this close after a moment count as of that moment

Estimates = dict[str, Callable[[Row], tuple[int, float] | None]]


@dataclass(slots=True)
class Span:
    """A named interval of time, in seconds. `end` is None while it lasts."""

    name: str
    start: float
    end: float | None = None


@dataclass(slots=True)
class Totals:
    """Sums over all saves, including those whose rows were forgotten."""

    saves: int = 0
    storages: int = 0
    saved_bytes: int = 0  # of all saves, counting a tensor as often as it is saved
    distinct_bytes: int = 0  # every storage once each time that it began to be held; without parameters and buffers
    parameter_bytes: int = 0
    packed_bytes: int = 0
    pack_ms: float = 0.0
    unpack_ms: float = 0.0
    unpacks: int = 0
    ops: int = 0  # operations that ran


def document(
    title: str,
    seconds: float,
    rows: Sequence[Row],
    timeline: Timeline,
    spans: Iterable[Span],
    totals: Totals,
    estimates: Estimates,
    forgotten: int = 0,
    compiled: Sequence[Span] = (),
    error: str = "",
) -> dict[str, Any]:
    """Return the whole recording as a dict that JSON can hold.

    Args:
        title: the name of the recording.
        seconds: its duration.
        rows: the saved tensors, in the order of saving.
        timeline: bytes held over time.
        spans: forward and backward.
        totals: sums over all saves.
        estimates: for each policy, a function from a row to (bytes saved, milliseconds), or to None where
            the policy does not apply.
        forgotten: how many saved tensors have no row.
        compiled: when loops were compiled.
        error: the exception that ended the block, "" for none.
    """
    spans = list(spans)
    times, series = timeline.bands()
    peak = [row for row in rows if row.held_at(timeline.peak_at)]
    during = next(
        (s.name for s in spans if s.start <= timeline.peak_at and (s.end is None or s.end >= timeline.peak_at - _SOON)),
        "",
    )
    told = [_row(row, estimates, timeline.peak_at) for row in rows]
    by_id = {one["id"]: one for one in told}
    chosen = {name: _chosen(name, [by_id[row.id] for row in peak]) for name in estimates}
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title,
        "summary": _summary(seconds, totals, timeline, error),
        "seconds": _ns(seconds),
        "totals": asdict(totals),
        "peak": {
            "bytes": timeline.peak,
            "at": _ns(timeline.peak_at),
            "phase": during or "outside",
            "rows": [row.id for row in peak],
            "by_kind": _sums(peak, timeline.peak_at, lambda row: row.kind),
            "by_op": _sums(peak, timeline.peak_at, lambda row: row.op),
            "by_module": _sums(peak, timeline.peak_at, lambda row: row.module),
            "by_line": _sums(peak, timeline.peak_at, lambda row: f"{row.file}:{row.line}" if row.file else ""),
        },
        "what_if": [_gain(name, rows, timeline.peak) for name, rows in chosen.items()],
        "times": _times(spans, compiled, seconds),
        "curve": {
            "times": list(map(_ns, times)),
            "bands": [
                {"tier": tier, "kind": kind, "bytes": values}
                for (tier, kind), values in zip(timeline.labels, series, strict=True)
            ],
        },
        "spans": [{"name": span.name, "start": _ns(span.start), "end": _ns(span.end)} for span in spans],
        "compiled": [{"name": span.name, "start": _ns(span.start), "end": _ns(span.end)} for span in compiled],
        "error": error,
        "forgotten": forgotten,
        "rows": told,
    }


def _ns(moment: float | None) -> float | None:
    """Return seconds rounded to nanoseconds, which keeps the order of moments."""
    return None if moment is None else round(moment, 9)


def _row(row: Row, estimates: Estimates, peak: float) -> dict[str, Any]:
    found = asdict(row)
    found["shape"], found["strides"] = list(row.shape), None if row.strides is None else list(row.strides)
    for moment in ("saved_at", "released_at", "until"):
        found[moment] = _ns(found[moment])
    found["changes"] = [[_ns(at), held] for at, held in row.changes]
    found["held"] = row.held_at(peak)
    found["shared"] = len(row.shares)
    found["shares"] = row.shares[:20]
    told = {name: estimate(row) for name, estimate in estimates.items()}
    found["what_if"] = {name: None if e is None else [e[0], round(e[1], 6)] for name, e in told.items()}
    return found


def _sums(rows: Iterable[Row], moment: float, key: Callable[[Row], str]) -> dict[str, int]:
    """Return the bytes held at a moment, summed by key, the largest first."""
    found: Counter[str] = Counter()
    for row in rows:
        found[key(row)] += row.held_at(moment)
    return dict(found.most_common())


def _chosen(name: str, peak: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the peak that a policy would be applied to together.

    A tensor can be recomputed only from tensors that are kept: of two of which one is recomputed from
    the other, only the larger counts as dropped.
    """
    fits = [row for row in peak if row["what_if"][name] is not None]
    if name != "recompute":
        return fits
    dropped: set[int] = set()
    kept: set[int] = set()
    chosen = []
    for row in sorted(fits, key=lambda row: (-row["held"], row["id"])):
        if row["storage"] not in kept and not dropped.intersection(row["needs"]):
            chosen.append(row)
            dropped.add(row["storage"])
            kept.update(row["needs"])
    return chosen


def _gain(name: str, rows: list[dict[str, Any]], held: int) -> dict[str, Any]:
    """Return the estimated effect of applying one policy to these rows."""
    saved = sum(min(row["what_if"][name][0], row["held"]) for row in rows)
    ms = sum(row["what_if"][name][1] for row in rows)
    ids = [row["id"] for row in rows]
    return {"policy": name, "bytes": held - saved, "saved": saved, "ms": ms, "rows": len(rows), "ids": ids}


def _within(spans: Iterable[Span], start: float, end: float) -> float:
    """Return the seconds of these spans between two moments."""
    return sum(max(0.0, min(end, span.end or end) - max(start, span.start)) for span in spans)


def _times(spans: Sequence[Span], compiled: Sequence[Span], seconds: float) -> list[dict[str, Any]]:
    """Return what the time went to: forward and backward, without compilation, and compilation."""
    found = []
    for name in ("forward", "backward"):
        parts = [(span.start, seconds if span.end is None else span.end) for span in spans if span.name == name]
        took = sum(end - start - _within(compiled, start, end) for start, end in parts)
        found.append({"name": name, "count": len(parts), "seconds": _ns(took)})
    if compiled:
        took = sum((span.end or seconds) - span.start for span in compiled)
        found.append({"name": COMPILING, "count": len(compiled), "seconds": _ns(took)})
    return found


def size(count: float) -> str:
    """Format a number of bytes, as `38.2 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or abs(count) >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _summary(seconds: float, totals: Totals, timeline: Timeline, error: str) -> str:
    ended = f" The program ended with {error}: this is what was saved until then." if error else ""
    if not totals.saves:
        ran = "no operation ran" if not totals.ops else f"{totals.ops:,} operation{'' if totals.ops == 1 else 's'} ran"
        why = (
            "was the block open while the program computed, and did it compute with gradpack's tensors?"
            if not totals.ops
            else "none had an operand that requires grad, or all ran under no_grad()."
        )
        return f"In {seconds:.2f} s, no operation saved a tensor for backward: {ran}; {why}{ended}"
    pieces = f"{totals.storages:,} piece{'' if totals.storages == 1 else 's'} of memory"
    many = f"{totals.saves:,} tensor{'' if totals.saves == 1 else 's'} on {pieces}"
    return (
        f"In {seconds:.2f} s, operations saved {many}; backward kept at most {size(timeline.peak)} "
        f"alive, {timeline.peak_at:.3f} s after the start.{ended}"
    )
