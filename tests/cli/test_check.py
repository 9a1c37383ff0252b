"""`gradpack run --check`: what is compared of two runs, and what is said of it. Oracle tests run it on torch."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

import gradpack
from gradpack.cli import check, run
from gradpack.cli.check import Done, Tolerance
from gradpack.cli.problem import Problem

NEAR = Tolerance(1e-4, 1e-4)


def call(line, name, values, shape=None, kind="float32"):
    return ["train.py", line, name, kind, [len(values)] if shape is None else shape, values]


def checked(monkeypatch, capsys, theirs, ours, tolerance=NEAR):
    done = {"torch": theirs, "gradpack": ours}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(check, "_run", lambda library, rest: done[library])
    code = check.check(["--", "train.py"], tolerance)
    return code, capsys.readouterr().out


def test_numbers_that_are_near_are_equal(monkeypatch, capsys):
    theirs = Done(0, ["loss 0.69314", "tensor([1.,  nan, 2e-05])", "step 3"], "", [call(1, "torch.add", [1.0])])
    ours = Done(
        0, ["loss 0.69315", "tensor([1., nan, 1.00e-05])", "step 3"], "", [call(1, "torch.Tensor.add", [1.00001])]
    )
    assert checked(monkeypatch, capsys, theirs, ours) == (
        0,
        "gradpack run --check: the 3 lines that the program printed are equal\n",
    )
    code, out = checked(monkeypatch, capsys, theirs, ours, Tolerance(1e-7, 1e-7))
    assert code == 1 and out.startswith(
        "gradpack run --check: line 1 of the output differs\n  torch:    loss 0.69314\n"
    )
    assert "first result that differs: torch.add at train.py:1, float32 [1]: 1 on torch, 1.00001 on gradpack" in out


@pytest.mark.parametrize(
    ("theirs", "ours", "line"),
    [
        (["a", "b"], ["a", "c"], 2),
        (["3"], ["4"], 1),  # whole numbers are what they are
        (["0.5"], ["0.5 0.5"], 1),
        (["nan"], ["0.5"], 1),
        (["inf"], ["-inf"], 1),
        (["a"], ["a", "b"], 2),
        (["a", "b"], ["a"], 2),
    ],
)
def test_the_first_line_that_differs_is_shown(monkeypatch, capsys, theirs, ours, line):
    code, out = checked(monkeypatch, capsys, Done(0, theirs, "", []), Done(0, ours, "", []))
    assert code == 1 and f"line {line} of the output differs" in out


def test_the_first_result_that_differs_is_named(monkeypatch, capsys):
    theirs = [
        call(1, "torch.empty", [3.0]),
        call(2, "torch.Tensor.mul", [1.0, 2.0]),
        call(3, "torch.Tensor.lerp_", [1.0]),  # a line with other operations on the other library
        call(3, "torch.Tensor.add_", [1.0]),
        call(2, "torch.Tensor.mul", [5.0, 6.0, 7.0]),
    ]
    ours = [
        call(1, "torch.empty", [8.0]),
        call(2, "torch.mul", [1.0, 2.0]),
        call(3, "torch.Tensor.add_", [9.0]),
        call(2, "torch.mul", [5.0, 6.5, 9.0]),
    ]
    assert check._operation(ours, theirs, NEAR) == (
        "The first result that differs: torch.Tensor.mul at train.py:2, float32 [3]: 7 on torch, 9 on gradpack"
    )
    assert check._operation(ours[:3], theirs, NEAR) == ""


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        (call(1, "torch.add", [1.0], kind="float64"), r"float32 \[1\] on torch, float64 \[1\] on gradpack"),
        (call(1, "torch.add", [1.0], shape=[1, 1]), r"float32 \[1\] on torch, float32 \[1, 1\] on gradpack"),
        (call(1, "torch.add", [float("nan")]), r"1 on torch, nan on gradpack"),
    ],
)
def test_dtypes_shapes_and_nan_are_differences(ours, said):
    found = check._operation([ours], [call(1, "torch.Tensor.add", [1.0])], NEAR)
    assert re.search(said, found)


def test_random_numbers_are_explained():
    found = check._operation([call(1, "torch.randn", [1.0])], [call(1, "torch.randn", [2.0])], NEAR)
    assert "It draws random numbers, which are others here from the same seed" in found


def test_failures_are_shown_with_the_end_of_their_errors(monkeypatch, capsys):
    failed = Done(1, ["a"], "Traceback\n" * 20 + "RuntimeError: no\n", [])
    code, out = checked(monkeypatch, capsys, Done(0, ["a"], "", []), failed)
    assert code == 1 and "exit code 0 on torch, 1 on gradpack" in out and "    RuntimeError: no" in out
    assert out.count("Traceback") == 11


def test_without_torch_there_is_nothing_to_compare_with(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Problem, match="torch is not installed"):
        run.main(["--check", "train.py"])


def test_arguments_of_the_command_and_of_the_program(monkeypatch):
    given = []
    monkeypatch.setattr(check, "check", lambda rest, tolerance: given.append((rest, tolerance)) or 0)
    assert run.main(["--check", "--rtol", "1e-3", "train.py", "--rtol", "5"]) == 0
    assert run.main(["--check", "--atol=0", "-m", "package.train", "-x"]) == 0
    assert run.main(["--check", "-c", "print(1)", "a"]) == 0
    assert given == [
        (["--", "train.py", "--rtol", "5"], Tolerance(1e-3, 1e-4)),
        (["-m", "package.train", "-x"], Tolerance(1e-4, 0.0)),
        (["-c", "print(1)", "a"], Tolerance(1e-4, 1e-4)),
    ]


def test_what_a_program_computes_is_written_down(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, torch\n"
        "x = torch.arange(100.0) + 1\n"
        "x.argmax()\n"
        "print(sys.argv[1:], x.sum().item())\n"
        "raise SystemExit(3)\n"
    )
    path = tmp_path / "operations"
    done = subprocess.run(
        [sys.executable, "-m", "gradpack.cli.recorded", "gradpack", str(path), "--", str(script), "--lr", "3"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gradpack.__file__))},
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "['--lr', '3'] 5050.0\n", "")
    calls = [json.loads(line) for line in path.read_text().splitlines()]
    assert {call[0] for call in calls} == {str(script)}
    found = {(call[1], call[2].rpartition(".")[2]): call[3:] for call in calls}
    kind, shape, values = found[2, "add"]
    assert (kind, shape, len(values), values[0], values[-1]) == ("float32", [100], 16, 1.0, 100.0)
    assert found[3, "argmax"] == ["int64", [], []] and found[4, "sum"] == ["float32", [], [5050.0]]
