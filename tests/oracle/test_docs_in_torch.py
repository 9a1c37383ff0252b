"""Blocks of the documentation that are of PyTorch itself run with it, in an empty namespace."""

import sys

import pytest
from tests.pages import PAGES, blocks, is_for_torch

FOUND = [(page, block) for page in PAGES for block in blocks(page) if is_for_torch(block)]


@pytest.mark.parametrize(("page", "block"), FOUND, ids=[page for page, _ in FOUND])
def test_blocks_run(page, block, capsys, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "torch", torch)
    with torch.random.fork_rng():
        exec(compile(block, page, "exec"), {"__name__": "page"})
    assert [int(line) > 0 for line in capsys.readouterr().out.splitlines()] == [True] * 3
