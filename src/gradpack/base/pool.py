"""Work inside of an operation, split over all cores: one pool of threads for the whole process.

Work is a function of a range. Either it is Python's, `work(low, high)`, and releases the lock of the interpreter, as
NumPy's functions on large slices do; or it is compiled, and the threads take its parts without that lock. Results do
not depend on how a range is divided, or that follows from the work alone, never from the number of threads. Threads are
started by the first work of several parts.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, get_ident
from array import array
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import cache
from time import sleep
from typing import Any, NamedTuple

from . import threads

Work = Callable[[int, int], Any]
Compiled = tuple[int, "array[int]"]  # the address of a function of `(block, low, high)`, and the arguments in its block


class Team(NamedTuple):
    """Compiled code by which threads wait for work, and take parts of compiled work: `kernels.numba.loops.team`.

    To wake a thread that sleeps takes tens of microseconds, so it waits for a while first.
    """

    serve: Callable[[int, int, int, int, int], bool]
    run: Callable[[int, int, int, int, int, int, int], bool]
    wait: Callable[[int, int, int], bool]
    alone: Callable[[int, int, int, int], None]
    rounds: int  # of waiting in a microsecond
    cells: int  # numbers that threads share, and which of them:
    turn: int  # that of the work that came last
    active: int  # how many threads are at work
    python: int  # the number of the last work that is Python's


teams: list[Team] = []  # one, or none
loaders: list[Callable[[], Team]] = []  # return it, when the first work is split
_PATIENCE = 2000  # microseconds, for which a thread waits for the next work before it sleeps
_SPIN = 200  # for which the thread that brings work waits for the others before it lets others run
_HANDOVER = 8  # microseconds, after which the thread that brings work has begun with it, and has released the lock
_TURNS = 16  # pieces of work, between two looks at the processor of the thread that brings it
_CELLS = 16  # numbers of one thread: whether it runs Python's work, and in another line the work that it has seen last
_SEEN = 8


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
        self.jobs: dict[str, Any] = {}  # the work that runs now, as "now": that of other threads meanwhile is not split
        self.wake: list[Any] = []
        self.running: list[Any] = []
        self.shared = array("q")  # what a team needs
        self.address = self.spin = 0  # of that; rounds for which the thread that brings work waits for the others
        self.own: list[array[int]] = []  # the numbers of each thread
        self.ids: list[int] = []
        self.processors: set[int] = set()
        self.avoided = -1
        self.owner = 0  # the thread whose compiled work runs
        self.turns = -1  # work so far

    def start(self, wanted: int) -> None:
        """Start threads until so many are there, or no more can be started."""
        if len(self.wake) >= wanted:
            return
        from threading import Thread

        self.processors, self.avoided = threads.processors(), -1
        while len(self.wake) < wanted:
            wake, running, own = allocate_lock(), allocate_lock(), array("q", bytes(8 * _CELLS))
            wake.acquire()
            seat = len(self.wake) + 1
            thread = Thread(target=self._serve, args=(seat, wake, running, own), name="gradpack", daemon=True)
            if not threads.started(thread):
                return
            self.ids.append(thread.native_id or 0)
            self.running.append(running)
            self.own.append(own)
            self.wake.append(wake)

    def load(self) -> Team | None:
        """Return the team, if there is one."""
        if loaders:
            teams[:] = [loaders.pop()()]
        if teams and not self.shared:
            self.shared = array("q", bytes(8 * teams[0].cells))
            self.address, self.spin = self.shared.buffer_info()[0], _SPIN * teams[0].rounds
        return teams[0] if teams else None

    def _serve(self, seat: int, wake: Any, running: Any, own: array[int]) -> None:
        seen = own.buffer_info()[0] + 8 * _SEEN
        while True:
            team = teams[0] if teams and self.shared else None
            if team is None:
                wake.acquire()
            elif team.serve(self.address, seat, seen, _PATIENCE * team.rounds, _HANDOVER * team.rounds):
                wake.acquire(False)
            else:
                wake.acquire()
                if teams:
                    continue
            own[0] = 1
            with running:
                job = self.jobs.get("now")
                if isinstance(job, _Job) and next(job.seats, None) is not None:
                    job.context.copy().run(job.run)
                del job
            own[0] = 0

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
            team = self.load()
            if team is not None:
                self._heal(team)
            if self.jobs.setdefault("now", job) is job:
                self.start(wanted)
                if team is not None:
                    self.shared[team.python // 8] = self.shared[team.turn // 8] + 1
                    self.shared[team.turn // 8] += 1
                self._wake(wanted)
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

    def _wake(self, wanted: int) -> None:
        self.turns += 1
        if self.turns % _TURNS == 0:
            self._keep_off()
        for lock in self.wake[:wanted]:
            if lock.locked():
                lock.release()

    def _finish(self) -> None:
        """Wait for the threads that have begun a part, and let the next job come."""
        for lock, own in zip(self.running, self.own, strict=True):
            if lock.locked():
                for team in teams:
                    team.wait(own.buffer_info()[0], 0, self.spin)
                with lock:
                    pass
        self.jobs.clear()

    def run_compiled(self, team: Team, work: Compiled, size: int, part: int, wanted: int) -> None:
        """Run all parts of compiled work on this thread and so many others; on this alone while other work runs."""
        jobs, address = self.jobs, work[1].buffer_info()[0]
        if jobs:
            self._heal(team)
        try:
            try:
                if jobs.setdefault("now", work) is work:
                    self.owner = get_ident()
                    if len(self.wake) < wanted:
                        self.start(wanted)
                    self._wake(wanted)
                    if team.run(self.address, work[0], address, size, part, wanted, self.spin):
                        jobs.clear()
                else:
                    team.alone(work[0], address, size, part)
            finally:
                if jobs:
                    self._end(team, work)
        except BaseException:  # an interrupt, perhaps of the line above
            self._end(team, work)
            raise

    def _end(self, team: Team, work: Any) -> None:
        """Wait until no thread uses the arrays of compiled work, and let the next work come."""
        if self.jobs.get("now") is not work:
            return
        failed: list[BaseException] = []
        while self.jobs.get("now") is work:
            try:
                while not team.wait(self.address + team.active, 0, self.spin):
                    sleep(0)  # where another program has the core of one of the threads
                self.jobs.clear()
            except BaseException as error:  # an interrupt
                failed.append(error)
        if failed:
            raise failed.pop()

    def _heal(self, team: Team) -> None:
        """End what is left of compiled work of this thread, which interrupts ended before it was."""
        now = self.jobs.get("now")
        if type(now) is tuple and self.owner == get_ident():
            self._end(team, now)


_pool = _Pool()


def even(size: int, part: int, multiple: int = 1) -> int:
    """Return the length of parts of equal length that are as few as those of `part`, as a multiple of a number."""
    return -(-size // (-(-size // part) * multiple)) * multiple if size else part


def split(work: Work, size: int, part: int) -> None:
    """Call `work(low, high)` for `range(size)` in parts of `part`, on at most `get_num_threads()` threads."""
    wanted = min(-(-size // part), threads.get_num_threads()) - 1
    if wanted < 1:
        for low in range(0, size, part):
            work(low, min(size, low + part))
    else:
        _pool.run(_Job(work, [(low, min(size, low + part)) for low in range(0, size, part)], wanted), wanted)


def split_compiled(function: int, block: array[int], size: int, part: int) -> None:
    """Run compiled work for `range(size)` in parts of `part`, on at most `get_num_threads()` threads.

    What the addresses in its block belong to must stay meanwhile. There is a team: see `loaders`.

    Args:
        function: the address of a function of `(block, low, high)`, all int64: the address of its arguments, a range.
        block: the arguments.
    """
    pool = _pool
    team = pool.load() if loaders or not pool.address else teams[0]
    assert team is not None
    wanted = min(-(-size // part), threads.get_num_threads()) - 1
    if wanted < 1:
        team.alone(function, block.buffer_info()[0], size, part)
    else:
        pool.run_compiled(team, (function, block), size, part, wanted)


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
