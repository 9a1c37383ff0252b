"""The code in README, CONTRIBUTING and docs/ runs: blocks of one page one after the other, in one namespace."""

from __future__ import annotations

import doctest
import importlib
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradpack
from gradpack import extend, saved
from gradpack.backends import backend_of
from gradpack.backends.base import forget_backend, register_backend
from tests.samples.base import S, T

ROOT = Path(__file__).parents[1]
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


def a_training_loop() -> dict[str, Any]:
    model = gradpack.nn.Linear(4, 3)
    batches = [(gradpack.randn(8, 4), gradpack.randint(3, (8,))) for _ in range(2)]
    optimizer = gradpack.optim.SGD(model.parameters(), lr=0.1)
    return {"model": model, "optimizer": optimizer, "batches": batches, "F": gradpack.nn.functional}


def a_policy() -> dict[str, Any]:
    network, scale = gradpack.nn.Linear(4, 3), gradpack.zeros(3, requires_grad=True)
    given = {"network": network, "scale": scale, "loc": gradpack.zeros(3), "log_likelihood": gradpack.sum}
    return given | {"state": gradpack.randn(8, 4), "reward": gradpack.randn(8)}


def a_step() -> dict[str, Any]:
    given = {"model": gradpack.nn.Linear(4, 3), "x": gradpack.randn(8, 4), "y": gradpack.randint(3, (8,))}
    return given | {"loss_of": gradpack.nn.functional.cross_entropy}


# What a page takes for granted. README and CONTRIBUTING have tests of their own.
GIVEN = {
    "docs/index.md": dict,
    "docs/running.md": dict,
    "docs/devices.md": dict,
    "docs/extending.md": lambda: {"gradpack": gradpack, "my_library": np},
    "docs/saved.md": a_training_loop,
    "docs/reference/distributions.md": a_policy,
    "docs/reference/profiler.md": a_step,
    "docs/reference/saved.md": a_step,
}


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_every_page_with_code_is_run():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    names = {str(page.relative_to(ROOT)) for page in pages}
    assert {name for name in names if blocks(name, "(?:python|pycon)")} == {*GIVEN, "README.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize("page", GIVEN)
def test_blocks_run(page, library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = gradpack.get_rng_state()
    names: dict[str, Any] = {"__name__": "page", "some_library": library, **GIVEN[page]()}
    try:
        with extend.registering():
            for block in blocks(page, "python"):
                if block.startswith("import torch\n"):  # of the policies in torch: tests/oracle has tests of them
                    continue
                exec(compile(block, page, "exec"), names)
    finally:
        gradpack.set_rng_state(state)


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in ROOT.glob("docs/reference/*.md")])
def test_what_the_reference_names_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for entry in text.split("::: ")[1:]:
        module = importlib.import_module(entry.split()[0])
        _, _, members = entry.partition("members:")
        for member in re.findall(r"\w+", members.partition("\n\n")[0]):
            assert hasattr(module, member), f"{page}: {module.__name__} has no {member}"


def test_the_first_screen_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    state = gradpack.get_rng_state()
    (block,) = blocks("README.md", "python")
    exec(compile(block, "README.md", "exec"), {"__name__": "page"})
    gradpack.set_rng_state(state)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("tensor([ 3., 12.]") and lines[0].endswith("tensor([ 6., 12.])")
    kept = {line.partition(":")[0]: int(line.split()[-6].replace(",", "")) for line in lines[1:6]}
    assert all(held <= kept["keep()"] for held in kept.values()) and kept["bf16()"] < 0.6 * kept["keep()"]
    assert kept["disk()"] < 0.05 * kept["keep()"]
    assert kept["budget('3.0 MiB')"] <= 3 << 20
    assert lines[6].startswith("gelu input 1 ") and lines[7] == "True"
    assert (tmp_path / "step.html").exists()


@pytest.mark.parametrize("page", [page for page in GIVEN if blocks(page, "pycon")])
def test_sessions_show_what_they_say(page):
    session = "\n".join(blocks(page, "pycon"))
    names = {"torch": gradpack, "saved": saved}
    test = doctest.DocTestParser().get_doctest(session, names, page, page, None)
    said: list[str] = []
    assert not doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append).failed, "".join(said)


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
