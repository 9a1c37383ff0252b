"""`no_grad` and its kin: context managers, decorators, for generators and coroutines too."""

from __future__ import annotations

from typing import Any

from ..base.modes import MODE, VIEW_REPLAY, change
from ..tensor.leaf import ENFORCED
from ..tensor.tensor import Tensor
from .decorate import F, decorate

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


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

    prev: Any = False  # what held before
    _before: Any = None  # a list: a mode for each block that was entered; subclasses need not call `__init__`

    def _changes(self) -> dict[str, Any]:
        raise NotImplementedError

    def clone(self) -> ModeManager:
        """A fresh manager of the same settings, for one call of a decorated function."""
        return type(self)()

    def __enter__(self) -> Any:
        self.prev = MODE.get().grad
        if self._before is None:
            self._before = []
        self._before.append(change(**self._changes()))
        return None

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())

    def __call__(self, function: F) -> F:
        """Decorate a function, generator function, coroutine function or class."""
        return decorate(self.clone, function)


class _NoArguments(ModeManager):
    """Allows `@no_grad` without parentheses, as torch does."""

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is None:
            return super().__new__(cls)
        return decorate(cls, orig_func)

    def __init__(self, orig_func: Any = None) -> None:
        pass


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


class Switch(ModeManager):
    """Switches a setting when it is made; leaving its block, or decorating with it, switches it back."""

    prev: Any
    mode: Any
    _setter = ""  # the name of the function that sets a bool, for its message; any value is taken without

    def __init__(self, mode: Any) -> None:
        super().__init__()
        if self._setter and not isinstance(mode, bool):
            raise TypeError(
                f"{self._setter}(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.prev = self._get()
        self._set(mode)
        self.mode = mode

    def _get(self) -> Any:
        raise NotImplementedError

    def _set(self, value: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._set(self.mode)

    def __exit__(self, *exc: object) -> None:
        self._set(self.prev)

    def __call__(self, function: F) -> F:
        self._set(self.prev)
        return super().__call__(function)


class set_grad_enabled(Switch):  # noqa: N801 - torch's name
    """Switch recording on or off: at once as a function, for a block or function otherwise.

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

    _setter = "set_grad_enabled"

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)

    def _get(self) -> bool:
        return MODE.get().grad

    def _set(self, value: bool) -> None:
        change(grad=value)

    def __str__(self) -> str:
        return f"{type(self).__module__}.set_grad_enabled(mode={self.mode})"

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


def _enter_inference_mode(mode: bool) -> inference_mode:
    manager: inference_mode = inference_mode(mode)
    manager.__enter__()
    return manager


def _exit_inference_mode(mode: inference_mode) -> None:
    mode.__exit__(None, None, None)


def is_multithreading_enabled() -> bool:
    """Whether backward may use several threads.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.is_multithreading_enabled()
        True
    """
    return MODE.get().threads


class set_multithreading_enabled(Switch):  # noqa: N801 - torch's name
    """Allow or forbid backward to use several threads: at once as a function, or for a block.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.set_multithreading_enabled(False):
        ...     torch.autograd.is_multithreading_enabled()
        False
    """

    _setter = "set_multithreading_enabled"

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)

    def _get(self) -> bool:
        return MODE.get().threads

    def _set(self, value: bool) -> None:
        change(threads=value)

    def __call__(self, function: F) -> F:  # as in torch, decorating with it leaves it switched
        return ModeManager.__call__(self, function)


class enforce_grad_layout_policy(Switch):  # noqa: N801 - torch's name
    """Whether a gradient must have the strides of its leaf: at once as a function, or for a block.

    With False, a gradient that nobody else holds becomes `.grad` as it is, whatever its layout: a copy less.

    Example::

        >>> import gradpack as torch
        >>> leaf = torch.ones(2, 3).t().requires_grad_()
        >>> with torch.autograd.enforce_grad_layout_policy(False):
        ...     (leaf * torch.ones(3, 2)).sum().backward()
        >>> leaf.grad.shape == leaf.shape
        True
    """

    _setter = "set_grad_layout_enforcement_enabled"

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)

    def _get(self) -> bool:
        return ENFORCED.get()

    def _set(self, value: bool) -> None:
        ENFORCED.set(value)


def is_view_replay_enabled() -> bool:
    """Whether the history of a view whose base was written to is made by taking the view again.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.is_view_replay_enabled()
        False
    """
    return VIEW_REPLAY.get()


class _force_original_view_tracking(Switch):  # noqa: N801 - torch's name
    """Make the history of views whose base was written to by taking them again: at once, or for a block.

    Without that such a view is a part of its base, `AsStridedBackward0`, however it was taken.
    """

    _setter = "set_view_replay_enabled"

    def _get(self) -> bool:
        return VIEW_REPLAY.get()

    def _set(self, value: bool) -> None:
        VIEW_REPLAY.set(value)


class _unsafe_preserve_version_counter(ModeManager):  # noqa: N801 - torch's name
    """Hide the writes of this block from autograd: versions are afterwards what they were before."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        super().__init__()
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.prev_versions = tuple(t._version for t in self.tensors)

    def clone(self) -> _unsafe_preserve_version_counter:
        return type(self)(self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        for tensor, version in zip(self.tensors, self.prev_versions, strict=True):
            tensor._counter[0] = version
