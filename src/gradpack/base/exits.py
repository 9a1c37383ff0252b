"""`__exit__` methods that run to the end even if a KeyboardInterrupt arrives.

Python handles signals where a Python function begins, and after calls. A Ctrl-C that came during the last operation
of a block would be raised in `__exit__` before its first line, and the change of the block would not be undone. So
the `__exit__` here is written in C: it resumes a generator that is inside a `try` already, and an interrupt from
there on is raised when the block has ended.

`__enter__` may be an ordinary method: it has to undo what it did if it is interrupted, and Python does not look for
signals between its return and the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from io import IOBase
from typing import Any


class _Ending(IOBase):
    """Calls its attribute `close` at the end of a block: `IOBase.__exit__` does, and is written in C."""

    __slots__ = ("close",)

    closed = True  # so that its destructor does nothing


class Exit:
    """The method `__exit__` of a class of context managers.

    Args:
        find: returns, from the manager, the second argument of `end`. Changes nothing.
        end: undoes the block, given the manager and what `find` returned. If it is interrupted it is called once more
            with the same arguments, so each of its steps must be idempotent.
    """

    __slots__ = ("_end", "_find")

    def __init__(self, find: Callable[[Any], Any], end: Callable[[Any, Any], object]) -> None:
        self._find, self._end = find, end

    def __get__(self, manager: Any, kind: Any = None) -> Any:
        if manager is None:
            return self
        steps = _leaving(manager, self._find, self._end)
        next(steps)
        ending = _Ending()
        ending.close = steps.__next__  # type: ignore[method-assign]
        return ending.__exit__

    def __call__(self, manager: Any, *exc: object) -> None:
        """Called by `ExitStack`, which takes `__exit__` from the class."""
        self.__get__(manager)(*exc)


def _leaving(manager: Any, find: Callable[[Any], Any], end: Callable[[Any, Any], object]) -> Iterator[None]:
    found: Any = _NOTHING
    try:
        yield
        found = find(manager)
        end(manager, found)
    except GeneratorExit:
        return  # `__exit__` was never called
    except BaseException:
        end(manager, find(manager) if found is _NOTHING else found)
        raise
    yield  # returns None from `__exit__`: an exception in the block is not suppressed


_NOTHING = object()


class surely:  # noqa: N801 - reads as a keyword
    """Context manager: calls `undo()` when the block ends, once more if that is interrupted."""

    __slots__ = ("undo",)

    def __init__(self, undo: Callable[[], Any]) -> None:
        self.undo = undo

    def __enter__(self) -> None:
        pass

    __exit__ = Exit(lambda self: self.undo, lambda self, undo: undo())


def inside(make: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs another one inside of a context manager, which `make` returns for each call."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with make():
            return function(*args, **kwargs)

    return update_wrapper(run, function)


class _Steps:
    """The context manager, and decorator, that a function decorated by `block` returns."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._open: tuple[Any, ...] = ()

    def __enter__(self) -> Any:
        steps = self._make()
        try:
            value = next(steps)
            self._open = (*self._open, steps)
        except BaseException:
            steps.close()
            raise
        return value

    def _leave(self, steps: Iterator[Any]) -> None:
        next(steps, None)
        self._open = tuple([other for other in self._open if other is not steps])

    __exit__ = Exit(lambda self: self._open[-1], _leave)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return inside(lambda: _Steps(self._make), function)


def block(make: Callable[..., Iterator[Any]]) -> Callable[..., Any]:
    """Decorator: make a context manager of a generator function with one `yield`.

    Like `contextlib.contextmanager`, but the exit is carried out even if an interrupt arrives, and exceptions of the
    block are not thrown into the generator. The `yield` must stand within `try ... finally` with one call of a
    function written in C after `finally`, or within `with surely(undo)`.
    """

    def blocks(*args: Any, **kwargs: Any) -> _Steps:
        return _Steps(partial(make, *args, **kwargs))

    return update_wrapper(blocks, make)
