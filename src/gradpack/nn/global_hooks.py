"""Hooks of all modules at once: `torch.nn.modules.module.register_module_forward_hook` and the like."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..core.hooks import RemovableHandle
from .added import add

MIXED = (
    "Cannot use both regular backward hooks and full backward hooks {}. Please use only one of them."  # torch's words
)

PRESENT: OrderedDict[int, bool] = OrderedDict()  # one entry for each hook: what every call of a module looks at
forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
forward_hooks: OrderedDict[int, Any] = OrderedDict()
forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
backward_hooks: OrderedDict[int, Any] = OrderedDict()

# Under torch's names, for those who look into them.
_global_forward_pre_hooks, _global_forward_hooks = forward_pre_hooks, forward_hooks
_global_forward_hooks_with_kwargs, _global_forward_hooks_always_called = (
    forward_hooks_with_kwargs,
    forward_hooks_always_called,
)
_global_backward_pre_hooks, _global_backward_hooks = backward_pre_hooks, backward_hooks

_full: list[bool] = []  # are the backward hooks full ones? Empty until the first is registered


def replace(name: str, hooks: dict[int, Any]) -> None:
    """Replace the hooks that torch keeps as `name` (`_global_forward_hooks` and the like)."""
    found = globals().get(name)
    if not isinstance(found, OrderedDict):
        raise AttributeError(f"nn.modules.module keeps no hooks of all modules as {name!r}")
    given = dict(hooks)  # it may be `found` itself
    for key in found.keys() - given.keys():
        PRESENT.pop(key, None)
    found.clear()
    found.update(given)
    PRESENT.update(dict.fromkeys(given, True))


def full() -> bool:
    """Whether the backward hooks of all modules are full ones."""
    return _full != [False]


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module; it may return other arguments.

    Returns:
        A handle whose `remove()` takes the hook off again.
    """
    return add(forward_pre_hooks, hook, flags=(PRESENT,))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the `forward` of every module; it may return another output.

    Args:
        with_kwargs: call `hook(module, args, kwargs, output)`.
        always_call: call it even if the module's call raises.

    Returns:
        A handle whose `remove()` takes the hook off again.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.nn.global_hooks import register_module_forward_hook
        >>> names = []
        >>> with register_module_forward_hook(lambda module, args, output: names.append(type(module).__name__)):
        ...     _ = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())(torch.ones(1))
        >>> names
        ['ReLU', 'Tanh', 'Sequential']
    """
    asked = ((True, PRESENT), (with_kwargs, forward_hooks_with_kwargs), (always_call, forward_hooks_always_called))
    return add(forward_hooks, hook, flags=tuple(flag for wanted, flag in asked if wanted))


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The older form of `register_module_full_backward_hook`: sees the last node of each module only.

    Raises:
        RuntimeError: if there was a full one.
    """
    return _register_backward(hook, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` when the gradients of a module's outputs are known: of every module."""
    return add(backward_pre_hooks, hook, flags=(PRESENT,))


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when the gradients of a module's inputs are known: of every module.

    Raises:
        RuntimeError: if there was one that is not full.
    """
    return _register_backward(hook, True)


def _register_backward(hook: Callable[..., Any], is_full: bool) -> RemovableHandle:
    if _full and _full != [is_full]:
        raise RuntimeError(MIXED.format("as a global Module hook"))
    _full[:] = [is_full]
    return add(backward_hooks, hook, flags=(PRESENT,))
