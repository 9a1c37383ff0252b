"""Background work: a few threads, started when first needed, and a limit on the bytes in flight.

A job is a function without arguments; once it is done only its error is kept. All policies share the threads, which
end when idle. They are daemon threads: the interpreter does not wait for them at exit.
"""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock, get_ident
from collections import deque
from collections.abc import Callable
from weakref import WeakSet

from ...base.threads import started

_PATIENCE = 1.0  # seconds to wait before checking again: the thread that runs a job may be gone


class Job:
    """One piece of work, run by a background thread or by the first thread that needs it: see `JobQueue.finish`.

    Attributes:
        nbytes: the bytes that it counts as in flight; 0 once it is done.
        error: the exception that it raised, or None.
        done: whether it is finished.
    """

    def __init__(self, work: Callable[[], None] | None) -> None:
        self.work, self.nbytes = work, 0
        self.error: BaseException | None = None
        self.done = False
        self._takers: list[int] = []  # ids of the threads that tried to run it: the first one runs it
        self._waiting = allocate_lock()  # released once it is done
        self._waiting.acquire()

    def run(self, finished: Callable[[Job], None] | None = None) -> bool:
        """Run the work unless another thread runs or ran it; return whether it was run here.

        `finished` is called before `done` is set. A KeyboardInterrupt in the main thread propagates and leaves the
        job to be run later; any other exception is kept as `error` and raised where the result is needed.
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
        """Wait until another thread has done it, at most `_PATIENCE` seconds; then the caller may try to run it."""
        if not self.done and self._waiting.acquire(timeout=_PATIENCE):
            self._waiting.release()


class ThreadPool:
    """The threads that run the jobs of all `JobQueue`s: started on demand, at most `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._team: list[threading.Thread] = []
        self._calls: deque[JobQueue] = deque()  # each entry asks for one thread
        self._idle = 0
        self._lock = threading.Lock()  # enter this, not the condition, which an interrupt would leave locked
        self._wake = threading.Condition(self._lock)

    def call(self, workers: JobQueue) -> bool:
        """Ask for one more thread to run jobs of `workers` until none is left; False if no thread can be started."""
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

    def called(self) -> JobQueue | None:
        """Return the next `JobQueue` that asks for a thread; None after five idle seconds."""
        with self._lock:
            while not self._calls:
                self._idle += 1
                woken = self._wake.wait(timeout=5.0)
                self._idle -= 1
                if not woken and not self._calls:
                    me = threading.current_thread()  # it ends now, so the next call has to start another thread
                    self._team = [thread for thread in self._team if thread is not me]
                    return None
            return self._calls.popleft()


_MOST = 8  # most threads, for all policies together
_crew = ThreadPool(_MOST)


class JobQueue:
    """A queue of jobs, run in order in the background, with at most `window` bytes in flight.

    Args:
        count: how many threads may run its jobs at a time.
        window: bytes. Adding a job beyond it first waits for the oldest job, or runs it.
    """

    def __init__(self, count: int, window: int) -> None:
        self.count, self.window = count, window
        self.under_way = 0
        self.peak = 0
        self._queue: deque[Job] = deque()
        self._unfinished: deque[Job] = deque()
        self._lock = threading.Lock()
        self._threads = 0  # threads that run jobs of this queue now, or were asked for

    def add(self, work: Callable[[], None], nbytes: int) -> Job:
        """Queue `work`, which counts as `nbytes` in flight, and return its job. May wait for older jobs first."""
        while (oldest := self._too_much(nbytes)) is not None:
            self.finish(oldest)
        job, alone = Job(work), False
        with self._lock:  # in this order an interrupt leaves no job counted that is not in `_unfinished`
            self._unfinished.append(job)
            self.under_way, job.nbytes = self.under_way + nbytes, nbytes
            self.peak = max(self.peak, self.under_way)
            self._queue.append(job)
            if self._threads < self.count:
                _with_threads.add(self)
                alone = not _crew.call(self)
                self._threads += not alone
        if alone and not self._threads:  # there is no thread to run it
            self._queue.clear()
            self.drain()
        return job

    def finish(self, job: Job) -> None:
        """Wait for a job; run it here if no thread has begun it."""
        while not job.done and not job.run(self._finished):
            job.wait()

    def drain(self) -> None:
        """Wait for all jobs."""
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
        """Return the next job for a background thread; None if the queue is empty, and the thread is to leave."""
        with self._lock:
            if self._queue:
                return self._queue.popleft()
            self._threads = max(0, self._threads - 1)  # an interrupt may have come before the thread was counted
            return None


def _bare(error: BaseException) -> BaseException:
    """Return the error with all tracebacks removed: their frames would keep the job and its arrays alive."""
    step: BaseException | None = error
    while step is not None:
        step.__traceback__ = None
        step = step.__cause__ or step.__context__
    return error


def _work(thread_pool: ThreadPool) -> None:
    while (workers := thread_pool.called()) is not None:
        while (job := workers.next()) is not None:
            job.run(workers._finished)
            del job
        del workers


_with_threads: WeakSet[JobQueue] = WeakSet()


def drain_all() -> None:
    """Wait for the jobs of all queues, as before a fork: the child has no thread to finish them."""
    for workers in list(_with_threads):
        workers.drain()


def _begin_anew() -> None:
    """Begin without threads in the child of a fork: they exist in the parent only."""
    global _crew
    _crew = ThreadPool(_MOST)
    for workers in list(_with_threads):
        workers.__init__(workers.count, workers.window)  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=drain_all, after_in_child=_begin_anew)
