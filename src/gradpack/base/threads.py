"""The number of threads, and how threads are started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import blas

if TYPE_CHECKING:
    from threading import Thread

_chosen: list[int] = []  # empty until it is first asked for


def processors() -> set[int]:
    """The numbers of the processors that this process may run on."""
    try:
        return os.sched_getaffinity(0)
    except AttributeError:  # not on every system
        return set(range(os.cpu_count() or 1))


def started(thread: Thread) -> bool:
    """Start a thread. Return False if no thread can be started, as in a browser."""
    try:
        start(thread)
    except RuntimeError:
        return False
    return True


def get_num_threads() -> int:
    """The number of threads that an operation may use.

    Unless it was set: `MKL_NUM_THREADS`, else `OMP_NUM_THREADS`, else the processors that this process may run on, as
    they are when it is first asked for.

    Example::

        >>> import gradpack as torch
        >>> torch.get_num_threads() >= 1
        True
    """
    if not _chosen:
        asked = [os.environ.get(name, "") for name in ("MKL_NUM_THREADS", "OMP_NUM_THREADS")]
        _chosen.append(next((int(a) for a in asked if a.isdigit() and int(a)), 0) or len(processors()))
    return _chosen[0]


def check_count(op: str, threads: Any) -> None:
    """Raise unless a number of threads is a positive int of 64 bits."""
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise RuntimeError(f"{op} expects an int, but got {type(threads).__name__}")
    if threads >= 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {op}() got {threads}")
    if threads < 1:
        raise RuntimeError(f"{op} expects a positive integer")


def set_num_threads(threads: int) -> None:
    """Set the number of threads that an operation may use. Its result does not depend on it.

    NumPy's BLAS, which factorizes matrices, is limited to as many, where its library allows that.

    Args:
        threads: the number of threads: a positive int.

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
    blas.set_threads(threads)


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
