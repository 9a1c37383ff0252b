"""The notebooks of the documentation run, without Jupyter, and print what is stored in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.notebook_pages import page, run

import gradpack

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_show_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    state, names, shown = gradpack.get_rng_state(), {"__name__": "__main__"}, 0
    try:
        for cell in document["cells"]:
            if cell["cell_type"] != "code":
                continue
            (printed, value), stored = run("".join(cell["source"]), names), []
            if cell["metadata"].get("tags") == ["measured"]:  # other times at each run
                assert value._repr_html_() and cell["outputs"][0]["data"]["text/html"]
                continue
            for output in cell["outputs"]:
                stored += output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
            now = printed + (repr(value) if value is not None else "")
            assert now == "".join(stored)
            shown += bool(stored)
    finally:
        gradpack.set_rng_state(state)
    assert shown > 1


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_page_of_a_notebook(path):
    state = gradpack.get_rng_state()
    text = page(path)
    gradpack.set_rng_state(state)
    assert f"]({path.name})" in text and text.count('<div class="shown">') > 2 and "<table" in text


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2
