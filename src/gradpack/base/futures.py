"""`torch.futures`: results that come later, from another thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures as _futures
from typing import Any, Generic, TypeVar

__name__ = "gradpack.futures"
__all__ = ["Future", "collect_all", "wait_all"]
T = TypeVar("T")


class Future(Generic[T]):
    """A result that comes later.

    Example::

        >>> import gradpack as torch
        >>> first = torch.futures.Future()
        >>> second = first.then(lambda done: done.value() + 1)
        >>> first.set_result(2)
        >>> second.wait()
        3
    """

    def __init__(self, *, devices: list[Any] | None = None) -> None:
        self._own: _futures.Future[T] = _futures.Future()

    def done(self) -> bool:
        """Return whether there is a result or an exception."""
        return self._own.done()

    def wait(self) -> T:
        """Wait for the result and return it, or raise the exception."""
        return self._own.result()

    def _settled(self, seconds: float) -> bool:
        """Wait for the end for some time, and return whether it has come."""
        return not _futures.wait([self._own], seconds).not_done

    def value(self) -> T:
        """Return the result, or raise the exception.

        Raises:
            RuntimeError: if there is none yet.
        """
        if not self.done():
            raise RuntimeError("Future.value(): there is no result yet; wait() waits for one")
        return self._own.result()

    def set_result(self, result: T) -> None:
        """Set the result, and call what waits for it.

        Raises:
            RuntimeError: if there is one already.
        """
        if self.done():
            raise RuntimeError("Future can only be marked completed once")
        self._own.set_result(result)

    def set_exception(self, result: Exception) -> None:
        """Set the exception that `wait` raises, and call what waits for it.

        Raises:
            AssertionError: for what is no exception.
            RuntimeError: if there is a result already.
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        if self.done():
            raise RuntimeError("Future can only be marked completed once")
        self._own.set_exception(result)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call a function with this future when it is done; at once if it is."""
        self._own.add_done_callback(lambda _: callback(self))

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """Return a future of what a function makes of this one when it is done."""
        following: Future[Any] = Future()

        def follow(done: Future[T]) -> None:
            try:
                following.set_result(callback(done))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(follow)
        return following


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future that is done when all are; its result is the list of them.

    Example::

        >>> import gradpack as torch
        >>> a, b = torch.futures.Future(), torch.futures.Future()
        >>> both = torch.futures.collect_all([a, b])
        >>> a.set_result(1)
        >>> both.done()
        False
        >>> b.set_result(2)
        >>> [future.value() for future in both.wait()]
        [1, 2]
    """
    every: Future[list[Future[Any]]] = Future()
    left = set(map(id, futures))

    def end(done: Future[Any]) -> None:
        left.discard(id(done))
        if not left and not every.done():
            every.set_result(futures)

    for future in futures:
        future.add_done_callback(end)
    if not futures:
        every.set_result(futures)
    return every


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Return the results of all, in order, or raise the first exception.

    Example::

        >>> import gradpack as torch
        >>> a = torch.futures.Future()
        >>> a.set_result(1)
        >>> torch.futures.wait_all([a])
        [1]
    """
    return [future.wait() for future in collect_all(futures).wait()]
