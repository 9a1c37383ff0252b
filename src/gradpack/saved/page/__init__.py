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

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'">
<title>{title}: saved tensors</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="note">{summary}</p>
<noscript><p>The pictures and the table need JavaScript; the data is in this file as JSON.</p></noscript>
<div class="figures" id="figures"></div>
<section aria-labelledby="h-time">
<div class="head"><h2 id="h-time">Held for backward, over time</h2>
<span class="note">click to see what is held at a moment, drag to zoom</span>
<span class="tools"><button id="unzoom" hidden>back to the peak</button></span></div>
<div id="time"></div>
</section>
<section aria-labelledby="h-tree">
<div class="head"><h2 id="h-tree">What is held <span id="moment"></span></h2>
<span class="note">as large as its bytes; click to look inside</span><span class="tools" id="ways"></span></div>
<div id="tree"></div>
</section>
<section aria-labelledby="h-whatif">
<div class="head"><h2 id="h-whatif">What if</h2>
<span class="note">the bytes at the peak if all that can be were kept so, and the time that this takes here</span></div>
<div class="bars" id="whatif"></div>
</section>
<section aria-labelledby="h-flame" id="flames" hidden>
<div class="head"><h2 id="h-flame">Calls over time</h2><span class="note">click to zoom, click the top bar to go back\
</span></div>
<div id="flame"></div>
</section>
<section aria-labelledby="h-rows">
<div class="head"><h2 id="h-rows">Saved tensors</h2><span class="tools">
<input type="search" id="search" placeholder="filter: words in any column" aria-label="filter">
<select id="kind" aria-label="kind"><option value="">every kind</option></select>
<label><input type="checkbox" id="heldonly" checked> held at that moment</label></span></div>
<p class="note" id="count"></p>
<div id="rows"></div>
</section>
</main>
<div id="tip" hidden></div>
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"""


def page(document: dict[str, Any], flame: Sequence[dict[str, Any]] | None = None) -> str:
    """Return the HTML text of the page.

    Args:
        document: the result of `Record.document()`.
        flame: calls to draw as a flame graph: each a dict of `name`, `start`, `duration` (microseconds)
            and `children`, a list of the same, as from `flame()` of a profiler. Of very many, only the
            longest are drawn. None for no flame graph.
    """
    shown = document if flame is None else document | {"flame": longest(flame)}
    return _PAGE.format(
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
