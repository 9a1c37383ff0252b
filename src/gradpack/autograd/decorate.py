"""Context managers as decorators: of functions, generators, coroutines and classes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def decorate(manager: Callable[[], Any], function: F) -> F:
    """Return `function` wrapped to run inside `manager()`; a generator or coroutine enters it anew at each step."""
    if isinstance(function, type):
        import warnings

        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
            "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
            "the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        function.__init__ = decorate(manager, function.__init__)  # type: ignore[misc]
        return function
    flags = function.__code__.co_flags if hasattr(function, "__code__") else 0
    if flags & 0x20:  # a generator function

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Any:
            return (yield from _Steps(manager, function(*args, **kwargs)))

        return generator  # type: ignore[return-value]
    if flags & 0x200:  # an asynchronous generator function

        @functools.wraps(function)
        async def async_generator(*args: Any, **kwargs: Any) -> Any:
            inner, sent = function(*args, **kwargs), None
            while True:
                try:
                    sent = yield await _Awaited(manager, inner.asend(sent))
                except StopAsyncIteration:
                    return

        return async_generator  # type: ignore[return-value]
    if flags & 0x80:  # a coroutine function

        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            return await _Awaited(manager, function(*args, **kwargs))

        return coroutine  # type: ignore[return-value]

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with manager():
            return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


class _Steps(Generator[Any, Any, Any]):
    """Resumes a generator or coroutine, inside the context manager each time."""

    def __init__(self, manager: Callable[[], Any], inner: Any) -> None:
        self.manager, self.inner = manager, inner

    def send(self, value: Any) -> Any:
        with self.manager():
            return self.inner.send(value)

    def throw(self, *error: Any) -> Any:
        with self.manager():
            return self.inner.throw(*error)

    def close(self) -> None:
        with self.manager():
            self.inner.close()


class _Awaited:
    def __init__(self, manager: Callable[[], Any], awaitable: Any) -> None:
        self.manager, self.awaitable = manager, awaitable

    def __await__(self) -> Any:
        return (yield from _Steps(self.manager, self.awaitable.__await__()))
