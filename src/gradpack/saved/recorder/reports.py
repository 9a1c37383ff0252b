"""A recording as JSON, as a trace for Perfetto and chrome://tracing, and as tables for a terminal.

Tables need rich, which the extra `cli` installs.
"""

from __future__ import annotations

import json
from typing import Any

from .document import size


def tables(document: dict[str, Any], top: int | None = 20) -> Any:
    """Return an object for rich to print: a summary, the largest tensors at the peak, and estimates of other policies.

    Args:
        document: the result of `Record.document()`.
        top: how many tensors to list; None for all.

    Raises:
        ImportError: without rich.
    """
    try:
        from rich.console import Group
        from rich.text import Text
    except ImportError as error:
        raise ImportError(f"a table of saved tensors needs rich: pip install 'gradpack[cli]' ({error})") from None
    if not document["rows"]:
        return Text(document["summary"])
    return Group(Text(document["summary"]), _largest(document, top), _what_if(document))


def _largest(document: dict[str, Any], top: int | None) -> Any:
    from rich.table import Table
    from rich.text import Text

    at_peak = set(document["peak"]["rows"])
    rows = [row for row in document["rows"] if row["id"] in at_peak]
    rows.sort(key=lambda row: (-row["held"], row["id"]))
    shown = rows[:top]
    table = Table(title="Held at the peak", title_justify="left", caption_justify="left", expand=False)
    for heading in _HEADINGS:
        right = heading in _TO_THE_RIGHT
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading != "module", overflow="fold")
    for row in shown:
        table.add_row(*map(Text, _cells(row)))
    left = rows[len(shown) :]
    if left:
        held = sum(row["held"] for row in left)
        table.caption = Text(f"and {len(left):,} more, which hold {size(held)}")
    return table


_HEADINGS = "held bytes op.slot kind shape dtype module line shared policy packed pack+unpack".split()
_TO_THE_RIGHT = ("held", "bytes", "shape", "shared", "packed", "pack+unpack")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    packed = row["packed_bytes"]
    times = [ms for ms in (row["pack_ms"], row["unpack_ms"]) if ms is not None]
    return (
        size(row["held"]) if row["held"] else "",
        size(row["bytes"]),
        f"{row['op']}.{row['slot']}",
        row["kind"],
        "×".join(map(str, row["shape"])) or "scalar",
        row["dtype"],
        row["module"],
        f"{_name(row['file'])}:{row['line']}" if row["file"] else "",
        str(row["shared"] or ""),
        row["policy"] if row["tier"] == "memory" else f"{row['policy']} ({row['tier']})".strip(),
        "" if packed is None else size(packed),
        f"{sum(times):.2f} ms" if times else "",
    )


def _name(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _what_if(document: dict[str, Any]) -> Any:
    from rich.table import Table

    held = document["peak"]["bytes"]
    table = Table(title=f"The peak is {size(held)}. What if?", title_justify="left", expand=False)
    for heading in ("all that can be", "peak", "of now", "time that it takes", "tensors"):
        table.add_column(heading, justify="left" if heading == "all that can be" else "right")
    for one in document["what_if"]:
        part = f"{one['bytes'] / held:.0%}" if held else ""
        table.add_row(one["policy"], size(one["bytes"]), part, f"{one['ms']:.2f} ms", str(one["rows"]))
    return table


def as_json(document: dict[str, Any]) -> str:
    """Return the document as indented JSON text."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def as_trace(document: dict[str, Any]) -> str:
    """Return Trace Event Format JSON: counters of the bytes held, spans, and the lifetime of every tensor.

    Times are in microseconds. Counters are tracks `saved for backward, memory` and one for each other tier,
    with one series for each kind. A tensor is an asynchronous event from its saving to its release.
    """
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
    for span in document["spans"]:
        end = last if span["end"] is None else span["end"]
        events.append(
            {"ph": "X", "pid": 1, "tid": 1, "ts": span["start"] * 1e6, "dur": (end - span["start"]) * 1e6}
            | {"name": span["name"], "cat": "phase"}
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
