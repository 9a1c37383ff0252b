"""A recording as a JSON-serializable dict, the source of the table, the traces and the HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .rows import Row, Timeline

FORMAT = "gradpack.saved.record"
VERSION = 1
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


def document(
    title: str,
    seconds: float,
    rows: Sequence[Row],
    timeline: Timeline,
    spans: Iterable[Span],
    totals: Totals,
    estimates: Estimates,
    forgotten: int = 0,
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
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title,
        "summary": _summary(seconds, totals, timeline),
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
        "what_if": [_in_all(name, [by_id[row.id] for row in peak], timeline.peak) for name in estimates],
        "curve": {
            "times": list(map(_ns, times)),
            "bands": [
                {"tier": tier, "kind": kind, "bytes": values}
                for (tier, kind), values in zip(timeline.labels, series, strict=True)
            ],
        },
        "spans": [{"name": span.name, "start": _ns(span.start), "end": _ns(span.end)} for span in spans],
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


def _in_all(name: str, peak: Iterable[dict[str, Any]], held: int) -> dict[str, Any]:
    """Return the estimated effect of applying one policy to everything held at the peak.

    A tensor can be recomputed only from tensors that are kept: of two of which one is recomputed from
    the other, only the larger counts as dropped.
    """
    fits = [row for row in peak if row["what_if"][name] is not None]
    if name == "recompute":
        dropped: set[int] = set()
        kept: set[int] = set()
        chosen = []
        for row in sorted(fits, key=lambda row: (-row["held"], row["id"])):
            if row["storage"] not in kept and not dropped.intersection(row["needs"]):
                chosen.append(row)
                dropped.add(row["storage"])
                kept.update(row["needs"])
        fits = chosen
    saved = sum(min(row["what_if"][name][0], row["held"]) for row in fits)
    ms = sum(row["what_if"][name][1] for row in fits)
    return {"policy": name, "bytes": held - saved, "saved": saved, "ms": ms, "rows": len(fits)}


def size(count: float) -> str:
    """Format a number of bytes, as `38.2 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or abs(count) >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _summary(seconds: float, totals: Totals, timeline: Timeline) -> str:
    if not totals.saves:
        return f"In {seconds:.2f} s, no operation saved a tensor for backward."
    pieces = f"{totals.storages:,} piece{'' if totals.storages == 1 else 's'} of memory"
    many = f"{totals.saves:,} tensor{'' if totals.saves == 1 else 's'} on {pieces}"
    return (
        f"In {seconds:.2f} s, operations saved {many}; backward kept at most {size(timeline.peak)} "
        f"alive, {timeline.peak_at:.3f} s after the start."
    )
