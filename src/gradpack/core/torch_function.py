"""`__torch_function__`: how subclasses of Tensor, and classes that act like one, take part in operations.

Nothing here is asked while all operands are plain tensors: compiled operations look at exact types.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextvars import ContextVar
from types import MethodType
from typing import Any

from ..base.errors import foreign_function, is_foreign, mixed
from ..base.exits import Exit
from ..base.modes import MODE, Block, Undo
from .parameter import Parameter
from .tensor import Tensor, _new

_DISABLED: ContextVar[int] = ContextVar("gradpack torch function disabled", default=0)

PLAIN = frozenset({Tensor, Parameter, int, float, bool, complex, str, type(None), list, tuple, slice})


def disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The `__torch_function__` of classes whose results are plain tensors, such as Parameter."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """In this block, operations treat instances of subclasses as plain tensors.

    Example::

        >>> import gradpack as torch
        >>> class MyTensor(torch.Tensor):
        ...     pass
        >>> x = torch.ones(2).as_subclass(MyTensor)
        >>> with torch._C.DisableTorchFunctionSubclass():
        ...     type(x + 1).__name__
        'Tensor'
    """

    def __enter__(self) -> None:
        before = _DISABLED.get()
        try:
            _DISABLED.set(before + 1)
        except BaseException:  # an interrupt
            _DISABLED.set(before)
            raise

    __exit__ = Exit(lambda self: _DISABLED.get() - 1, lambda self, before: _DISABLED.set(before))


class DisableTorchFunction(Block):
    """Like `DisableTorchFunctionSubclass`; modes of `__torch_function__` are off, too."""

    def _changes(self) -> dict[str, Any]:
        return {"functions": ()}

    def __enter__(self) -> None:
        before = _DISABLED.get()
        try:
            _DISABLED.set(before + 1)
            super().__enter__()
        except BaseException:  # an interrupt
            _DISABLED.set(before)
            raise

    def _leave_both(self, found: tuple[int, Undo]) -> None:
        _DISABLED.set(found[0])
        self._leave(found[1])

    __exit__ = Exit(lambda self: (_DISABLED.get() - 1, self._last()), _leave_both)


def instance(made: Tensor, cls: type) -> Any:
    """Return an instance of `cls` that replaces a new tensor: with its array, history and version counter."""
    out: Any = _new(cls)
    for slot in ("_data", "_shape", "_spec", "_edge", "_counter", "_view"):
        setattr(out, slot, getattr(made, slot))
    if made._tangents is not None:
        out._tangents = made._tangents
    return out


def make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Any:
    """Return a leaf of class `cls` on the storage of `data`."""
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    with DisableTorchFunctionSubclass():
        out = instance(data.detach(), cls)
    if require_grad:
        out.requires_grad = True
    return out


def torch_function(cls: Any, func: Any, types: Iterable[type], args: Any = (), kwargs: Any = None) -> Any:
    """The default `__torch_function__`: operations on a subclass return the subclass.

    Args:
        func: the function that was called.
        types: the classes of arguments that define `__torch_function__`.
        args: its arguments.
        kwargs: its keyword arguments.
    """
    if foreign_function(func):
        raise mixed(getattr(func, "__name__", "this function"))
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    return _converted(result, cls)


def _converted(result: Any, cls: type) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, tuple | list):
        items = [_converted(r, cls) for r in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def overriding(values: Iterable[Any], name: str = "an operation") -> list[Any]:
    """The arguments whose class overrides `__torch_function__`, subclasses before their bases."""
    found: list[Any] = []
    if _DISABLED.get():
        return found
    for value in values:
        kind = type(value)
        if kind is list or kind is tuple:
            candidates: Iterable[Any] = value
        else:
            candidates = () if kind in PLAIN else (value,)
        for item in candidates:
            kind = type(item)
            if kind in PLAIN or any(type(f) is kind for f in found):
                continue
            handler = getattr(kind, "__torch_function__", None)
            if handler is None or handler is disabled_torch_function_impl:
                continue
            if is_foreign(item):
                raise mixed(name)
            place = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
            found.insert(place, item)
    return found


def tensor_likes(error: Exception, given: dict[str, Any]) -> list[Any]:
    """The arguments that override `__torch_function__` if a function failed on one that is no Tensor; else none."""
    if not isinstance(error, TypeError | AttributeError):
        return []
    items = [item for v in given.values() for item in (v if type(v) in (list, tuple) else (v,))]
    items += [i for item in items if type(item) in (list, tuple) for i in item]  # `einsum` takes a list in its `*args`
    like = any(
        hasattr(type(i), "__torch_function__") and not isinstance(i, Tensor) and not is_foreign(i) for i in items
    )
    return overriding(items) if like else []


def handle(func: Any, name: str, found: list[Any], args: Any, kwargs: Any) -> Any:
    """Call `__torch_function__` of each of `found` in turn until one handles `func`.

    Raises:
        TypeError: if all return NotImplemented.
    """
    types = tuple(type(f) for f in found)
    for value in found:
        handler = value.__torch_function__
        if type(handler) is MethodType and handler.__self__ is value:
            warnings.warn(
                "Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, "
                "please define it as a classmethod.",
                UserWarning,
                stacklevel=4,
            )
        result = handler(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    kinds = "\n".join(f"  - tensor subclass {t!r}" for t in types)
    raise TypeError(
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned NotImplemented:\n\n"
        f"{kinds}\n"
    )


def through_functions(func: Any, name: str, relevant: Iterable[Any], args: Any, kwargs: Any) -> Any:
    """Call `__torch_function__` of the innermost mode; functions called inside it go to the modes around it.

    Raises:
        TypeError: if the mode and all arguments return NotImplemented.
    """
    mode = MODE.get()
    innermost = mode.functions[-1]
    found = overriding(relevant)
    handler = innermost.__torch_function__
    if isinstance(getattr(handler, "__self__", None), type):
        raise RuntimeError(
            "Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain method"
        )
    try:
        MODE.set(mode.replace(functions=mode.functions[:-1]))
        result = handler(func, tuple(type(f) for f in found), args, kwargs or None)
    finally:
        MODE.set(mode)
    if result is not NotImplemented:
        return result
    if found:
        return handle(func, name, found, args, kwargs)
    raise TypeError(
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned NotImplemented:\n\n  - "
        f"mode object {innermost}\n"
    )


def dispatch(func: Any, self: Tensor, *args: Any) -> Any:
    """Dispatch a method of Tensor that is no operation; return NotImplemented if nothing overrides it."""
    found = overriding((self,))
    if not found:
        return NotImplemented
    return handle(func, f"Tensor.{func.__name__}", found, (self, *args), None)


Tensor._make_subclass = staticmethod(make_subclass)  # type: ignore[attr-defined]
Tensor.__torch_function__ = classmethod(torch_function)  # type: ignore[attr-defined]
Parameter.__torch_function__ = staticmethod(disabled_torch_function_impl)  # type: ignore[attr-defined]
