"""Tables of a recording for a terminal, printed by rich: the extra `cli` installs it."""

from __future__ import annotations

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
    parts = [Text(document["summary"])]
    if document["rows"]:
        parts += [_largest(document, top), _what_if(document), _next(document)]
    if document["spans"]:
        parts.append(_times(document))
    return Group(*parts)


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


def _next(document: dict[str, Any]) -> Any:
    from rich.text import Text

    return Text("\n".join(["What to do next", *(f"- {line}" for line in advice_lines(document))]))


def advice_lines(document: dict[str, Any]) -> list[str]:
    """Return the advice of a document, each with the code; a sentence if there is none."""
    if not document["peak"]["bytes"]:
        return []
    found = [f"{one['text']}\n    {one['code']}" for one in document["advice"]]
    return found or ["Nothing: no policy frees a twentieth of the peak."]


def _times(document: dict[str, Any]) -> Any:
    from rich.table import Table

    table = Table(title="Where the time went, while recording", title_justify="left", expand=False)
    for heading in ("", "times", "seconds", "of all"):
        table.add_column(heading, justify="right" if heading else "left")
    for one in document["times"]:
        part = f"{one['seconds'] / document['seconds']:.0%}" if document["seconds"] else ""
        table.add_row(one["name"], str(one["count"]), f"{one['seconds']:.3f}", part)
    if document["compiled"]:
        table.caption = "loops are compiled once, and kept for later programs; `gradpack warmup` does it ahead"
    return table
