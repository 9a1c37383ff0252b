"""Every operation has a docstring, and the examples in it and in every module run.

The public functions of operations have globals of their own, so that no collector of doctests
takes them for members of the module that declares them.
"""

from __future__ import annotations

import doctest
import gc
import importlib
import pkgutil
from pathlib import Path

import pytest

import gradpack
import gradpack.nn.functional
from gradpack.declare.op import REGISTRY
from tests.ops.cases import operations

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = operations()
PUBLIC = (gradpack, gradpack.nn.functional, gradpack.Tensor)


ELSEWHERE = {"gradpack.saved.torch": "its examples need torch: tests/oracle/test_saved_in_torch.py runs them"}


def run(test: doctest.DocTest) -> None:
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert not result.failed, "".join(said)


def module_names() -> list[str]:
    found = pkgutil.walk_packages(gradpack.__path__, "gradpack.")
    return [m.name for m in found if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", NAMES)
def test_docstring_of_operation(name):
    op = REGISTRY[name]
    text = op.forward.__doc__
    assert op.public.__doc__ == text
    assert text, f"{name} has no docstring"
    if not any(getattr(getattr(place, name, None), "op", None) is op for place in PUBLIC):
        return  # a part of a public function, which has the example
    test = doctest.DocTestParser().get_doctest(text, {}, name, op.forward.__code__.co_filename, None)
    assert test.examples, f"the docstring of {name} has no example"
    run(test)


@pytest.mark.parametrize("name", module_names())
def test_examples_of_module(name, pytestconfig):
    if pytestconfig.getoption("doctestmodules") and any("src" in str(arg) for arg in pytestconfig.args):
        pytest.skip("pytest collects them itself in this run")
    if name in ELSEWHERE:
        pytest.skip(ELSEWHERE[name])
    if name.startswith("gradpack.compiler.jax."):
        pytest.importorskip("jax")
    module = importlib.import_module(name)
    if name == "gradpack.cpu.memory":  # counts what is held: garbage of other tests is not to go meanwhile
        gc.collect()
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        if test.examples:
            test.globs = {}
            run(test)


@pytest.mark.parametrize("name", ["saved.md"])
def test_examples_of_page(name):
    path = Path(__file__).parents[1] / "docs" / name
    test = doctest.DocTestParser().get_doctest(path.read_text(), {}, name, str(path), 0)
    assert len(test.examples) > 3
    run(test)
