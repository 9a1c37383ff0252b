"""A recording as notebooks show it: the bytes over time, and the largest tensors at the peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.html import curve, framed, table
from ...base.sizes import shown

if TYPE_CHECKING:
    from .recording import Record

_ROWS = 20
_COLUMNS = ("bytes", "module", "operation", "slot", "shape", "dtype", "policy", "line")


def record_html(record: Record) -> str:
    """Return the HTML of a recording: a summary. `Record.html` is the whole page."""
    totals, peak = record.totals, record.peak
    facts = [f"{totals.saves} saves", f"{shown(peak)} at the peak", f"{shown(record.now)} now"]
    if not totals.saves:
        return framed(record.title, [record.document()["summary"]], "")
    rows = sorted(record.rows, key=lambda row: row.held_at(record.peak_at), reverse=True)
    held = [(row, nbytes) for row in rows if (nbytes := row.held_at(record.peak_at))]
    cells = [
        (
            shown(nbytes), row.module, row.op, row.name or row.slot, " × ".join(map(str, row.shape)),
            row.dtype, row.policy, f"{row.file.rpartition('/')[2]}:{row.line}" if row.file else "",
        )
        for row, nbytes in held[:_ROWS]
    ]  # fmt: skip
    if len(held) > _ROWS:
        rest = held[_ROWS:]
        cells.append((shown(sum(nbytes for _, nbytes in rest)), f"{len(rest)} more", "", "", "", "", "", ""))
    picture = curve(record.curve, f"bytes of saved tensors over time, {shown(peak)} at most")
    return framed(record.title, facts, picture + table(_COLUMNS, cells, numbers=[0]))
