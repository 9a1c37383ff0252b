"""Advice on the memory of a recording: for each policy on which tensors it pays, what it frees and takes.

Everything is computed from the sizes in the recording, from the times of policies on this machine, and from the times
of the recorded operations.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from .document import size

_MOST = 0.9  # of what a policy would free on all tensors: the largest tensors that free so much are named
_LEAST = 0.05  # of the peak: what frees less is not worth a line
_NAMED = 3  # tensors that are named


class Way(NamedTuple):
    """How a program asks for a policy."""

    code: str
    least: int  # bytes of the smallest tensor that it takes
    rounds: bool
    note: str


_WAYS = {
    "bf16": Way("saved.bf16(min_bytes={})", 1024, True, "rounds to 8 bits of precision"),
    "int8": Way("saved.quantize(8, min_bytes={})", 1024, True, "rounds to 256 levels"),
    "recompute": Way(
        "saved.recompute(at_least={})", 65536, False, "exact; torch.utils.checkpoint does it for whole modules"
    ),
    "disk": Way("saved.disk(min_bytes={})", 16384, False, "exact"),
}


def advice(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is worth doing, the cheapest for its bytes first, as dicts that JSON can hold.

    Args:
        document: a recording, as `document()` makes it.
    """
    found = []
    held, step = document["peak"]["bytes"], _step_ms(document)
    by_id = {row["id"]: row for row in document["rows"]}
    for gain in document["what_if"]:
        policy = gain["policy"]
        rows = _largest(policy, [by_id[i] for i in gain["ids"]], _MOST * gain["saved"])
        freed = sum(_freed(policy, row) for row in rows)
        if rows and freed >= _LEAST * held:
            ms = sum(row["what_if"][policy][1] for row in rows)
            found.append(_line(policy, rows, freed, freed / held, ms, step))
    found.sort(key=lambda one: one["ms"] / one["bytes"])
    return [one for one in found if not any(map(partial(_is_better, one), found))]


def _is_better(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether another policy frees more in less time, and rounds nothing."""
    return other is not one and not other["rounds"] and other["bytes"] >= one["bytes"] and other["ms"] <= one["ms"]


def _freed(policy: str, row: dict[str, Any]) -> int:
    freed: int = min(row["what_if"][policy][0], row["held"])
    return freed


def _largest(policy: str, rows: Iterable[dict[str, Any]], wanted: float) -> list[dict[str, Any]]:
    """Return the largest tensors that free `wanted` bytes together, and all others of the size of the last."""
    found: list[dict[str, Any]] = []
    freed = 0
    for row in sorted(rows, key=lambda row: (-row["bytes"], row["id"])):
        if row["bytes"] < _WAYS[policy].least or (freed >= wanted and row["bytes"] < found[-1]["bytes"]):
            break
        if _freed(policy, row):
            found.append(row)
            freed += _freed(policy, row)
    return found


def _line(policy: str, rows: list[dict[str, Any]], freed: int, part: float, ms: float, step: float) -> dict[str, Any]:
    way = _WAYS[policy]
    names = list(dict.fromkeys(map(_name, sorted(rows, key=lambda row: -_freed(policy, row)))))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    these = "this tensor" if len(rows) == 1 else f"these {len(rows)} tensors"
    of_step = f", {ms / step:.1%} of the step" if step else ""
    return {
        "policy": policy,
        "rows": [row["id"] for row in rows],
        "bytes": freed,
        "part": round(part, 4),
        "ms": round(ms, 6),
        "part_of_step": round(ms / step, 4) if step else None,
        "rounds": way.rounds,
        "text": f"{policy} on {these} frees {size(freed)}, {part:.0%} of the peak, for {ms:.2f} ms{of_step}: "
        f"{', '.join(names[:_NAMED])}{more}",
        "code": f"with {way.code.format(rows[-1]['bytes'])}:  # around forward; {way.note}",
    }


def _name(row: dict[str, Any]) -> str:
    """Return what users call a tensor: its own name, the module and operation, or the line."""
    label = row["name"] or f"{row['op']}.{row['slot']}"
    if row["module"]:
        return f"{label} in {row['module']}"
    return f"{label} at {row['file'].replace(chr(92), '/').rpartition('/')[2]}:{row['line']}" if row["file"] else label


def _step_ms(document: dict[str, Any]) -> float:
    """Return the milliseconds of the step with the peak, its forward and backward, without compilation."""
    spans, moment = document["spans"], document["peak"]["at"]
    at = max((i for i, span in enumerate(spans) if span["start"] <= moment), default=None)
    if at is None:
        return 0.0
    first = at - 1 if spans[at]["name"] == "backward" and at else at
    last = at + 1 if spans[at]["name"] == "forward" and at + 1 < len(spans) else at
    start, end = spans[first]["start"], spans[last]["end"]
    end = document["seconds"] if end is None else end
    compiled = sum(max(0.0, min(end, c["end"]) - max(start, c["start"])) for c in document["compiled"])
    return float(1e3 * (end - start - compiled))
