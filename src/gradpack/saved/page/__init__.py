"""A recording as one HTML page: bytes over time, a treemap of what is held, a table, and a flame graph.

The page is self-contained: style, script and data are inside of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from heapq import nlargest
from html import escape
from importlib.resources import files
from typing import Any

SCRIPTS = ("data.js", "draw.js", "time.js", "tree.js", "table.js", "flame.js", "main.js")


def page(document: dict[str, Any], flame: Sequence[dict[str, Any]] | None = None) -> str:
    """Return the HTML text of the page.

    Args:
        document: the result of `Record.document()`.
        flame: calls to draw as a flame graph: each a dict of `name`, `start`, `duration` (microseconds)
            and `children`, a list of the same, as from `flame()` of a profiler. Of very many, only the
            longest are drawn. None for no flame graph.
    """
    shown = document if flame is None else document | {"flame": longest(flame)}
    return _read("page.html").format(
        title=escape(document["title"]),
        summary=escape(document["summary"]),
        style=_read("style.css"),
        script="".join(map(_read, SCRIPTS)).replace("</", "<\\/"),
        data=as_script(shown),
    )


def longest(calls: Sequence[dict[str, Any]], count: int = 5000) -> list[dict[str, Any]]:
    """Return the nested calls that are at least as long as the `count`-th longest one."""
    durations: list[float] = []
    stack = list(calls)
    while stack:
        call = stack.pop()
        durations.append(call["duration"])
        stack.extend(call["children"])
    least = min(nlargest(count, durations), default=0.0)

    def kept(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [call | {"children": kept(call["children"])} for call in found if call["duration"] >= least]

    return kept(calls)


def as_script(value: Any) -> str:
    """Return JSON that is safe in a script element: <, > and & are escaped."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII only
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
