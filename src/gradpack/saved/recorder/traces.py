"""Export a recording as JSON, and as a trace for Perfetto and chrome://tracing."""

from __future__ import annotations

import json
from typing import Any


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
