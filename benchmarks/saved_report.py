"""What `benchmarks.saved` has measured, as a table and as a picture."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import Timing, spread

Row = dict[str, Any]


def _reference(rows: list[Row], library: str) -> Row | None:
    return next((row for row in rows if row["library"] == library and row["way"] == "none"), None)


def _ratio(row: Row, reference: Row | None, key: str, quartiles: bool = False) -> str:
    if reference is None:
        return ""
    found = spread(*(Timing(tuple(r[key]), 1) for r in (row, reference)))
    return f"{found.median:.3f}" + (f" ({found.low:.2f}-{found.high:.2f})" if quartiles else "")


def show(name: str, found: Row) -> None:
    """Print the table of one workload."""
    from rich.console import Console
    from rich.table import Table

    rows: list[Row] = found["rows"]
    theirs = _reference(rows, "torch")
    title = f"{name}: {found['what']}; load {found['load']:.1f}"
    table = Table("", title=title, title_justify="left", box=None, pad_edge=False)
    for column in ("MB", "held", "peak", "of torch", "time", "best", "cpu", "to torch", "error"):
        table.add_column(column, justify="right")
    for row in rows:
        own = _reference(rows, row["library"]) or row
        table.add_row(
            f"{row['library']:8} {row['way']}",
            f"{row['held'] / 1e6:.2f}",
            f"{row['held'] / own['held']:.3f}",
            "" if row["peak"] is None else f"{row['peak'] / own['peak']:.3f}",
            "" if theirs is None else f"{row['held'] / theirs['held']:.3f}",
            _ratio(row, own, "seconds", quartiles=True),
            f"{min(row['seconds']) / min(own['seconds']):.3f}",
            _ratio(row, own, "cpu"),
            _ratio(row, theirs, "seconds"),
            f"{row['error']:.1e}" if row["error"] else "0",
        )
    Console(width=132).print(table, highlight=False)


def draw(report: Row, path: Path) -> None:
    """Draw bytes against time: a panel for each workload, a point for each way."""
    from matplotlib.figure import Figure

    workloads: Row = report["workloads"]
    across = min(3, len(workloads))
    down = -(-len(workloads) // across)
    figure = Figure(figsize=(6 * across, 4.5 * down), layout="tight")
    panels = figure.subplots(down, across, squeeze=False)
    for panel in panels.flat[len(workloads) :]:
        panel.set_axis_off()
    for panel, (name, found) in zip(panels.flat, workloads.items(), strict=False):
        rows: list[Row] = found["rows"]
        base = _reference(rows, "torch") or rows[0]
        for library, marker, colour in (("gradpack", "o", "tab:blue"), ("torch", "s", "tab:orange")):
            points = [row for row in rows if row["library"] == library]
            x = [_middle(row, base) for row in points]
            y = [row["held"] / base["held"] for row in points]
            panel.scatter(x, y, marker=marker, color=colour, label=library, s=18)
            for row, at in zip(points, zip(x, y, strict=True), strict=True):
                panel.annotate(row["way"], at, fontsize=6, xytext=(3, 2), textcoords="offset points")
        panel.set_yscale("log")
        panel.set_title(f"{name}: {found['what'].split(';')[0].split(':')[0]}", fontsize=9)
        panel.set_xlabel(f"time of a step, {base['library']} without policy = 1", fontsize=8)
        panel.set_ylabel("bytes held for backward", fontsize=8)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=7)
    figure.savefig(path, dpi=110)


def _middle(row: Row, base: Row) -> float:
    return median(a / b for a, b in zip(row["seconds"], base["seconds"], strict=True))
