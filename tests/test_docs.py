"""The code in README, CONTRIBUTING and docs/ runs: blocks of one page one after the other, in one empty namespace."""

from __future__ import annotations

import doctest
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.reference import names, pages

import gradpack
from gradpack import extend
from gradpack.backends import backend_of
from gradpack.backends.base import forget_backend, register_backend
from tests.pages import PAGES, ROOT, blocks, is_for_torch, is_fragment, printed
from tests.samples.base import S, T

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def library() -> Iterator[types.ModuleType]:
    """A library whose arrays nobody has claimed; other tests do, and get them back."""
    strict = pytest.importorskip("array_api_strict")
    owner = backend_of(type(strict.asarray(0.0)))
    if owner is not None:
        forget_backend(owner, {})
    yield strict
    if owner is not None:
        register_backend(owner, replace=True)


@pytest.fixture
def run(library, tmp_path, monkeypatch, capsys):
    """Runs the blocks of a page that are to run by themselves, and returns the lines that they print."""
    monkeypatch.chdir(tmp_path)
    state = gradpack.get_rng_state()

    def blocks_of(page: str) -> list[str]:
        names: dict[str, Any] = {"__name__": "page"}
        lines: list[str] = []
        with extend.registering():
            for block in blocks(page):
                if block.startswith(">>>"):
                    session(block, names, page)
                elif not is_fragment(block) and not is_for_torch(block):
                    exec(compile(block, page, "exec"), names)
                    out = capsys.readouterr().out
                    said = printed(page, block)
                    assert said is None or doctest.OutputChecker().check_output(said, out, FLAGS), out
                    lines += out.splitlines()
        return lines

    yield blocks_of
    gradpack.set_rng_state(state)


def session(block: str, names: dict[str, Any], page: str) -> None:
    """Checks that a session shows what it says, and leaves its names behind."""
    test = doctest.DocTestParser().get_doctest(block, names, page, page, None)
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False).failed
    assert not failed, "".join(said)
    names.update(test.globs)


def bytes_of(lines: list[str]) -> dict[str, int]:
    """From lines that begin with a way of keeping, and have a number of bytes in them."""
    found = re.findall(r"^(\w+)\(.*?\):? ([\d,]+)", "\n".join(lines), re.MULTILINE)
    return {way: int(number.replace(",", "")) for way, number in found}


def first_screen(lines: list[str]) -> None:
    assert lines[0].startswith("tensor([ 3., 12.]") and lines[0].endswith("tensor([ 6., 12.])")
    kept = bytes_of(lines[1:6])
    assert len(kept) == 5
    assert all(held <= kept["keep"] for held in kept.values()) and kept["bf16"] < 0.6 * kept["keep"]
    assert kept["disk"] < 0.05 * kept["keep"]
    assert kept["budget"] <= 3 << 20
    assert lines[6].startswith("gelu input 1 ") and lines[7] == "True"
    assert Path("step.html").exists()


def first_page(lines: list[str]) -> None:
    kept = bytes_of(lines)
    assert list(kept) == ["keep", "bf16", "disk", "recompute"]
    assert kept["bf16"] < 0.6 * kept["keep"] and kept["recompute"] < 0.6 * kept["keep"]
    assert kept["disk"] < 0.05 * kept["keep"]


def under_the_name_of_torch(lines: list[str]) -> None:
    (block,) = blocks("docs/running.md", "python")
    assert lines == re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE)


def a_budget(lines: list[str]) -> None:
    peak, on_disk = map(int, lines[0].split())
    assert 0 < peak <= 512 << 20 and on_disk == 0
    assert len(lines) > 1  # the plan


def a_recording(lines: list[str]) -> None:
    assert all(int(number) > 0 for number in lines[0].split())
    assert Path("step.html").exists()


def a_profile(lines: list[str]) -> None:
    assert any("aten::sum" in line for line in lines)
    assert Path("trace.json").exists()


PRINTS = {
    "README.md": first_screen,
    "docs/index.md": first_page,
    "docs/running.md": under_the_name_of_torch,
    "docs/saved.md": a_budget,
    "docs/reference/saved.md": a_recording,
    "docs/reference/profiler.md": a_profile,
}


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_and_print_what_the_page_says(page, run):
    lines = run(page)
    if page in PRINTS:
        PRINTS[page](lines)


def test_who_says_to_be_a_fragment():
    found = {page: sum(map(is_fragment, blocks(page))) for page in PAGES}
    assert {page: count for page, count in found.items() if count} == {"CONTRIBUTING.md": 2, "docs/compile.md": 2}
    assert set(PRINTS) <= set(PAGES)


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in ROOT.glob("docs/reference/*.md")])
def test_what_the_reference_names_is_there(page):
    entries = {e.path: e for group in names.entries().values() for e in group}
    text = pages.tables((ROOT / page).read_text(encoding="utf-8"), page.removeprefix("docs/"), entries)
    assert ":::" not in text
    links = re.findall(r"^\| \[`[\w.]+`]\(\.\./(api/[\w./-]+)\) \| \S", text, re.MULTILINE)
    assert len(links) > 4 and set(links) <= {e.page for e in entries.values()}


def test_the_operation_that_contributing_adds():
    declaration, samples = blocks("CONTRIBUTING.md", "python")
    names: dict[str, Any] = {"elementwise": extend.elementwise, "np": np, "Any": Any}
    with extend.registering():
        exec(declaration.replace("def hypot(", "def hypotenuse("), names)
        x, y = (gradpack.tensor([3.0, 5.0], dtype=gradpack.float64).requires_grad_() for _ in range(2))
        assert gradpack.autograd.gradcheck(names["hypotenuse"], (x, y))
        assert gradpack.autograd.gradgradcheck(names["hypotenuse"], (x, y))
    exec(samples, names | {"S": S, "T": T}, names)
    assert {*names["SAMPLES"], names["FUNCTIONS"], names["METHODS"], names["INPLACE"]} == {"hypot", "hypot_"}
