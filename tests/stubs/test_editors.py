"""What editors complete and type checkers find, by the stubs: needs the extra `typing`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradpack as torch

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = Path(torch.__file__).parents[1]
PROGRAMS = sorted((HERE / "programs").glob("*.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
TYPOS = (HERE / "typos.txt").read_text(encoding="utf-8")
WRONG = {nr for nr, line in enumerate(TYPOS.splitlines(), 1) if line.endswith("# wrong")}


def public(space):
    return getattr(space, "__all__", None) or [n for n in dir(space) if n[0] != "_"]


MODULE = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())

    def forward(self, x):
        return self.body(x)
"""

COMPLETED = {
    "torch.": public(torch),
    "torch.Tensor.": public(torch.Tensor),
    "torch.randn(3).": public(torch.randn(3)),
    "(torch.randn(3) @ torch.ones(3)).": public(torch.randn(3)),
    "torch.nn.Parameter(torch.ones(3)).": public(torch.randn(3)),
    "torch.max(torch.ones(3), 0).": ["values", "indices"],
    "values, indices = torch.max(torch.ones(3), 0)\nvalues.": public(torch.randn(3)),
    "torch.randn(3).grad.": public(torch.randn(3)),
    "torch.nn.Linear(3, 4)(torch.randn(3)).": public(torch.randn(3)),
    f"{MODULE}x = Net()(torch.randn(3))\nx.": public(torch.randn(3)),
    "torch.nn.LSTM(2, 3)(torch.randn(3, 2))[0].": public(torch.randn(3)),
    "torch.vmap(torch.sin)(torch.randn(3)).": public(torch.randn(3)),
    "torch.distributions.Normal(0.0, 1.0).mean.": public(torch.randn(3)),
    "for row in torch.randn(3):\n    row.": public(torch.randn(3)),
    "torch.randn(3, requires_grad=True).exp().grad_fn.": ["metadata", "name", "next_functions", "register_hook"],
    "torch.nn.": public(torch.nn),
    "torch.nn.Linear(3, 4).": public(torch.nn.Linear(3, 4)),
    "torch.nn.functional.": public(torch.nn.functional),
    "torch.linalg.": public(torch.linalg),
    "torch.fft.": public(torch.fft),
    "torch.special.": public(torch.special),
    "torch.func.": public(torch.func),
    "torch.optim.": public(torch.optim),
    "torch.autograd.": public(torch.autograd),
    "torch.autograd.graph.": public(torch.autograd.graph),
    "torch.distributions.": [*public(torch.distributions), *torch.distributions._SHARED],
    "torch.nn.init.": public(torch.nn.init),
    "torch.optim.lr_scheduler.": public(torch.optim.lr_scheduler),
    "torch.utils.data.": public(torch.utils.data),
    "torch.saved.": public(torch.saved),
}


@pytest.mark.parametrize("text", COMPLETED)
def test_jedi_completes_the_names(text, tmp_path):
    jedi = pytest.importorskip("jedi")
    project = jedi.Project(str(tmp_path), added_sys_path=[str(SOURCE)])
    script = jedi.Script(f"import gradpack as torch\n{text}", path=str(tmp_path / "x.py"), project=project)
    found = {c.name for c in script.complete()}
    missing = [n for n in COMPLETED[text] if n not in found]
    assert len(missing) <= 0.02 * len(COMPLETED[text]), missing


def test_jedi_shows_parameters_and_documentation(tmp_path):
    jedi = pytest.importorskip("jedi")
    project = jedi.Project(str(tmp_path), added_sys_path=[str(SOURCE)])
    script = jedi.Script("import gradpack as torch\ntorch.cumsum(", path=str(tmp_path / "x.py"), project=project)
    (shown,) = script.get_signatures()
    assert [p.name for p in shown.params] == ["input", "dim", "dtype", "out"]
    assert "The cumulative sum along a dimension." in shown.docstring()


@pytest.fixture
def typos(tmp_path):
    path = tmp_path / "typos.py"
    path.write_text(TYPOS, encoding="utf-8")
    return path


def run(*command, **options):
    return subprocess.run([*command], capture_output=True, text=True, check=False, **options)


def mypy(tmp_path, *files):
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = True\nmypy_path = {SOURCE}\n", encoding="utf-8")
    options = [
        "--config-file",
        "mypy.ini",
        "--cache-dir",
        str(tmp_path.parent / "mypy_cache"),  # of all tests
        "--no-error-summary",
        "--no-pretty",
        "--show-absolute-path",
    ]
    done = run(sys.executable, "-m", "mypy", *options, *files, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error:" in line and line.startswith(str(tmp_path))]


def pyright(tmp_path, *files):
    pytest.importorskip("pyright")
    if run(sys.executable, "-m", "pyright", "--version").returncode:
        pytest.skip("pyright cannot be installed here: it needs node")
    settings = {"include": ["*.py"], "extraPaths": [str(SOURCE)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    options = ["--outputjson", "--pythonpath", sys.executable]
    done = run(sys.executable, "-m", "pyright", *options, "-p", str(tmp_path), cwd=tmp_path)
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == len(files), done.stdout
    return [
        f"{d['file']}:{d['range']['start']['line'] + 1}: {d['message']}"
        for d in found["generalDiagnostics"]
        if d["severity"] == "error" or d["rule"] in ("reportAttributeAccessIssue", "reportUnsupportedDunderAll")
    ]


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_checkers_accept_programs_that_are_right(checker, tmp_path):
    assert len(PROGRAMS) >= 10 and EXAMPLES
    files = [shutil.copy(path, tmp_path) for path in (*PROGRAMS, *EXAMPLES)]
    assert not checker(tmp_path, *files)


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_checkers_find_every_typo_and_nothing_else(checker, tmp_path, typos):
    assert len(WRONG) >= 40
    found = {int(m[1]) for line in checker(tmp_path, str(typos)) if (m := re.search(r"typos\.py:(\d+):", line))}
    lines = TYPOS.splitlines()
    assert not [lines[nr - 1] for nr in sorted(WRONG - found)]
    assert not [lines[nr - 1] for nr in sorted(found - WRONG)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run(program):
    done = run(sys.executable, "-W", "error", str(program), env={"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
