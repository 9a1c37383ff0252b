"""The number of threads: what is asked for, and what it sets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import gradpack as torch
from gradpack.base import blas, threads


@pytest.mark.parametrize(
    ("omp", "mkl", "count"), [("3", "", 3), ("3", "2", 2), ("none", "none", None), ("0", "none", None)]
)
def test_the_number_is_that_of_the_environment_unless_it_was_set(monkeypatch, omp, mkl, count):
    monkeypatch.setattr(threads, "_chosen", [])
    monkeypatch.setenv("OMP_NUM_THREADS", omp)
    monkeypatch.setenv("MKL_NUM_THREADS", mkl)
    assert torch.get_num_threads() == (count or len(threads.processors()))


@pytest.fixture
def of_blas():
    found = blas._functions()
    if found is None:
        pytest.skip("the threads of this BLAS library cannot be set")
    get, set_ = found
    before = get()
    yield get
    set_(before)


def test_it_sets_the_threads_of_blas(monkeypatch, of_blas):
    monkeypatch.setattr(threads, "_chosen", [])
    for count in (2, 1):
        torch.set_num_threads(count)
        assert torch.get_num_threads() == count and of_blas() <= count


def test_blas_has_one_thread_meanwhile(of_blas):
    blas.set_threads(2)
    before = of_blas()
    assert blas.on_one_thread(of_blas) == 1
    assert blas.on_one_thread(blas.on_one_thread, of_blas) == 1
    with pytest.raises(ZeroDivisionError):
        blas.on_one_thread(lambda: 1 // 0)
    assert of_blas() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_the_child_of_a_fork_has_the_number_of_before(of_blas):
    program = """
import os
from gradpack.base import blas
get, set_ = blas._functions()
set_(2)
before = get()
def fork():
    child = os.fork()
    if not child:
        os._exit(0 if get() == before and not blas._calls else 1)
    return os.waitpid(child, 0)[1]
print(blas.on_one_thread(fork), get() == before)
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False, capture_output=True, text=True)
    assert run.stdout == "0 True\n", run.stderr
