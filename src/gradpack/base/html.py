"""Tables and frames in HTML, for notebooks. Without styles, and in light and dark themes, they are as legible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_CELL = "padding:2px 8px;white-space:nowrap"
_SMALL = "opacity:0.7"


def framed(title: str, facts: Iterable[str], body: str) -> str:
    """Return a line with a title and facts, and below it a body, which is HTML."""
    told = " · ".join(escape(str(fact)) for fact in facts)
    head = f'<strong>{escape(title)}</strong> <span style="{_SMALL}">{told}</span>'
    return f'<div class="gradpack" style="overflow-x:auto;max-width:100%">{head}{body}</div>'


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[int] = ()) -> str:
    """Return a table.

    Args:
        columns: the names of the columns; empty for none.
        rows: the cells of each row, as text or numbers.
        numbers: the columns that are aligned to the right.
    """
    right = set(numbers)

    def line(cells: Sequence[Any], tag: str) -> str:
        found = []
        for nr, cell in enumerate(cells):
            side = "right" if nr in right else "left"
            found.append(f'<{tag} style="{_CELL};text-align:{side}">{escape(str(cell))}</{tag}>')
        return f"<tr>{''.join(found)}</tr>"

    head = f"<thead>{line(columns, 'th')}</thead>" if columns else ""
    return f"<table>{head}<tbody>{''.join(line(cells, 'td') for cells in rows)}</tbody></table>"


def preformatted(text: str) -> str:
    """Return a text as it is, in a type of one width."""
    return f'<pre style="margin:4px 0">{escape(text)}</pre>'


def folded(summary: str, facts: str, body: str, *, unfolded: bool = True) -> str:
    """Return a summary that a click unfolds; without a body, the summary alone."""
    head = f'<code>{escape(summary)}</code> <span style="{_SMALL}">{escape(facts)}</span>'
    if not body:
        return f'<div style="margin-left:1.1em">{head}</div>'
    state = " open" if unfolded else ""
    return f'<details{state} style="margin-left:0.5em"><summary>{head}</summary>{body}</details>'


def curve(points: Sequence[tuple[float, float]], label: str, width: int = 480, height: int = 80) -> str:
    """Return a picture of a quantity that changes in steps over time; nothing for less than two points."""
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return ""
    start, stop = points[0][0], points[-1][0]
    most = max(value for _, value in points) or 1
    path = []
    before = 0.0
    for at, value in points:
        x = width * (at - start) / (stop - start)
        path += [f"{x:.1f},{height - height * before / most:.1f}", f"{x:.1f},{height - height * value / most:.1f}"]
        before = value
    path = [f"0,{height}", *path, f"{width},{height}"]
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" style="display:block;max-width:100%"><title>{escape(label)}</title>'
        f'<polygon points="{" ".join(path)}" fill="#4c78a8" fill-opacity="0.35" stroke="#4c78a8"/></svg>'
    )
