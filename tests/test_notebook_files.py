"""The notebooks of the documentation run, without Jupyter, and print what is stored in them."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import gradpack

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell, and return the value of the expression that it ends with."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_show_what_is_stored(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    state, names, shown = gradpack.get_rng_state(), {"__name__": "__main__"}, 0
    try:
        for cell in document["cells"]:
            if cell["cell_type"] != "code":
                continue
            value, stored = run("".join(cell["source"]), names), []
            for output in cell["outputs"]:
                stored += output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
            now = capsys.readouterr().out + (repr(value) if value is not None else "")
            assert now == "".join(stored)
            shown += bool(stored)
    finally:
        gradpack.set_rng_state(state)
    assert shown > 1


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2
