"""Work inside of an operation, split over all cores: one pool of threads for the whole process.

Work is a function of a range, `work(low, high)`, that releases the lock of the interpreter: loops that Numba compiled,
and NumPy's functions on large slices. How a range is divided follows from the work alone, never from the number of
threads, so that results do not depend on it. Threads are started by the first work of several parts.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from array import array
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import cache
from typing import Any

from . import threads

Work = Callable[[int, int], Any]
Wait = Callable[[int, int, int, int], bool]

# To wake a thread that sleeps takes tens of microseconds, so it waits for a while first, where there is compiled code
# for that: `wait(address, seen, rounds, after)`, and how many rounds a microsecond takes.
waiting: list[tuple[Wait, int]] = []
loaders: list[Callable[[], tuple[Wait, int]]] = []  # return that, when the first work is split
_PATIENCE = 150  # microseconds, for which a thread waits for the next work before it sleeps
_HANDOVER = 4  # microseconds, after which the thread that brings work has begun with it, and has released the lock


class _Job:
    """The parts of one piece of work, which threads take one after another until none is left."""

    def __init__(self, work: Work, parts: list[tuple[int, int]], helpers: int) -> None:
        self.work: Work | None = work
        self.seats: Iterator[int] = iter(range(helpers))  # a thread that wakes late finds none
        self.parts: Iterator[tuple[int, int]] = iter(parts)
        self.error: BaseException | None = None
        self.context = copy_context()  # in which NumPy keeps what it warns of

    def run(self) -> None:
        for low, high in self.parts:  # one thread gets the next item of an iterator
            work = self.work
            if work is None:
                return
            try:
                work(low, high)
            except BaseException as error:
                self.work, self.error = None, error
                return


class _Pool:
    """The threads, each of which sleeps on a lock of its own, and holds another one while it runs a job.

    On a virtual machine the kernel may wake a thread on the processor of the thread that wakes it, and leave it there
    for milliseconds. So where threads are as many as processors, the others keep off the caller's.
    """

    def __init__(self) -> None:
        self.jobs: dict[str, _Job] = {}  # the job that runs now, as "now": work of other threads meanwhile is not split
        self.wake: list[Any] = []
        self.running: list[Any] = []
        self.turns = array("q", [0])  # the number of the job that came last
        self.busy: list[array[int]] = []  # for each thread, 1 while it runs a job
        self.ids: list[int] = []
        self.processors: set[int] = set()
        self.avoided = -1

    def start(self, wanted: int) -> None:
        """Start threads until so many are there, or no more can be started."""
        from threading import Thread

        self.processors, self.avoided = threads.processors(), -1
        while len(self.wake) < wanted:
            wake, running, busy = allocate_lock(), allocate_lock(), array("q", [0])
            wake.acquire()
            thread = Thread(target=self._serve, args=(wake, running, busy), name="gradpack", daemon=True)
            if not threads.started(thread):
                return
            self.ids.append(thread.native_id or 0)
            self.running.append(running)
            self.busy.append(busy)
            self.wake.append(wake)

    def _serve(self, wake: Any, running: Any, busy: Any) -> None:
        turns, seen = self.turns, -1
        address, _ = turns.buffer_info()
        while True:
            if (
                seen < 0
                or not waiting
                or not waiting[0][0](address, seen, _PATIENCE * waiting[0][1], _HANDOVER * waiting[0][1])
            ):
                wake.acquire()
            else:
                wake.acquire(False)
            busy[0] = 1
            with running:
                seen = turns[0]
                job = self.jobs.get("now")
                if job is not None and next(job.seats, None) is not None:
                    job.context.copy().run(job.run)
                del job
            busy[0] = 0

    def _keep_off(self) -> None:
        here = _processor()() if 1 < len(self.processors) <= len(self.ids) + 1 else self.avoided
        if here != self.avoided and here in self.processors:
            self.avoided = here
            for each in self.ids:
                try:
                    os.sched_setaffinity(each, self.processors - {here})
                except OSError:  # not allowed here
                    self.processors = set()

    def run(self, job: _Job, wanted: int) -> None:
        """Run a job on this thread and so many others, unless another job runs: then on this thread alone."""
        try:
            if self.jobs.setdefault("now", job) is job:
                if len(self.wake) < wanted:
                    self.start(wanted)
                if loaders:
                    waiting[:] = [loaders.pop()()]
                self._keep_off()
                self.turns[0] += 1
                for lock in self.wake[:wanted]:
                    if lock.locked():
                        lock.release()
            job.run()
        except BaseException as error:  # an interrupt: the parts that are not begun are left out
            job.work, job.error = None, error
        while self.jobs.get("now") is job:
            try:
                self._finish()
            except BaseException as error:  # the arrays must stay until no thread uses them
                job.work, job.error = None, error
        job.work = None
        failed, job.error = [job.error] if job.error is not None else [], None
        if failed:
            raise failed.pop()  # nothing here refers to its frames

    def _finish(self) -> None:
        """Wait for the threads that have begun a part, and let the next job come."""
        for lock, busy in zip(self.running, self.busy, strict=True):
            if lock.locked():
                if waiting:
                    wait, rounds = waiting[0]
                    wait(busy.buffer_info()[0], 1, _PATIENCE * rounds, rounds)
                with lock:
                    pass
        self.jobs.clear()


_pool = _Pool()


def split(work: Work, size: int, part: int) -> None:
    """Call `work(low, high)` for `range(size)` in parts of `part`, on at most `get_num_threads()` threads."""
    wanted = min(-(-size // part), threads.get_num_threads()) - 1
    if wanted < 1:
        for low in range(0, size, part):
            work(low, min(size, low + part))
    else:
        _pool.run(_Job(work, [(low, min(size, low + part)) for low in range(0, size, part)], wanted), wanted)


def _begin_anew() -> None:
    """Begin without threads in the child of a fork: they exist in the parent only."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


@cache
def _processor() -> Callable[[], int]:
    """A function that returns the number of the processor that it runs on; -1 where that is not known."""
    try:
        from ctypes import PyDLL

        found: Callable[[], int] = PyDLL(None).sched_getcpu
    except (ImportError, OSError, AttributeError, TypeError):
        return lambda: -1
    return found
