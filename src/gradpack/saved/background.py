"""Work that goes on beside the program: a few threads, started when first needed, and a limit in bytes.

A job is a function without arguments. Nothing is kept of it once it is done but its error. All policies share the
threads, which end when there is nothing to do; they are daemons: a program that ends waits for none of them.
"""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock, get_ident
from collections import deque
from collections.abc import Callable
from weakref import WeakSet

from ..base.threads import started

_PATIENCE = 1.0  # seconds: who does a job may be gone


class Job:
    """One piece of work, for a thread or for whoever needs it first: see `Workers.finish`.

    Attributes:
        nbytes: that it deals with, as long as they count as under way.
        error: what it has raised.
        done: has it been done?
    """

    __slots__ = ("_takers", "_waiting", "done", "error", "nbytes", "work")

    def __init__(self, work: Callable[[], None] | None) -> None:
        self.work, self.nbytes = work, 0
        self.error: BaseException | None = None
        self.done = False
        self._takers: list[int] = []  # the threads that wanted to do it: the first one does
        self._waiting = allocate_lock()  # open once it is done
        self._waiting.acquire()

    def run(self, finished: Callable[[Job], None] | None = None) -> bool:
        """Do the work unless somebody else does or did, and say whether it was done here.

        `finished` is called before anybody hears that the job is done. An interrupt of the program leaves the job as it
        was, to be done by whoever needs it; what else it raises is raised again where the result is asked for.
        """
        me = get_ident()
        try:
            self._takers.append(me)
            if self.done or self._takers[0] != me:
                return False
            try:
                if self.work is not None:
                    self.work()
            except BaseException as error:
                if type(error) is KeyboardInterrupt and me == threading.main_thread().ident:
                    raise
                self.error = _bare(error)
            self.work = None
            if finished is not None:
                finished(self)
            self.done = True
            if self._waiting.locked():
                self._waiting.release()
        except KeyboardInterrupt:
            self._takers.clear()
            raise
        return True

    def wait(self) -> None:
        """Wait until somebody else has done it, for so long that it may as well be tried here."""
        if not self.done and self._waiting.acquire(timeout=_PATIENCE):
            self._waiting.release()


class Crew:
    """Threads that do the jobs of all `Workers`; as many as there is work for, up to `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._team: list[threading.Thread] = []
        self._calls: deque[Workers] = deque()  # who wants one more thread
        self._idle = 0
        self._lock = threading.Lock()  # to be entered, and not the condition: see graph/parallel.py
        self._wake = threading.Condition(self._lock)
        self.process = os.getpid()

    def call(self, workers: Workers) -> bool:
        """Have one more thread do jobs of `workers`, until there are none left. False where there are no threads."""
        with self._lock:
            self._calls.append(workers)
            self._wake.notify()
            self._team = [thread for thread in self._team if thread.is_alive()]
            if len(self._calls) > self._idle and len(self._team) < self.most:
                thread = threading.Thread(target=_work, args=(self,), name="gradpack-saved", daemon=True)
                if started(thread):
                    self._team.append(thread)
                elif not self._team:
                    self._calls.remove(workers)
                    return False
            return True

    def called(self) -> Workers | None:
        """Wait for a call; None after some time without."""
        with self._lock:
            while not self._calls:
                self._idle += 1
                woken = self._wake.wait(timeout=5.0)
                self._idle -= 1
                if not woken and not self._calls:
                    me = threading.current_thread()  # which answers no other call: another one is to be started
                    self._team = [thread for thread in self._team if thread is not me]
                    return None
            return self._calls.popleft()


_MOST = 8  # threads of all policies together
_crew = Crew(_MOST)


def crew() -> Crew:
    """The threads of this process."""
    global _crew
    if _crew.process != os.getpid():  # a fork: those are the parent's
        _crew = Crew(_MOST)
    return _crew


class Workers:
    """Does jobs in the order in which they came, while no more than `window` bytes are under way.

    Args:
        count: how many threads may do them at a time.
        window: bytes. Who adds a job beyond it waits for the oldest, or does it.
    """

    def __init__(self, count: int, window: int) -> None:
        self.count, self.window = count, window
        self.under_way = 0
        self.peak = 0
        self._queue: deque[Job] = deque()
        self._unfinished: deque[Job] = deque()
        self._lock = threading.Lock()
        self._threads = 0  # that do jobs of this one now, or were called for it
        self._process = os.getpid()

    def add(self, work: Callable[[], None], nbytes: int) -> Job:
        """A job for `work`, which deals with `nbytes`. May wait for others, to keep within the window."""
        self._after_fork()
        while (oldest := self._too_much(nbytes)) is not None:
            self.finish(oldest)
        job, alone = Job(work), False
        with self._lock:  # in an order in which no interrupt leaves anything under way that nobody finishes
            self._unfinished.append(job)
            self.under_way, job.nbytes = self.under_way + nbytes, nbytes
            self.peak = max(self.peak, self.under_way)
            self._queue.append(job)
            if self._threads < self.count:
                _settle_before_forks(self)
                alone = not crew().call(self)
                self._threads += not alone
        if alone and not self._threads:  # nobody else will do it
            self._queue.clear()
            self.drain()
        return job

    def finish(self, job: Job) -> None:
        """Wait for a job; do it here if nobody has begun."""
        while not job.done and not job.run(self._finished):
            job.wait()

    def drain(self) -> None:
        """Wait for all that was added."""
        for job in list(self._unfinished):
            self.finish(job)

    def _too_much(self, more: int) -> Job | None:
        with self._lock:
            while self._unfinished and self._unfinished[0].done:
                self._unfinished.popleft()
            if self._unfinished and self.under_way + more > self.window:
                return self._unfinished[0]
            return None

    def _finished(self, job: Job) -> None:
        with self._lock:
            self.under_way, job.nbytes = self.under_way - job.nbytes, 0

    def next(self) -> Job | None:
        """The next job of a thread that was called; None if there is none left for it."""
        with self._lock:
            if self._queue:
                return self._queue.popleft()
            self._threads = max(0, self._threads - 1)  # an interrupt may have come before it was counted
            return None

    def _after_fork(self) -> None:
        if self._process != os.getpid():  # the threads are the parent's
            self.__init__(self.count, self.window)  # type: ignore[misc]


def _bare(error: BaseException) -> BaseException:
    """The error without what was running: frames keep their callers, and those what is to be written, and the job."""
    step: BaseException | None = error
    while step is not None:
        step.__traceback__ = None
        step = step.__cause__ or step.__context__
    return error


def _work(crew: Crew) -> None:
    while (workers := crew.called()) is not None:
        while (job := workers.next()) is not None:
            job.run(workers._finished)
            del job
        del workers


_with_threads: WeakSet[Workers] = WeakSet()
_registered: list[bool] = []


def _settle_before_forks(workers: Workers) -> None:
    """Have a fork wait for what is under way: in the child there is nobody to finish it, or to give a lock back."""
    if not _registered and hasattr(os, "register_at_fork"):
        _registered.append(True)
        os.register_at_fork(before=_settle_all)
    _with_threads.add(workers)


def _settle_all() -> None:
    for workers in list(_with_threads):
        if workers._process == os.getpid():
            workers.drain()
