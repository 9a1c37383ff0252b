"""Compiled work that is split over threads: every part once, in any number of threads."""

from __future__ import annotations

import contextlib
import signal
import time
from array import array

import numpy as np
import pytest
from tests.base.test_pool import counted, in_five_threads

import gradpack as torch
from gradpack.base import pool
from gradpack.base.pool import split_compiled


@pytest.fixture(autouse=True)
def four_threads(monkeypatch):
    pytest.importorskip("numba")
    from gradpack.kernels.numba.loops.team import of_pool

    monkeypatch.setattr(pool, "teams", [of_pool()])
    monkeypatch.setattr(pool, "loaders", [])
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def counting_loop():
    """The address of compiled work that adds 1 to each number of an array, and the block for it."""
    pytest.importorskip("numba")
    from gradpack.kernels.numba.loops.loop import loop
    from gradpack.kernels.numba.loops.native import add, address_of, data_of, read

    def count(block, low, high):
        for i in range(low, high):
            add(data_of(read(block)) + 8 * i, 1)

    return address_of(loop(count))


@pytest.fixture(scope="module")
def counting():
    return counting_loop()


def counted_natively(function, size, part):
    seen = np.zeros(size, np.int64)
    split_compiled(function, array("q", [id(seen)]), size, part)
    return seen


@pytest.mark.parametrize(("size", "part"), [(0, 3), (1, 3), (3, 3), (4, 3), (100, 7), (1000, 1)])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_every_part_of_compiled_work_runs_once(counting, size, part, count):
    torch.set_num_threads(count)
    for _ in range(20):
        assert (counted_natively(counting, size, part) == 1).all()


def test_compiled_work_and_pythons_take_turns(counting):
    for nr in range(200):
        time.sleep(0.001 * (nr % 7 == 0))  # so that threads fall asleep
        assert (counted_natively(counting, 64, 3) == 1).all()
        assert (counted(64, 3) == 1).all()


def test_compiled_work_of_several_python_threads(counting):
    def work():
        for _ in range(100):
            assert (counted_natively(counting, 64, 3) == 1).all()
            assert (counted(64, 3) == 1).all()

    in_five_threads(work)


def test_an_interrupt_leaves_compiled_work_ended(counting):
    class Interrupt(BaseException):
        pass

    def interrupt(*_):
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    count = 0
    try:
        for nr in range(100):
            with contextlib.suppress(Interrupt):  # around the timer, which may end before the next line begins
                signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.00003 * nr)
                while True:
                    assert (counted_natively(counting, 3000, 100) == 1).all()
            count += 1
    finally:
        signal.signal(signal.SIGALRM, before)
    assert count == 100
    assert not pool._pool.jobs
    assert (counted_natively(counting, 64, 3) == 1).all()
    assert (counted(64, 3) == 1).all()
