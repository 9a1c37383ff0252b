"""Work that goes on beside the program: a few threads, started when first needed, and a limit in bytes.

A job is a function without arguments. Nothing is kept of it once it is done but its error. The threads
are daemons: a program that ends waits for none of them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any


class Job:
    """One piece of work, for a thread or for whoever needs it first: see `Workers.finish`."""

    __slots__ = ("_done", "_taken", "error", "nbytes", "work")

    def __init__(self, work: Callable[[], None] | None, nbytes: int) -> None:
        self.work, self.nbytes = work, nbytes
        self.error: BaseException | None = None
        self._done = threading.Event()
        self._taken = threading.Lock()  # whoever gets it does the work

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def run(self, finished: Callable[[Job], None] | None = None) -> bool:
        """Do the work unless somebody else does or did, and say whether it was done here.

        `finished` is called before anybody hears that the job is done.
        """
        if not self._taken.acquire(blocking=False):
            return False
        try:
            if self.work is not None:
                self.work()
        except BaseException as error:  # raised again where the result is asked for
            self.error = _bare(error)
        finally:
            self.work = None
            if finished is not None:
                finished(self)
            self._done.set()
        return True


class Workers:
    """Threads that do jobs in the order in which they came, while no more than `window` bytes are under way.

    Args:
        count: how many threads.
        window: bytes. Who adds a job beyond it waits for the oldest, or does it.
    """

    def __init__(self, count: int, window: int) -> None:
        self.count, self.window = count, window
        self.under_way = 0
        self.peak = 0
        self._queue: deque[Job] = deque()
        self._unfinished: deque[Job] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._threads = 0
        self._idle = 0
        self._process = _process()

    def add(self, work: Callable[[], None], nbytes: int) -> Job:
        """A job for `work`, which deals with `nbytes`. May wait for others, to keep within the window."""
        self._after_fork()
        while (oldest := self._too_much(nbytes)) is not None:
            self.finish(oldest)
        job = Job(work, nbytes)
        with self._wake:
            self.under_way += nbytes
            self.peak = max(self.peak, self.under_way)
            self._queue.append(job)
            self._unfinished.append(job)
            if self._idle:
                self._wake.notify()
            elif self._threads < self.count:
                self._threads += 1
                threading.Thread(target=_serve, args=(self,), name="gradpack-saved", daemon=True).start()
        return job

    def finish(self, job: Job) -> None:
        """Wait for a job; do it here if nobody has begun."""
        if not job.run(self._finished):
            job._done.wait()

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
            self.under_way -= job.nbytes

    def _next(self) -> Job | None:
        wake = self._wake
        with wake:
            while not self._queue:
                self._idle += 1
                woken = wake.wait(timeout=5.0)
                self._idle -= 1
                if not woken and not self._queue:  # nothing to do: the thread ends, another one starts when needed
                    self._threads -= 1
                    return None
            return self._queue.popleft()

    def _after_fork(self) -> None:
        if self._process != _process():  # the threads are the parent's
            self.__init__(self.count, self.window)  # type: ignore[misc]


def _bare(error: BaseException) -> BaseException:
    """The error without what was running: frames keep their callers, and those what is to be written, and the job."""
    step: BaseException | None = error
    while step is not None:
        step.__traceback__ = None
        step = step.__cause__ or step.__context__
    return error


def _serve(workers: Any) -> None:
    while (job := workers._next()) is not None:
        job.run(workers._finished)
        del job


def _process() -> int:
    from os import getpid

    return getpid()
