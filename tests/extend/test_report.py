"""What operations there are, and which names of torch exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gradpack
from gradpack import extend
from gradpack.cli import main
from tests.extend.names_page import others, page


def test_every_operation_has_an_entry():
    all_names = extend.list_ops()
    assert len(all_names) == len(set(all_names)) > 400
    for name in all_names:
        info = extend.get_op_info(name)
        assert info.name == name and info.doc and info.kind
        assert info.kind == "composition" or set(info.formulas) == set(info.inputs)
        assert extend.has_op(name) and extend.has_vjp(name) == info.differentiable


def test_an_entry():
    info = extend.get_op_info("mul")
    assert info.kind == "elementwise" and info.node == "MulBackward0" and info.path == "gradpack.mul"
    assert info.formulas == {"input": "g * other", "other": "g * input"}
    assert info.dtypes == ("bool", "integral", "floating", "complex") and not info.parts
    joined = extend.get_op_info("hstack")
    assert joined.kind == "composition" and "cat" in joined.parts and joined.differentiable
    assert not extend.has_vjp("argmax") and not extend.has_jvp("argmax") and not extend.has_op("_sum")
    with pytest.raises(KeyError, match="there is no operation 'sine': did you mean"):
        extend.get_op_info("sine")


def test_the_list_of_names():
    found = extend.coverage()
    assert len(found) == 415 and found["torch.add"] and found["torch.autograd.Function.apply"]
    assert len(others()) == 519
    assert others()["EyeOptions"] == "keyword arguments of `eye`"


def test_the_page_is_that_of_the_list():
    there = Path(__file__).parents[2] / "docs" / "names.md"
    assert there.read_text(encoding="utf-8") == page(), "python -m tests.extend.names_page > docs/names.md"


def test_the_command(capsys):
    assert main(["ops", "--kind", "bilinear"]) == 0
    assert "matmul" in capsys.readouterr().out
    assert main(["ops", "mul"]) == 0
    assert "formulas of input: g * other" in capsys.readouterr().out
    assert main(["ops", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["names"]["torch.add"] is True and report["operations"]["add"]["kind"] == "elementwise"
    assert main(["ops", "--missing", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [path for path, there in extend.coverage().items() if not there]
    assert main(["ops", "sine"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert main(["ops", "--kind", "odd"]) == 2


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("cross_entropy", "gradpack.nn.functional.cross_entropy"),
        ("F.gelu", "gradpack.nn.functional.gelu"),
        ("torch.linalg.svd", "gradpack.linalg.svd"),
        ("fft.rfft", "gradpack.fft.rfft"),
        ("Tensor.to", "Tensor.to"),
        ("requires_grad_", "Tensor.requires_grad_"),
        ("func.vmap", "gradpack.func.vmap"),
        ("autograd.grad", "gradpack.autograd.grad"),
    ],
)
def test_functions_are_known_by_the_names_that_users_call(name, path, capsys):
    info = extend.get_op_info(name)
    assert info.path == path and info.doc and info.signature.startswith("(")
    assert main(["ops", name]) == 0
    assert f"path: {path}\n" in capsys.readouterr().out


def test_the_command_lists_every_public_function(capsys):
    assert main(["ops"]) == 0
    listed = {line.partition(" ")[0] for line in capsys.readouterr().out.splitlines()}
    for place in ("nn.functional", "linalg", "fft", "special"):
        module = gradpack
        for part in place.split("."):
            module = getattr(module, part)
        functions = [n for n in module.__all__ if not isinstance(getattr(module, n), type) and n != "grad"]
        assert len(functions) > 20
        assert {f"{place}.{n}" for n in functions} <= listed
    assert {"Tensor.to", "Tensor.add_", "sin", "zeros"} <= listed
