"""Which modules of operations are imported when."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradpack as torch
from gradpack.core.properties import TensorBase
from gradpack.declare.op import REGISTRY
from gradpack.ops import lazy_names, methods


def test_the_list_of_names_is_up_to_date(tmp_path):
    """What `python -m gradpack.ops.methods` would write is what is there."""
    code = (
        "from pathlib import Path; from gradpack.ops import methods; "
        f"methods.__file__ = {str(tmp_path / 'methods.py')!r}; methods._write_names()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    written = (tmp_path / "lazy_names.txt").read_text()
    assert written == Path(lazy_names.__file__).with_suffix(".txt").read_text(), "run python -m gradpack.ops.methods"


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "use",
    [
        "t.ones(2, 2).relu()",
        "t.Tensor.relu(t.ones(2))",
        "t.relu(t.ones(2))",
        "t.ones(2, 2) @ t.ones(2, 2)",
        "t.tensor([1.0]) .relu_()",
        "t.nn.Parameter(t.ones(2)).softmax(0)",
        "t.autograd.grad(t.ones(2, requires_grad=True).tanh().sum(), [], allow_unused=True) if 0 else t.ones(1).tanh()",
        "t.special.i0(t.ones(2))",
        "t.ops.aten.relu(t.ones(2))",
    ],
)
def test_everything_works_as_the_first_call(use):
    assert "tensor" in run(f"import gradpack as t; print(repr({use}))").lower()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each module is the first one in a process that is forked")
def test_each_module_may_be_the_first_to_be_loaded():
    told = run("""
import os, gradpack
from gradpack.ops import lazy_names, methods
from gradpack.core.properties import TensorBase
for module, (functions, attributes, ops) in lazy_names.LAZY.items():
    child = os.fork()
    if not child:
        methods.load(module)
        missing = [n for n in attributes.split() if type(vars(TensorBase)[n]) is methods.Later]
        missing += [n for n in functions.split() if not hasattr(gradpack, n)]
        os._exit(bool(missing))
    if os.waitpid(child, 0)[1]:
        print(module)
""")
    assert told == ""


def test_what_is_not_needed_is_not_imported():
    loaded = run("import gradpack, sys; print(*[m for m in sys.modules if m.startswith('gradpack.ops.')])").split()
    assert not {"gradpack.ops.pointwise.arithmetic", "gradpack.ops.conv.convolution"} & set(loaded)


def test_names_are_there_before_they_are_loaded():
    told = run(
        "import gradpack as t; assert 'relu' in dir(t) and 'relu' in dir(t.Tensor) and 'relu' in t.__all__; "
        "assert hasattr(t, 'softmax') and hasattr(t.Tensor, 'softmax') and not hasattr(t, 'no_such_thing'); "
        "assert not hasattr(t.ones(1), 'no_such_thing'); print('ok')"
    )
    assert told == "ok\n"


def test_an_unknown_operation_is_a_key_error():
    with pytest.raises(KeyError, match="no_such_op"):
        REGISTRY["no_such_op"]


def test_threads_that_ask_at_once():
    """Modules that load, texts that are compiled and functions made at the first call, all by eight threads."""
    code = (
        "import gradpack as t, sys, threading\n"
        "sys.setswitchinterval(1e-6)\n"
        "found = []\n"
        "gate = threading.Barrier(8)\n"
        "def work():\n"
        "    x = t.ones(3)\n"
        "    gate.wait()\n"
        "    y = t.ones(3, requires_grad=True)\n"
        "    (y.exp() * y).sum().add_(1.0).backward()\n"
        "    w = x.clone().mul_(2.0).clamp_(0, 1)\n"
        "    found.append((x @ x).item() + x.softmax(0).sum().item() + t.relu(x).sum().item() + w.sum().item()\n"
        "                 + t.cumsum(x, 0)[-1].item() + t.var_mean(x)[1].item() + len(t.special.erf(x)))\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[x.start() for x in threads]; [x.join() for x in threads]\n"
        "print(found == [17.0] * 8)"
    )
    assert run(code) == "True\n"


def test_methods_are_the_real_ones_once_they_are_asked_for():
    assert torch.Tensor.softmax.__name__ == "softmax" and type(vars(TensorBase)["softmax"]) is not methods.Later
