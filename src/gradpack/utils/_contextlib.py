"""`torch.utils._contextlib`: context managers that are decorators, of generators too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..autograd.decorate import decorate

FuncType = Callable[..., Any]
F = TypeVar("F", bound=FuncType)


def context_decorator(ctx: Any, func: F) -> F:
    """Return `func` wrapped to run inside of a context manager, or of the one that a function returns.

    Raises:
        AssertionError: for what is both.
        RuntimeError: for a class: decorate its methods.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it ambiguous "
            "which interface to use: pass `lambda: ctx()` for a function that makes one, `lambda: ctx` for itself"
        )
    if isinstance(func, type):
        raise RuntimeError("Cannot decorate classes: decorate each of the methods that shall run inside of it")
    return decorate(ctx if callable(ctx) else lambda: ctx, func)


class _DecoratorContextManager:
    """A context manager that is a decorator; `clone` makes one for each call."""

    def __call__(self, orig_func: F) -> F:
        return decorate(self.clone, orig_func)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        raise NotImplementedError

    def clone(self) -> Any:
        """Make another one. To be overridden where `__init__` takes arguments."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that decorates without parentheses, too."""

    def __new__(cls, orig_func: Any = None) -> Any:
        made = super().__new__(cls)
        return made if orig_func is None else made(orig_func)
