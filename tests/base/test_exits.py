"""Blocks end as a whole, whatever moment an interrupt comes at; who ends them in Python is listed here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.fake_cupy import on_cuda
from tests.interrupts import at_each_moment

import gradpack as torch
from gradpack import extend
from gradpack.extend import added

SOURCES = Path(torch.__file__).parent

# Where the end of a block is a function of Python's: an interrupt at its beginning leaves the block open.
IN_PYTHON = {
    "compat/as_torch/install.py": "ends what a whole program runs under",
    "compat/streams.py": "has nothing to end",
    "compat/harmless.py": "has nothing to end",
    "utils/_contextlib.py": "what classes of users derive from",
    "compat/tensorboard.py": "closes files",
    "compat/cuda_streams.py": "CuPy's own blocks are ended, which are written in Python",
    "testing/sim/streams.py": "simulates CuPy's",
    "saved/torch.py": "ends hooks of PyTorch's, with torch's own blocks",
    "saved/hook_pairs.py": "closes a file, which also closes when it dies",
    "compiler/jax/questions.py": "an interrupt ends the trace, and with it the program",
    "compiler/recording.py": "an interrupt ends the recording, and with it the program",
    "cli/report.py": "ends with the process",
    "cli/demo.py": "ends with the process",
    "cli/inspect.py": "ends with the process",
    "cli/launch.py": "ends with the process",
    "cli/ways.py": "ends with the process",
    "nn/parallel/_join.py": "an interrupt ends the rank, and so the calls of the others",
    "testing/hooks/gate.py": "is for tests",
    "testing/sim/__init__.py": "is for tests",
}


def test_who_ends_blocks_in_python_is_listed():
    written = re.compile(r"^\s*def __exit__|^\s*@(contextlib\.)?contextmanager", re.MULTILINE)
    found = {p.relative_to(SOURCES).as_posix() for p in SOURCES.rglob("*.py") if written.search(p.read_text("utf8"))}
    assert found == set(IN_PYTHON)


def test_an_interrupt_at_the_end_of_registering():
    there = set()

    def step():
        with extend.registering():
            for name in ("first", "second"):
                there.add(name)
                added.note(f"function {name}", lambda name=name: there.discard(name))

    for where in at_each_moment(step, most=200):
        known = {what.removeprefix("function ") for what in added.known()}
        assert not known & {"first", "second"}, where
        assert len(there) <= 1, where  # one, if the interrupt came before it was noted
        there.clear()


def test_what_was_registered_is_undone_twice_without_harm():
    before = set(torch.Tensor.__dict__)
    with extend.registering():

        @extend.elementwise(input=lambda g: 3 * g, method=True, inplace=True, export=True)
        def tripled(input):
            return 3 * input

        extend.dtype("float24", np.dtype("V3"))
        assert torch.ones(2).tripled().tolist() == [3.0, 3.0]
        for what in reversed(added.known()):
            if "tripled" in what or "float24" in what:
                added._UNDO[what]()
    assert set(torch.Tensor.__dict__) == before
    assert not extend.has_op("tripled") and not hasattr(torch, "tripled") and not hasattr(torch, "float24")


def test_an_interrupt_in_a_block_of_a_device():
    with on_cuda():

        def step():
            with torch.cuda.device(1):
                pass

        for where in at_each_moment(step, most=60):
            assert torch.cuda.current_device() == 0, where


@pytest.mark.parametrize("index", [None, -1, 1])
def test_a_block_of_a_device_ends_where_it_began(index):
    with on_cuda():
        with torch.cuda.device(index):
            assert torch.cuda.current_device() == (1 if index == 1 else 0)
        assert torch.cuda.current_device() == 0
