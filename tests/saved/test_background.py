"""Jobs beside the program: interrupts, forks, and notes of what has died."""

import gc
import os
import signal
import subprocess
import sys
import threading

import pytest

from gradpack.saved.policies import background
from gradpack.saved.policies.background import Job, JobQueue
from gradpack.saved.storage import FinalizedQueue


def test_an_interrupted_job_is_done_by_whoever_needs_it():
    done = []

    def work():
        done.append(threading.get_ident())
        if len(done) == 1:
            raise KeyboardInterrupt

    finished = []
    job = Job(work)
    with pytest.raises(KeyboardInterrupt):
        job.run(finished.append)
    assert not job.done and job.error is None and not finished
    thread = threading.Thread(target=job.run, args=(finished.append,))
    thread.start()
    thread.join()
    assert job.done and finished == [job] and len(set(done)) == 2
    assert not job.run(finished.append)
    job.wait()


def test_an_interrupt_while_a_job_is_finished_counts_it_once(monkeypatch):
    workers = JobQueue(0, 100)  # nobody but who waits
    job = workers.add(lambda: None, 60)
    finished = workers._finished

    def interrupted(job):
        finished(job)
        raise KeyboardInterrupt

    monkeypatch.setattr(workers, "_finished", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workers.finish(job)
    monkeypatch.setattr(workers, "_finished", finished)
    workers.drain()
    assert job.done and workers.under_way == 0


def test_who_waits_for_a_job_that_was_given_back_does_it():
    done, waiting = [], threading.Event()

    def work():
        if not waiting.is_set():
            thread.start()
            waiting.wait(20)
            raise KeyboardInterrupt
        done.append(threading.get_ident())

    def wait():
        assert not job.run()
        waiting.set()
        JobQueue(1, 100).finish(job)

    job, thread = Job(work), threading.Thread(target=wait)
    with pytest.raises(KeyboardInterrupt):
        job.run()
    thread.join()
    assert done == [thread.ident]


FORK = """
import os, signal, sys, gradpack as torch
from gradpack import saved
x = torch.randn(1 << 18, requires_grad=True)
with saved.quantize(8, seed=0) >> saved.disk() as policy:
    ys = [(x + k).sin().sum() for k in range(8)]
    child = os.fork()
if not child:
    signal.alarm(20)
for y in ys:
    y.backward()
with policy:
    y = x.exp().sum()
y.backward()
g, x = x.grad, x.detach()
assert abs(g - x.exp() - sum((x + k).cos() for k in range(8))).max() < 1
if child:
    sys.exit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "alarm"), reason="needs fork")
def test_a_fork_in_the_middle_waits_for_what_is_under_way():
    for _ in range(3):
        subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], env=os.environ, timeout=60, check=True)


class Thing:
    pass


def test_endings_are_told_once_and_survive_nobody():
    endings, things = FinalizedQueue(), [Thing() for _ in range(3)]
    for number, thing in enumerate(things):
        endings.watch(thing, number)
    del thing
    assert list(endings.over()) == []
    del things[1]
    assert [ending.data for ending in endings.over()] == [1]
    assert list(endings.over()) == []
    assert len(endings._alive) == 2
    things.clear()
    gc.collect()
    assert sorted(ending.data for ending in endings.over()) == [0, 2]
    assert not endings._alive


MANY = """
import gc, os, threading, time, weakref, gradpack as torch
from gradpack import saved
gc.disable()
x = torch.randn(5000, requires_grad=True)
files = os.path.exists("/proc/self/fd") and len(os.listdir("/proc/self/fd"))
makers = [
    lambda: saved.disk(), lambda: saved.quantize(8) >> saved.disk(), lambda: saved.disk().where(op="exp"),
    lambda: saved.cpu(), lambda: saved.recompute(), lambda: saved.budget("50 KB", disk="1 MB"),
]
threads, policies = set(), []
for step in range(300):
    policy = makers[step % 6]()
    policies.append(weakref.ref(policy))
    with policy:
        y = x.exp().sin().sum()
    threads.update(threading.enumerate())
    if step % 4:
        y.backward()
del policy, y
assert len(threads) < 12, len(threads)
end = time.monotonic() + 20
while files and len(os.listdir("/proc/self/fd")) > files and time.monotonic() < end:
    time.sleep(0.01)  # a thread may be at the last job still
assert not any(policy() for policy in policies)
assert not files or len(os.listdir("/proc/self/fd")) == files
"""


def test_policies_share_threads_and_leave_nothing_behind():
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_of_the_crew_end_when_there_is_nothing_to_do(monkeypatch):
    crew = background.ThreadPool(3)
    monkeypatch.setattr(background, "_crew", crew)
    busy, go, groups = threading.Barrier(4), threading.Event(), [JobQueue(2, 100) for _ in range(3)]
    jobs = [group.add(lambda: (busy.wait(20), go.wait(20)), 1) for group in groups]
    busy.wait(20)  # all three at a time
    assert len(crew._team) == 3
    late = groups[0].add(lambda: None, 1)
    assert len(crew._team) == 3 and not late.done
    monkeypatch.setattr(crew._wake, "wait", lambda timeout: False)  # so long that they give up
    go.set()
    for group, job in zip([*groups, groups[0]], [*jobs, late], strict=True):
        group.finish(job)
    team = list(crew._team)
    for thread in team:
        thread.join(20)
    assert crew._team == []
