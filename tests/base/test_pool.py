"""Work that is split over threads: every part once, in any number of threads, whatever goes wrong."""

from __future__ import annotations

import gc
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import gradpack as torch
from gradpack.base import pool, threads
from gradpack.base.pool import split


@pytest.fixture(autouse=True, params=["asleep", "awake"])
def four_threads(request, monkeypatch):
    """Run each test with threads that sleep between jobs, and with threads that wait for a while before they do."""
    if request.param == "awake":
        pytest.importorskip("numba")
        from gradpack.kernels.numba.loops.team import of_pool

        monkeypatch.setattr(pool, "teams", [of_pool()])
    else:
        monkeypatch.setattr(pool, "teams", [])
    monkeypatch.setattr(pool, "loaders", [])
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def counted(size, part, work=lambda low, high: None):
    seen = np.zeros(size, int)

    def each(low, high):
        assert high - low <= part
        work(low, high)
        seen[low:high] += 1

    split(each, size, part)
    return seen


@pytest.mark.parametrize(("size", "part"), [(0, 3), (1, 3), (3, 3), (4, 3), (100, 7), (1000, 1)])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_every_part_runs_once(size, part, count):
    torch.set_num_threads(count)
    for _ in range(5):
        assert (counted(size, part) == 1).all()


def test_parts_run_on_several_threads():
    found = set()

    def work(low, high):
        found.add(threading.get_ident())
        time.sleep(0.02)

    split(work, 8, 1)
    assert 1 < len(found) <= 4


def test_one_thread_runs_here():
    torch.set_num_threads(1)
    found = set()
    split(lambda low, high: found.add(threading.get_ident()), 8, 1)
    assert found == {threading.get_ident()}


def test_work_inside_of_work_runs_where_it_is():
    inner = []

    def work(low, high):
        me = threading.get_ident()
        split(lambda a, b: inner.append(threading.get_ident() == me), 4, 1)

    split(work, 3, 1)
    assert inner == [True] * 12


def in_five_threads(work):
    """Call `work()` in five threads at a time; none may raise."""
    wrong = []

    def run():
        try:
            work()
        except BaseException as error:
            wrong.append(error)

    several = [threading.Thread(target=run) for _ in range(5)]
    for each in several:
        each.start()
    for each in several:
        each.join()
    assert not wrong


def test_several_python_threads_at_a_time():
    results = []
    in_five_threads(lambda: results.extend(int(counted(64, 3).sum()) for _ in range(50)))
    assert results == [64] * 250


def test_an_error_is_raised_here_and_the_rest_is_left_out():
    def work(low, high):
        time.sleep(0.001)
        if low == 5:
            raise ArithmeticError("the fifth")

    for _ in range(5):
        with pytest.raises(ArithmeticError, match="the fifth"):
            split(work, 1000, 1)
        assert (counted(64, 3) == 1).all()


def test_an_interrupt_is_raised_when_no_thread_uses_the_arrays_any_more():
    running = []

    def work(low, high):
        running.append(None)
        time.sleep(0.02)
        running.pop()

    class Interrupt(BaseException):
        pass

    def interrupt(*_):
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Interrupt):
            split(work, 1000, 1)
        assert running in ([], [None])  # of this thread, whose own part was interrupted
        left = len(running)
        time.sleep(0.1)
        assert len(running) == left
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (counted(64, 3) == 1).all()


def test_nothing_keeps_the_arrays():
    array = np.ones(100)
    gone = weakref.ref(array)
    gc.disable()
    try:
        split(lambda low, high, array=array: array[low:high].sum(), 100, 10)
        with pytest.raises(ZeroDivisionError):
            split(lambda low, high, array=array: 1 // 0, 100, 10)
        del array
        assert gone() is None
    finally:
        gc.enable()


def test_parts_warn_of_what_the_caller_wants():
    x = np.zeros(100)
    for _ in range(5):
        with np.errstate(all="ignore"):
            split(lambda low, high: (1 / x[low:high], time.sleep(0.001)), 100, 10)
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            split(lambda low, high: (1 / x[low:high], time.sleep(0.001)), 100, 10)


def test_no_more_threads_than_can_be_started(monkeypatch):
    monkeypatch.setattr(pool, "_pool", pool._Pool())
    monkeypatch.setattr(threads, "started", lambda thread: False)
    assert (counted(64, 3) == 1).all()
