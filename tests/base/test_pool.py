"""Work that is split over threads: every part once, in any number of threads, whatever goes wrong."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from array import array

import numpy as np
import pytest

import gradpack as torch
from gradpack.base import pool, threads
from gradpack.base.pool import Compiled, split, split_compiled


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


def test_several_python_threads_at_a_time():
    results, wrong = [], []

    def run():
        try:
            results.extend(int(counted(64, 3).sum()) for _ in range(50))
        except BaseException as error:
            wrong.append(error)

    several = [threading.Thread(target=run) for _ in range(5)]
    for each in several:
        each.start()
    for each in several:
        each.join()
    assert not wrong
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_the_child_of_a_fork_has_threads_of_its_own():
    program = """
import os, time, threading
import gradpack as torch
from gradpack.base.pool import Compiled, split, split_compiled
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
    split_compiled(Compiled(function, array("q", [id(seen)])), size, part)
    return seen


@pytest.fixture
def team(monkeypatch):
    from gradpack.kernels.numba.loops.team import of_pool

    monkeypatch.setattr(pool, "teams", [of_pool()])


@pytest.mark.parametrize(("size", "part"), [(0, 3), (1, 3), (3, 3), (4, 3), (100, 7), (1000, 1)])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_every_part_of_compiled_work_runs_once(counting, team, size, part, count):
    torch.set_num_threads(count)
    for _ in range(20):
        assert (counted_natively(counting, size, part) == 1).all()


def test_compiled_work_and_pythons_take_turns(counting, team):
    for nr in range(200):
        time.sleep(0.001 * (nr % 7 == 0))  # so that threads fall asleep
        assert (counted_natively(counting, 64, 3) == 1).all()
        assert (counted(64, 3) == 1).all()


def test_compiled_work_of_several_python_threads(counting, team):
    wrong = []

    def run():
        try:
            for _ in range(100):
                assert (counted_natively(counting, 64, 3) == 1).all()
                assert (counted(64, 3) == 1).all()
        except BaseException as error:
            wrong.append(error)

    several = [threading.Thread(target=run) for _ in range(5)]
    for each in several:
        each.start()
    for each in several:
        each.join()
    assert not wrong


def test_an_interrupt_leaves_compiled_work_ended(counting, team):
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


def test_no_more_threads_than_can_be_started(monkeypatch):
    monkeypatch.setattr(pool, "_pool", pool._Pool())
    monkeypatch.setattr(threads, "started", lambda thread: False)
    assert (counted(64, 3) == 1).all()
