"""Threads of processes: when they start, and who has them after a fork."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_the_child_of_a_fork_has_threads_of_its_own():
    program = """
import os, time, threading
import gradpack as torch
from gradpack.base.pool import split, split_compiled
torch.set_num_threads(3)
def count():
    found = set()
    def work(low, high):
        found.add(threading.get_ident())
        time.sleep(0.02)
    split(work, 6, 1)
    return len(found)
assert count() > 1
child = os.fork()
if not child:
    os._exit(0 if count() > 1 else 1)
assert os.waitpid(child, 0)[1] == 0
print("both")
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False, capture_output=True, text=True)
    assert run.stdout == "both\n", run.stderr


def test_no_thread_starts_before_the_first_large_array():
    program = """
import threading
import gradpack as torch
torch.set_num_threads(3)
x = torch.ones(100, 100, requires_grad=True)
(x @ x + x.exp()).sum().backward()
assert threading.active_count() == 1
x = torch.ones(1000, 1000, requires_grad=True)
x.exp()
assert threading.active_count() == 3
"""
    run = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert not run.returncode, run.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_compiled_work_in_the_child_of_a_fork():
    pytest.importorskip("numba")
    program = """
import os
import numpy as np
import gradpack as torch
from gradpack.base import pool
torch.set_num_threads(3)
def step():
    x = torch.tensor(np.linspace(-1, 1, 1024 * 512, dtype="f").reshape(1024, 512), requires_grad=True)
    y = torch.tanh(x @ torch.ones(512, 512) * 0.01)
    (y * y).sum().backward()
    return x.grad.numpy().tobytes()
step()
wanted = step()
assert pool.teams and len(pool._pool.wake) == 2
for _ in range(5):
    child = os.fork()
    if not child:
        os._exit(0 if step() == wanted and len(pool._pool.wake) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert step() == wanted
print("both")
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False, capture_output=True, text=True)
    assert run.stdout == "both\n", run.stderr
