"""What `gradpack` says to names of commands, and `gradpack ops` to names of classes."""

from __future__ import annotations

import pytest

from gradpack.cli import COMMANDS, main


def test_a_misspelt_command_is_answered_with_the_near_one(capsys):
    assert main(["opss"]) == 2
    assert (
        capsys.readouterr().err
        == "gradpack: there is no command 'opss': did you mean ops? gradpack --help lists them\n"
    )


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["help"], 0)])
def test_without_a_command_all_are_listed(arguments, code, capsys):
    assert main(arguments) == code
    out = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n    {name} " not in out] == []


@pytest.mark.parametrize(
    ("name", "path"), [("nn.Linear", "nn.Linear"), ("Adam", "optim.Adam"), ("torch.Tensor", "Tensor")]
)
def test_ops_tells_about_classes(name, path, capsys):
    assert main(["ops", name]) == 0
    out = capsys.readouterr().out
    assert f"path: gradpack.{path}\nkind: class\nsignature: (" in out


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("torch.nn.Linaer", "there is no operation or class 'torch.nn.Linaer': did you mean nn.Linear?"),
        ("Linaer", "there is no operation or class 'Linaer': did you mean nn.Linear?"),
        ("gelo", "there is no operation or class 'gelo': did you mean gelu, ge?"),
        ("qqqqq", "there is no operation or class 'qqqqq': gradpack ops lists them"),
    ],
)
def test_ops_names_what_is_near(name, answer, capsys):
    assert main(["ops", name]) == 2
    assert capsys.readouterr().err == f"gradpack: {answer}\n"


def test_ops_shows_parameters_and_formulas_as_users_write_them(capsys):
    assert main(["ops", "relu"]) == 0
    out = capsys.readouterr().out
    assert "signature: (input, *, out=None)\n" in out and "formulas of input: where(out <= 0, 0.0, g)\n" in out


@pytest.mark.parametrize("name", ["cross_entropy", "F.batch_norm", "F.silu", "linalg.svd"])
def test_ops_knows_that_compositions_are_differentiable(name, capsys):
    assert main(["ops", name]) == 0
    assert "differentiable: True" in capsys.readouterr().out


def test_an_unknown_argument_is_answered_by_the_subcommand(capsys):
    with pytest.raises(SystemExit):
        main(["ops", "add", "mul"])
    err = capsys.readouterr().err
    assert err.startswith("usage: gradpack ops ") and "unrecognized arguments: mul" in err
