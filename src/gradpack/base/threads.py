"""How many threads one backward pass may use, and how they are started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threading import Thread

_MOST = 8  # with more threads, memory bandwidth is the limit
_chosen: list[int] = []


def _available() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def started(thread: Thread) -> bool:
    """Start a thread. Return False if no thread can be started, as in a browser."""
    try:
        start(thread)
    except RuntimeError:
        return False
    return True


def get_num_threads() -> int:
    """How many threads one backward pass may use, where a graph is wide and its arrays are large.

    Unless it was set: `OMP_NUM_THREADS`, else the processors that this process may run on, at most 8.
    The threads that NumPy's BLAS uses within one matrix product are its own affair.

    Example::

        >>> import gradpack as torch
        >>> torch.get_num_threads() >= 1
        True
    """
    if _chosen:
        return _chosen[0]
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else min(_available(), _MOST)


def check_count(op: str, threads: Any) -> None:
    """Raise unless a number of threads is a positive int of 64 bits."""
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise RuntimeError(f"{op} expects an int, but got {type(threads).__name__}")
    if threads >= 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {op}() got {threads}")
    if threads < 1:
        raise RuntimeError(f"{op} expects a positive integer")


def set_num_threads(threads: int) -> None:
    """Set how many threads one backward pass may use.

    Raises:
        RuntimeError: if the number is not positive.

    Example::

        >>> import gradpack as torch
        >>> before = torch.get_num_threads()
        >>> torch.set_num_threads(1)
        >>> torch.get_num_threads()
        1
        >>> torch.set_num_threads(before)
    """
    check_count("set_num_threads", threads)
    _chosen[:] = [threads]


def start(thread: Thread) -> None:
    """Start a thread. An interrupt meanwhile is raised as KeyboardInterrupt."""
    try:
        thread.start()
    except BaseException as error:
        raise interrupt_of(error) from None


def interrupt_of(error: BaseException) -> BaseException:
    """The KeyboardInterrupt that made `threading` fail, by releasing a lock that it did not hold; else `error`."""
    around = error.__context__
    return around if isinstance(error, RuntimeError) and isinstance(around, KeyboardInterrupt) else error
