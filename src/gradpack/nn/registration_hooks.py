"""Hooks that are called whenever any module gets a parameter, a buffer or a child.

Each is called as `hook(module, name, value)` before the value is kept, and may return another one to be kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..core.hooks import RemovableHandle
from .added import add

buffer_hooks: OrderedDict[int, Any] = OrderedDict()
module_hooks: OrderedDict[int, Any] = OrderedDict()
parameter_hooks: OrderedDict[int, Any] = OrderedDict()

# Under torch's names, for code that reads them directly.
_global_buffer_registration_hooks = buffer_hooks
_global_module_registration_hooks = module_hooks
_global_parameter_registration_hooks = parameter_hooks


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when a buffer is registered, in any module; it may return another buffer.

    Returns:
        A handle whose `remove()` takes the hook off again.
    """
    return add(buffer_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, child)` when a module becomes the child of any other; it may return another child.

    Returns:
        A handle whose `remove()` takes the hook off again.
    """
    return add(module_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when any module gets a parameter; it may return another one.

    Returns:
        A handle whose `remove()` takes the hook off again.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.nn.modules.module import register_module_parameter_registration_hook
        >>> with register_module_parameter_registration_hook(lambda module, name, parameter: print(name)):
        ...     layer = torch.nn.Linear(2, 3)
        weight
        bias
    """
    return add(parameter_hooks, hook)


def passed(hooks: OrderedDict[int, Any], module: Any, name: str, value: Any) -> Any:
    """Return `value` after all of `hooks`, each of which may replace it."""
    for hook in hooks.values():
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value
