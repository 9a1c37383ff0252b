"""Groups of ranks: exchanges of arrays in which all ranks of a group take part, and what waits for them."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, NamedTuple, NoReturn

from ..base.futures import Future
from ..base.threads import start
from ._mailbox import ALL, DistBackendError, Gone, Late, Message, Transport

__all__ = ["ProcessGroup", "Work"]


class Call(NamedTuple):
    """A collective call, as it has to be on every rank: its number in the group, and what it does to what."""

    number: int
    text: str


class Work:
    """The handle of an operation that runs, or has run, beside the program."""

    def __init__(self, future: Future[Any], settle: Callable[[float | None], bool] | None = None) -> None:
        self._future, self._settle = future, settle

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the end of the operation; its error is raised here.

        Raises:
            RuntimeError: if it has not ended within the timeout.
        """
        seconds = None if timeout is None else timeout.total_seconds()
        if self._settle is not None:
            self._settle(seconds)
        if seconds is not None and not self._future._settled(seconds):
            raise DistBackendError(f"Work.wait(): the operation has not ended within {seconds:g} seconds")
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        """Return whether the operation has ended."""
        return self._future.done() or (self._settle is not None and self._settle(0.0))

    def is_success(self) -> bool:
        """Return whether the operation has ended without an error."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> BaseException | None:
        """Return the error that the operation ended with, if it has ended with one."""
        return self._future._own.exception() if self._future.done() else None

    def result(self) -> list[Any]:
        """Return the tensors that were written."""
        return list(self._future.wait()[:1] if self._settle is not None else self._future.wait())

    def source_rank(self) -> int:
        """Return the rank whose tensor was received."""
        return int(self._future.wait()[1])

    def get_future(self) -> Future[Any]:
        """Return a future of the tensors that are written."""
        return self._future


class ProcessGroup:
    """Some of the ranks, in an order of their own, who make collective calls together.

    Every message says which call of the group it belongs to. Where two ranks do not make the same call the group has
    failed: every rank in it hears of that, and raises the same sentence from then on.

    Args:
        ranks: the ranks of its members among all.
        timeout: how long a call may take, in seconds.

    Attributes:
        group_desc: what it is for, in words.
        others: the ranks of the other members.
        posted: receives that wait, in order: see `_point_to_point.py`.
    """

    def __init__(self, transport: Transport, name: str, ranks: Sequence[int], timeout: float, desc: str) -> None:
        self.transport, self.group_name, self.ranks, self.timeout = transport, name, tuple(ranks), timeout
        self.group_desc = desc
        self._place = self.ranks.index(transport.rank)
        self.others = tuple(r for r in self.ranks if r != transport.rank)
        self._count = 0
        self._lock, self._turn = Lock(), Lock()  # the order of calls; whose messages are exchanged
        self._jobs: SimpleQueue[Callable[[], None] | None] | None = None
        self._queued = 0
        self.posted: dict[Any, deque[Any]] = {}

    def rank(self) -> int:
        """Return the rank of this process in the group."""
        return self._place

    def size(self) -> int:
        """Return the number of ranks in the group."""
        return len(self.ranks)

    def name(self) -> str:
        """Return the name of the backend."""
        return self.transport.name

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name!r} over {self.transport.name}: ranks {list(self.ranks)}>"

    def run(self, text: str, work: Callable[[Call], Any], async_op: bool, timeout: float | None = None) -> Work | None:
        """Run the body of a collective call: now, or on the group's thread, in the order of the calls.

        Args:
            text: what the call is, the same on every rank.
            work: exchanges messages, given the call.
        """
        with self._lock:
            call = Call(self._count, text)
            self._count += 1
            now = not async_op and not self._queued and self._turn.acquire(blocking=False)
            future = None if now else self._queue(lambda: self._guarded(call, work, timeout))
        if future is None:
            try:
                self._guarded(call, work, timeout)
            except DistBackendError as error:
                raise error.with_traceback(None) from None  # where it was noticed is not where the mistake is
            finally:
                self._turn.release()
            return None
        made = Work(future)
        if not async_op:
            made.wait()
        return made if async_op else None

    def _queue(self, job: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        if self._jobs is None:
            self._jobs = SimpleQueue()
            start(Thread(target=_serve, args=(self._jobs,), name=f"gradpack group {self.group_name}", daemon=True))

        def work() -> None:
            result, error = None, None
            with self._turn:
                try:
                    result = job()
                except Exception as failed:
                    error = failed
            with self._lock:
                self._queued -= 1
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        self._queued += 1
        self._jobs.put(work)
        return future

    def _guarded(self, call: Call, work: Callable[[Call], Any], timeout: float | None) -> Any:
        """Run the body of a call. Whatever error leaves it, the group has failed, and the others are told."""
        self.check()
        self._deadline = monotonic() + (self.timeout if timeout is None else timeout)
        try:
            return work(call)
        except BaseException as error:
            if not isinstance(error, DistBackendError):
                self.fail(f"rank {self.transport.rank} left {call.text} with {type(error).__name__}: {error}")
            raise

    def check(self) -> None:
        """Raise if the group has failed.

        Raises:
            DistBackendError: with the reason.
        """
        why = self.transport.box.failure(self.group_name)
        if why is not None:
            raise DistBackendError(f"the process group has failed: {why}")

    def fail(self, why: str) -> None:
        """Let the group have failed, on every rank of it."""
        self.transport.box.fail(self.group_name, why)
        for other in self.others:
            self.transport.fail(other, self.group_name, why)

    def exchange(self, call: Call, out: Mapping[int, Any], sources: Iterable[int]) -> dict[int, Any]:
        """Send arrays to ranks of the group, and return those that come from others.

        Args:
            out: contiguous one-dimensional arrays, by the rank in the group that each is for.
            sources: the ranks in the group that send something here.

        Returns:
            Arrays of bytes, by the rank in the group.

        Raises:
            DistBackendError: if a rank makes another call, has ended, or sends nothing in time.
        """
        transport, channel = self.transport, (self.group_name, "")
        got, missing = {}, {self.ranks[source]: source for source in sources}
        try:
            for to, data in out.items():
                transport.send(self.ranks[to], channel, call, data, self._deadline)
            while missing:
                message = transport.box.take(channel, tuple(missing), self._deadline, every=True)
                if tuple(message.label) != tuple(call):
                    self._differ(call, message)
                got[missing.pop(message.source)] = message.data
            transport.flush(self._deadline)
        except Gone as error:
            self._break(f"rank {transport.rank} in {call.text}: {error}")
        except Late:
            who = ", ".join(map(str, missing)) or "that does not receive"
            why = f"rank {transport.rank} in {call.text} has waited too long for rank {who}"
            self._break(f"{why}: it does not make this call, or needs a longer timeout")
        return got

    def _differ(self, call: Call, message: Message) -> None:
        ours, theirs = (f"{c.text} as call {c.number}" for c in (call, Call(*message.label)))
        self._break(
            f"rank {self.transport.rank} made {ours} of the group, and rank {message.source} {theirs}: every rank of "
            "a group has to make the same calls in one order, with tensors of the same shape and dtype"
        )

    def _break(self, why: str) -> NoReturn:
        self.fail(why)
        raise DistBackendError(why) from None

    def close(self) -> None:
        """End the thread of the group, when it has done what was asked of it."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None


def _serve(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def tell_of_errors(transport: Transport) -> Callable[[], None]:
    """Tell the other ranks of an exception that ends this process; return what undoes that."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        before(kind, error, traceback)
        sys.stderr.flush()
        for other in range(transport.size):
            if other != transport.rank:
                transport.fail(other, ALL, f"rank {transport.rank} has ended with {kind.__name__}: {error}")
        transport.abort()

    def undo() -> None:
        if sys.excepthook is hook:
            sys.excepthook = before

    sys.excepthook = hook
    return undo
