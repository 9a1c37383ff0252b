"""`no_grad` and its kin: context managers, decorators, for generators and coroutines too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..base.modes import MODE, change

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operations are recorded now.

    Example::

        >>> import gradpack as torch
        >>> torch.is_grad_enabled()
        True
    """
    return MODE.get().grad


class ModeManager:
    """A context manager that is a decorator too. Subclasses say what changes."""

    def __init__(self) -> None:
        self._before: list[dict[str, Any]] = []

    def _changes(self) -> dict[str, Any]:
        raise NotImplementedError

    def clone(self) -> ModeManager:
        """A fresh manager of the same settings, for one call of a decorated function."""
        return type(self)()

    def __enter__(self) -> Any:
        self._before.append(change(**self._changes()))
        return None

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())

    def __call__(self, function: F) -> F:
        """Decorate a function, generator function, coroutine function or class."""
        return decorate(self.clone, function)


def decorate(manager: Callable[[], Any], function: F) -> F:
    """`function` run inside `manager()`; a generator or coroutine is inside it at each step only."""
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
            inner = function(*args, **kwargs)
            return (yield from _Steps(manager, inner))

        return generator  # type: ignore[return-value]
    if flags & 0x200:  # an asynchronous generator function

        @functools.wraps(function)
        async def async_generator(*args: Any, **kwargs: Any) -> Any:
            inner = function(*args, **kwargs)
            sent = None
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


class _Steps:
    """Resumes a generator or coroutine, each time inside the mode."""

    def __init__(self, manager: Callable[[], Any], inner: Any) -> None:
        self.manager, self.inner = manager, inner

    def __iter__(self) -> _Steps:
        return self

    def __next__(self) -> Any:
        return self.send(None)

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


class _NoArguments(ModeManager):
    """Allows `@no_grad` without parentheses, as torch does."""

    def __new__(cls, function: Any = None) -> Any:
        if function is None:
            return super().__new__(cls)
        return decorate(cls, function)

    def __init__(self, function: Any = None) -> None:
        super().__init__()


class no_grad(_NoArguments):  # noqa: N801 - torch's name
    """Record nothing: results do not require grad.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    def _changes(self) -> dict[str, Any]:
        return {"grad": False}


class enable_grad(_NoArguments):  # noqa: N801 - torch's name
    """Record again, inside a `no_grad` block.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    def _changes(self) -> dict[str, Any]:
        return {"grad": True}


class set_grad_enabled(ModeManager):  # noqa: N801 - torch's name
    """Switch recording on or off: at once as a function, for a block or function otherwise.

    Example::

        >>> import gradpack as torch
        >>> with torch.set_grad_enabled(False):
        ...     torch.is_grad_enabled()
        False
        >>> torch.is_grad_enabled()
        True
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        self._at_construction = change(grad=mode)

    def _changes(self) -> dict[str, Any]:
        return {"grad": self.mode}

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        change(grad=self.mode)

    def __exit__(self, *exc: object) -> None:
        change(**self._at_construction)

    def __call__(self, function: F) -> F:
        change(**self._at_construction)
        return super().__call__(function)

    def __str__(self) -> str:
        return f"gradpack.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(ModeManager):  # noqa: N801 - torch's name
    """Record nothing, and make inference tensors: without version counters, never to be saved for backward.

    Args:
        mode: False leaves inference mode.

    Example::

        >>> import gradpack as torch
        >>> with torch.inference_mode():
        ...     y = torch.ones(2) * 2
        >>> y.is_inference()
        True
    """

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return decorate(cls, mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def _changes(self) -> dict[str, Any]:
        return {"inference": self.mode, "grad": not self.mode}

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on.

    Example::

        >>> import gradpack as torch
        >>> torch.is_inference_mode_enabled()
        False
    """
    return MODE.get().inference


def is_multithreading_enabled() -> bool:
    """Whether backward may use several threads."""
    return MODE.get().threads


class set_multithreading_enabled(ModeManager):  # noqa: N801 - torch's name
    """Allow or forbid backward to use several threads: at once as a function, or for a block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        self._previous = change(threads=mode)["threads"]

    def clone(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        change(threads=self._previous)
