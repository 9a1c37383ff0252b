"""`inspect.signature` of functions and methods: the parameters that they take."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from inspect import Parameter

import pytest

import gradpack as torch
from gradpack.declare.op import REGISTRY
from gradpack.ops.methods import load_all

VARIABLE = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
MODULES = [torch, torch.Tensor, torch.nn.functional, torch.linalg, torch.fft, torch.special, torch.random, torch.sparse]


def functions(space):
    for name in dir(space):
        found = getattr(space, name) if name[0] != "_" else None
        if callable(found) and not isinstance(found, type):
            yield name, found


@pytest.mark.parametrize("space", MODULES, ids=lambda space: space.__name__)
def test_no_signature_says_only_that_there_are_arguments(space):
    for name, function in functions(space):
        kinds = [p.kind for p in inspect.signature(function).parameters.values()]
        assert not set(kinds) >= set(VARIABLE), name


def test_a_signature_is_that_of_the_text_that_runs():
    load_all()
    names = sorted(name for name in REGISTRY if name[0] != "_")
    for name in names:
        op = REGISTRY[name]
        shown = inspect.signature(op.public).parameters
        op.generate(op)
        code = op.public.__code__
        taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        assert list(taken) == [n for n in shown if n != "out"], name  # which the text takes by `**`
        assert code.co_argcount == sum(p.kind is Parameter.POSITIONAL_OR_KEYWORD for p in shown.values()), name


def test_an_in_place_form_takes_what_the_function_takes_but_no_result():
    shown = inspect.signature(torch.Tensor.add_)
    assert list(shown.parameters) == ["input", "other", "alpha"]
    assert shown.parameters["alpha"].kind is Parameter.KEYWORD_ONLY and shown.parameters["alpha"].default == 1
    assert list(inspect.signature(torch.ones(2).add_).parameters) == ["other", "alpha"]
    assert list(inspect.signature(torch.Tensor.__add__).parameters) == ["self", "other"]
    assert list(inspect.signature(torch.Tensor.__iadd__).parameters) == ["self", "other"]
    x = torch.ones(2)
    assert inspect.signature(torch.Tensor.add_).bind(x, 1, alpha=2).arguments == {"input": x, "other": 1, "alpha": 2}


def test_methods_that_draw_show_their_bounds():
    assert str(inspect.signature(torch.ones(2).uniform_)) == "(from_=0.0, to=1.0, *, generator=None) -> 'Tensor'"
    assert list(inspect.signature(torch.Tensor.random_).parameters) == ["self", "from_", "to", "generator"]


def test_late_signatures_are_signatures():
    shown = inspect.signature(torch.sin)
    assert shown == inspect.signature(torch.cos) and hash(shown) == hash(inspect.signature(torch.cos))
    assert str(copy.copy(shown)) == str(shown) == str(pickle.loads(pickle.dumps(shown)))
    assert list(shown.replace(parameters=[]).parameters) == []
    assert shown.parameters["out"].default is None
    assert "out" not in inspect.signature(torch.transpose).parameters  # a view


def test_functions_of_linear_algebra_show_where_the_result_goes():
    for name in ("cholesky", "det", "eigh", "norm", "qr", "solve", "svdvals", "vecdot", "vector_norm"):
        shown = inspect.signature(getattr(torch.linalg, name)).parameters["out"]
        assert shown.kind is Parameter.KEYWORD_ONLY and shown.default is None, name
    assert list(inspect.signature(torch.lu_unpack).parameters)[-1] == "out"
    for name in ("diagonal", "vander"):
        assert "out" not in inspect.signature(getattr(torch.linalg, name)).parameters
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        torch.linalg.vander(torch.ones(2), out=torch.empty(0))


def test_signatures_are_made_when_they_are_asked_for():
    code = (
        "import gradpack as torch\ntorch.sin(torch.ones(2)).add_(1)\n"
        "for f in (torch.sin, torch.Tensor.add_):\n    assert not hasattr(vars(f)['__signature__'], '_made')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_public_form_takes_a_keyword_that_it_does_not_show():
    load_all()
    taken = 0
    for space in MODULES:
        for _, function in functions(space):
            if not getattr(function, "outside", False):
                continue
            shown = inspect.signature(function).parameters.values()
            inside = getattr(function.inside, "inside", function.inside)
            own = inspect.signature(inside, follow_wrapped=False).parameters.values()
            if any(p.kind in VARIABLE for p in (*own, *shown)):
                continue
            taken += 1
            needed = [p for p in shown if p.default is Parameter.empty]
            args = [torch.ones(2, 2) for p in needed if p.kind is not Parameter.KEYWORD_ONLY]
            options = {p.name: None for p in needed if p.kind is Parameter.KEYWORD_ONLY}
            with pytest.raises(TypeError, match="unexpected keyword argument 'zzz'"):
                function(*args, **options, zzz=1)
    assert taken > 300


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_show_their_parameters(name):
    shown = inspect.signature(getattr(torch.nn, name)).parameters
    assert list(shown)[:3] == ["input_size", "hidden_size", "num_layers"] and shown["num_layers"].default == 1
    assert ("proj_size" in shown) == (name == "LSTM") and ("nonlinearity" in shown) == (name == "RNN")
    assert not any(p.kind in VARIABLE for p in shown.values())
    given = {"bias": False, "batch_first": True, "dropout": 0.0, "bidirectional": True}
    made = getattr(torch.nn, name)(2, 3, **given)
    assert {key: getattr(made, key) for key in given} == given
