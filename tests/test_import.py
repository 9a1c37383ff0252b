"""What `import gradpack` does to a process: little."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = [
    "array_api_strict",
    "asyncio",
    "concurrent.futures",
    "cupy",
    "dataclasses",
    "hypothesis",
    "jax",
    "matplotlib",
    "multiprocessing",
    "opt_einsum",
    "pytest",
    "rich",
    "scipy",
    "threading",
    "torch",
    "unittest",
]


def run(text: str) -> str:
    """What a fresh interpreter prints, in which every warning is an error."""
    command = [sys.executable, "-W", "error", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_is_loaded():
    # NumPy itself loads some of these, depending on its version: what counts is what comes on top.
    loaded = run(
        "import sys, numpy, ml_dtypes; before = set(sys.modules); import gradpack; "
        "print(*sorted(set(sys.modules) - before))"
    ).split()
    assert "gradpack" in loaded
    assert not [name for name in loaded if name in HEAVY or name.split(".")[0] in HEAVY]


def test_what_only_some_programs_need_is_not_loaded():
    loaded = run("import sys, gradpack; print(*[name for name in sys.modules if name.startswith('gradpack')])").split()
    assert len(loaded) <= 100
    later = (
        "declare.generate.emitter graph.parallel ops.pointwise.compare ops.reduce.extremes ops.shape.join tensor.typed"
    )
    assert not {f"gradpack.{name}" for name in later.split()} & set(loaded)


@pytest.mark.parametrize(
    "first",
    [
        "x.real = torch.ones(2)",
        "x += x == 0",
        "x[:] = x ** 2 + 2 ** x.abs()",
        "x[torch.zeros(2) > -1] = torch.FloatTensor([1, 1]).to(x.dtype)",
        "x.copy_(torch.where(x.isnan(), x, 1 - x))",
    ],
)
def test_what_comes_later_is_there_at_its_first_use(first):
    assert run(f"import gradpack as torch; x = torch.zeros(2, dtype=torch.complex64); {first}; print(x.tolist())") == (
        "[(1+0j), (1+0j)]"
    )


def test_no_thread_is_started():
    assert run("import threading, gradpack; print(threading.active_count())") == "1"


def test_nothing_is_printed_and_no_random_number_is_drawn():
    text = (
        "import random, numpy as np; random.seed(0); np.random.seed(0); "
        "before = random.getstate(), np.random.get_state()[1].tolist(); import gradpack; "
        "print(before == (random.getstate(), np.random.get_state()[1].tolist()))"
    )
    assert run(text) == "True"


def test_numpy_warns_as_before():
    text = "import numpy as np; before = np.geterr(); import gradpack; print(before == np.geterr())"
    assert run(text) == "True"


@pytest.mark.parametrize("name", ["autograd", "nn", "optim", "saved"])
def test_submodules_are_there_without_another_import(name):
    assert run(f"import gradpack; print(gradpack.{name}.__name__)") == f"gradpack.{name}"


@pytest.mark.parametrize(
    "first",
    ["gradpack.nn", "gradpack.optim", "gradpack.saved", "gradpack.autograd.graph", "gradpack.ops.linalg.products"],
)
def test_any_module_may_be_imported_first(first):
    assert run(f"import {first}, gradpack; print(gradpack.core([1.0, 2.0]).sum().item())") == "3.0"
