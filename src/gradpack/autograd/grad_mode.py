"""`no_grad` and its kin: context managers and decorators, also for generators and coroutines."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ClassVar, Self, overload

from ..base.exits import Exit
from ..base.modes import MODE, VIEW_REPLAY, Block, change
from ..core.accumulate_grad import ENFORCED
from ..core.tensor import Tensor
from .decorate import F, decorate

__all__ = ["enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled"]
__all__ += ["set_multithreading_enabled"]


def is_grad_enabled() -> bool:
    """Return whether grad mode is enabled.

    Example::

        >>> import gradpack as torch
        >>> torch.is_grad_enabled()
        True
    """
    return MODE.get().grad


class ModeManager(Block):
    """A context manager that is also a decorator. Subclasses return the changed fields from `_changes`."""

    prev: Any = False  # the previous setting

    def _changes(self) -> dict[str, Any]:
        raise NotImplementedError

    def clone(self) -> ModeManager:
        """Return a new manager with the same settings, for one call of a decorated function."""
        return type(self)()

    def __enter__(self) -> None:
        self.prev = MODE.get().grad
        super().__enter__()

    def __call__(self, function: F) -> F:
        """Decorate a function, generator function, coroutine function or class."""
        return decorate(self.clone, function)


class _NoArguments(ModeManager):
    """Allows `@no_grad` without parentheses, as torch does."""

    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...

    @overload
    def __new__(cls, orig_func: Callable[..., Any]) -> Any: ...

    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else decorate(cls, orig_func)

    def __init__(self, orig_func: Any = None) -> None:
        pass


class no_grad(_NoArguments):  # noqa: N801 - torch's name
    """Disable gradient calculation, as a context manager or a decorator: results of operations do not require grad.

    Args:
        orig_func: the function, for use as a decorator without parentheses.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
        >>> @torch.no_grad()
        ... def double(x):
        ...     return x * 2
        >>> double(x).requires_grad
        False
    """

    def _changes(self) -> dict[str, Any]:
        return {"grad": False}


class enable_grad(_NoArguments):  # noqa: N801 - torch's name
    """Enable gradient calculation inside `no_grad`, as a context manager or a decorator.

    Args:
        orig_func: the function, for use as a decorator without parentheses.

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


class Switch(ModeManager):
    """Changes a setting when it is constructed; leaving its block, or decorating with it, restores the old one."""

    prev: bool
    mode: bool
    _setter: ClassVar[str]  # the function name in the error for values that are not bool
    _field: ClassVar[str] = ""  # the field of the mode that it changes, if it changes no context variable
    _variable: ClassVar[ContextVar[bool]]

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"{self._setter}(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.prev, self.mode = self._get(), mode
        self.__enter__()

    def _get(self) -> bool:
        return getattr(MODE.get(), self._field) if self._field else self._variable.get()

    def _set(self, value: bool) -> None:
        if self._field:
            change(**{self._field: value})
        else:
            self._variable.set(value)

    def clone(self) -> Any:
        made = object.__new__(type(self))
        made.prev, made.mode = self._get(), self.mode
        return made

    def __enter__(self) -> None:
        before = self._get()
        try:
            self._set(self.mode)
        except BaseException:  # an interrupt
            self._set(before)
            raise

    __exit__ = Exit(lambda self: self.prev, lambda self, prev: self._set(prev))

    def __call__(self, function: F) -> F:
        self._set(self.prev)
        return super().__call__(function)


class set_grad_enabled(Switch):  # noqa: N801 - torch's name
    """Set grad mode on or off: at once as a function, or for a block or decorated function.

    Args:
        mode: True for gradients, False for none.

    Raises:
        TypeError: if `mode` is no bool.

    Example::

        >>> import gradpack as torch
        >>> with torch.set_grad_enabled(False):
        ...     torch.is_grad_enabled()
        False
        >>> torch.is_grad_enabled()
        True
    """

    _setter, _field = "set_grad_enabled", "grad"

    def __str__(self) -> str:
        return f"{type(self).__module__}.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(ModeManager):  # noqa: N801 - torch's name
    """Disable gradient calculation, and make inference tensors: without version counter, never saved for backward.

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
        return super().__new__(cls) if isinstance(mode, bool) else decorate(cls, mode)

    def __init__(self, mode: bool = True) -> None:
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


def _enter_inference_mode(mode: bool) -> inference_mode:
    manager: inference_mode = inference_mode(mode)
    manager.__enter__()
    return manager


def _exit_inference_mode(mode: inference_mode) -> None:
    mode.__exit__(None, None, None)


def is_multithreading_enabled() -> bool:
    """Whether backward may use several threads. It runs on the calling thread either way.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.is_multithreading_enabled()
        True
    """
    return MODE.get().threads


class set_multithreading_enabled(Switch):  # noqa: N801 - torch's name
    """Set what `is_multithreading_enabled` returns: at once as a function, or for a block.

    Args:
        mode: what it is to return.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.set_multithreading_enabled(False):
        ...     torch.autograd.is_multithreading_enabled()
        False
    """

    _setter, _field = "set_multithreading_enabled", "threads"

    def __call__(self, function: F) -> F:  # as in torch, decorating does not restore the old setting
        return ModeManager.__call__(self, function)


class enforce_grad_layout_policy(Switch):  # noqa: N801 - torch's name
    """Set whether a gradient must have the strides of its leaf: at once as a function, or for a block.

    With False, `.grad` takes over a gradient that has no other reference, whatever its layout, without a copy.

    Args:
        enable: True (the default): a gradient of other strides is copied into the layout of its leaf.

    Example::

        >>> import gradpack as torch
        >>> leaf = torch.ones(2, 3).t().requires_grad_()
        >>> with torch.autograd.enforce_grad_layout_policy(False):
        ...     (leaf * torch.ones(3, 2)).sum().backward()
        >>> leaf.grad.shape == leaf.shape
        True
    """

    _setter, _variable = "set_grad_layout_enforcement_enabled", ENFORCED

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


def is_view_replay_enabled() -> bool:
    """Whether the grad_fn of a view whose base was modified in place is remade by replaying the view.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.is_view_replay_enabled()
        False
    """
    return VIEW_REPLAY.get()


class _force_original_view_tracking(Switch):  # noqa: N801 - torch's name
    """Remake the grad_fn of views whose base was modified in place by replaying the view: at once, or for a block.

    Otherwise such a view is an `AsStridedBackward0` of its base, however it was taken.
    """

    _setter, _variable = "set_view_replay_enabled", VIEW_REPLAY


class _unsafe_preserve_version_counter(ModeManager):  # noqa: N801 - torch's name
    """Hide in-place operations of this block from autograd: restores the version counters at its end."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.prev_versions = tuple(t._version for t in self.tensors)

    def clone(self) -> _unsafe_preserve_version_counter:
        return type(self)(self.tensors)

    def __enter__(self) -> None:
        pass

    def _set_back(self, versions: tuple[int, ...]) -> None:
        for tensor, version in zip(self.tensors, versions, strict=True):
            tensor._counter[0] = version

    __exit__ = Exit(lambda self: self.prev_versions, _set_back)
