"""The benchmark of saved tensors on small workloads: numbers, table and picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.saved import gradients, measure, step
from benchmarks.saved_report import draw, show
from benchmarks.saved_ways import NAMES, Library


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    ways = ("checkpoint", "bf16", "recompute >> int8", "budget 0.5")
    return {**measure("W7", ways, 2, ("gradpack",)), "load": 1.0}


def test_bytes_and_errors(found: dict[str, Any]) -> None:
    rows = {row["way"]: row for row in found["rows"]}
    full = rows["none"]["held"]
    assert rows["checkpoint"]["error"] == rows["budget 0.5"]["error"] == 0
    assert rows["checkpoint"]["held"] < 0.8 * full
    assert 0 < rows["bf16"]["error"] < 0.01 and rows["bf16"]["held"] < 0.6 * full
    assert 0 < rows["recompute >> int8"]["error"] < 0.05
    assert rows["budget 0.5"]["peak"] <= rows["none"]["peak"]
    assert all(len(row["seconds"]) == len(row["cpu"]) == 2 for row in rows.values())


def test_table_and_picture(found: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    show("W7", found)
    assert "recompute >> int8" in capsys.readouterr().out
    pytest.importorskip("matplotlib")
    draw({"workloads": {"W7": found}}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize("workload", ["W9", "W10", "W11"])
def test_a_step_leaves_the_same_gradients_twice(workload: str) -> None:
    library = Library("gradpack", workload, 0.1)
    block, _ = library.block("none", 0)
    step(library, block)
    first = gradients(library)
    step(library, block)
    assert (first == gradients(library)).all() and first.any()


def test_ways_that_there_are() -> None:
    library = Library("gradpack", "W9", 0.0)
    assert [way for way in NAMES if not library.has(way)] == ["checkpoint"]  # it has no blocks
