"""Helpers for classes that define `__torch_function__`: `torch.overrides`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from .base.modes import MODE, Block
from .core.tensor import Tensor
from .core.torch_function import handle, overriding, through_functions

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


class TorchFunctionMode(Block):
    """Context manager: `__torch_function__` of this object is called in place of every operation.

    It gets the function, the classes of arguments that have a `__torch_function__` of their own, and the arguments.
    Inside of it the mode is off, and those around it are on. Functions that make tensors come to it, too; attributes
    of tensors do not.

    Example::

        >>> import gradpack as torch
        >>> class Log(torch.overrides.TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
        >>> with Log():
        ...     y = torch.ones(2) + 1
        ones
        add
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute `func(*args, **kwargs)`. To be overridden."""
        raise NotImplementedError

    def _changes(self) -> dict[str, Any]:
        return {"functions": (*MODE.get().functions, self)}

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Deprecated: use `cls(...)`."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function."""
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> Any:
    """Return the innermost active mode, or None."""
    modes = MODE.get().functions
    return modes[-1] if modes else None


def has_torch_function(args: Iterable[Any]) -> bool:
    """Return whether one of the arguments overrides `__torch_function__`."""
    return bool(MODE.get().functions or overriding(tuple(args)))


def has_torch_function_unary(arg: Any) -> bool:
    """The same for one argument."""
    return bool(MODE.get().functions or overriding((arg,)))


def has_torch_function_variadic(*args: Any) -> bool:
    """The same for arguments given one by one."""
    return bool(MODE.get().functions or overriding(args))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Call `__torch_function__` of the arguments that override it for `public_api(*args, **kwargs)`.

    Raises:
        TypeError: if none of them does.
    """
    if MODE.get().functions:
        return through_functions(public_api, public_api.__name__, relevant_args, args, kwargs)
    return handle(public_api, public_api.__name__, overriding(tuple(relevant_args)), args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a Tensor, or its class defines `__torch_function__`.

    Example::

        >>> import gradpack as torch
        >>> torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like(1)
        (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method or property of Tensor only, and no function of the module as well."""
    import gradpack

    name = getattr(func, "__name__", "")
    return getattr(Tensor, name, None) is func and getattr(gradpack, name, None) is not func


def resolve_name(f: Callable[..., Any]) -> str | None:
    """Return the public name of a function: `torch.add`."""
    import gradpack

    name = getattr(f, "__name__", "")
    for where, label in (
        (gradpack, "torch"),
        (gradpack.nn.functional, "torch.nn.functional"),
        (Tensor, "torch.Tensor"),
    ):
        if getattr(where, name, None) is f:
            return f"{label}.{name}"
    return None


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Decorate a function to dispatch to `__torch_function__` of the arguments that `dispatcher` returns.

    Example::

        >>> import gradpack as torch
        >>> @torch.overrides.wrap_torch_function(lambda x: (x,))
        ... def twice(x):
        ...     return x + x
        >>> twice(3)
        6
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate
