"""Stub files say what there is at run time: names, parameters, defaults and results."""

from __future__ import annotations

import ast
import inspect
import re
from inspect import Parameter
from itertools import product

import pytest
from tools.stubs.modules import files

import gradpack as torch
from gradpack import return_types
from gradpack.core.properties import TensorBase
from tests.stubs.definitions import FUNCTIONS, SOURCE, STUBS, definitions, names
from tests.stubs.results import HANDS, fits, results_of


def test_the_files_are_what_the_tool_writes():
    stale = [path for path, text in files().items() if (SOURCE / path).read_text(encoding="utf-8") != text]
    assert not stale, "`python -m tools.stubs` writes them anew"


@pytest.mark.parametrize(
    ("path", "owner", "space"), [s for s in STUBS if not s[1]], ids=lambda s: getattr(s, "__name__", s)
)
def test_every_public_name_is_there(path, owner, space):
    stub = names(path)
    assert not {n for n in space.__all__ if n not in stub and n != "grad"}
    assert not {n for n in stub if not hasattr(space, n)}


def test_every_member_of_a_tensor_is_there():
    written = names("core/tensor_methods.pyi", "TensorMethods")
    for path, owner in (("core/properties.py", "TensorBase"), ("core/tensor.py", "Tensor")):
        tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
        body = next(n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name == owner)
        written |= {n.name for n in body if isinstance(n, ast.FunctionDef)}
        written |= {t.id for n in body if isinstance(n, ast.Assign) for t in n.targets}
    public = {n for n in dir(torch.Tensor) if n[0] != "_"}
    operators = {n for n, found in vars(TensorBase).items() if n[:2] == "__" and callable(found)}
    assert len(operators) > 60
    assert not (public | operators) - written


def test_a_named_tuple_has_its_fields():
    tree = ast.parse((SOURCE / "return_types.pyi").read_text(encoding="utf-8"))
    found = {
        n.name: tuple(f.target.id for f in n.body if isinstance(f, ast.AnnAssign))
        for n in tree.body
        if isinstance(n, ast.ClassDef)
    }
    assert found == {n: getattr(return_types, n)._fields for n in dir(return_types) if n[0] != "_"}


def faults_of(path, name, found, function):
    """Yield what the definitions of a stub say that the signature does not."""
    method = path.endswith("tensor_methods.pyi")
    own = [*inspect.signature(function).parameters.values()][method:]
    if name == "to":  # takes any of three lists of arguments
        own = [p.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for p in own if p.name != "args"]
    names = [p.name for p in own]
    taken = {n for one in found for n in one.names[method:]}
    if len(found) == 1 and found[0].names[method:] != names:
        yield f"{found[0].names}, not {names}"
    if taken - {*names} - {"other"} or {*names} - taken:
        yield f"{taken}, not {names}"
    for one, p in product(found, own):
        if p.name in one.defaults and one.defaults[p.name] is not ...:
            if repr(one.defaults[p.name]) != repr(p.default):
                yield f"{p.name} is {one.defaults[p.name]!r}, not {p.default!r}"
        if p.kind is Parameter.KEYWORD_ONLY and p.name in one.positional and p.name != "other":
            yield f"{p.name} by position"
        if p.default is Parameter.empty and p.name in one.defaults:
            yield f"{p.name} has no default"


@pytest.mark.parametrize("path", [path for path, _, _ in STUBS])
def test_parameters_are_those_of_the_signature(path):
    functions = [f for f in FUNCTIONS if f[0] == path and callable(f[3])]
    assert len(functions) > 20
    assert not {f[1]: faults for f in functions if (faults := [*faults_of(*f)])}


def test_types_are_those_of_stubs():
    vague = re.compile(r"\b(Array|Dim|Number|Setting|Sizes|float|int|bool|dtype|device)\b")
    texts = {text for _, _, found, _ in FUNCTIONS for one in found for text in (one.result, *one.types.values())}
    assert len(texts) > 50
    assert not {text for text in texts if vague.search(text)}


@pytest.mark.parametrize(("text", "call"), HANDS, ids=[text for text, _ in HANDS])
def test_a_flag_decides_the_type_of_the_result(text, call):
    assert fits(call(), text)


def test_results_have_the_types_that_stubs_say():
    tried, wrong = set(), {}
    for path, name, found, function in FUNCTIONS:
        for arguments, result in results_of(name, found[0], function):
            tried.add((path, name))
            if not any(fits(result, one.result) for one in found):
                wrong[path, name] = found[0].result, type(result), arguments
    assert not wrong
    assert len(tried) > 0.75 * len(FUNCTIONS), len(tried)


def test_the_annotated_types_of_in_place_forms_are_tensors():
    found = definitions("core/tensor_methods.pyi", "TensorMethods")
    forms = [n for n in found if n[-1] == "_" and n[0] != "_"]
    assert len(forms) > 100
    assert {one.result for n in forms for one in found[n]} == {"Tensor"}
