"""Hooks of all modules at once: `torch.nn.modules.module.register_module_forward_hook` and the like."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ...core.hooks import RemovableHandle
from ...core.hooks import add as add_hook

MIXED = (
    "Cannot use both regular backward hooks and full backward hooks {}. Please use only one of them."  # torch's words
)

PRESENT: OrderedDict[int, bool] = OrderedDict()  # one entry for each hook: what every call of a module looks at

# Under torch's names, for those who look into them.
_global_forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Any] = OrderedDict()
# Of these, each is called as `hook(module, name, value)` before a value is kept, and may return another one.
_global_buffer_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Any] = OrderedDict()

_full: list[bool] = []  # are the backward hooks full ones? Empty until the first is registered


def add(
    hooks: dict[int, Any], hook: Callable[..., Any], prepend: bool = False, flags: tuple[dict[int, bool], ...] = ()
) -> RemovableHandle:
    """Put `hook` last, or first, among `hooks`, and set each of `flags` for it."""
    handle = add_hook(hooks, hook, prepend=prepend, extra=flags)  # type: ignore[arg-type]
    try:
        for flag in flags:
            flag[handle.id] = True
    except BaseException:  # an interrupt: the caller never got the handle
        handle.remove()
        raise
    return handle


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
    if "registration" not in name:
        PRESENT.update(dict.fromkeys(given, True))


def full() -> bool:
    """Whether the backward hooks of all modules are full ones."""
    return _full != [False]


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module; it may return other arguments.

    Returns:
        A handle whose `remove()` takes the hook off again.
    """
    return add(_global_forward_pre_hooks, hook, flags=(PRESENT,))


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
        >>> from gradpack.nn.modules.module import register_module_forward_hook
        >>> names = []
        >>> with register_module_forward_hook(lambda module, args, output: names.append(type(module).__name__)):
        ...     _ = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())(torch.ones(1))
        >>> names
        ['ReLU', 'Tanh', 'Sequential']
    """
    asked = (
        (True, PRESENT),
        (with_kwargs, _global_forward_hooks_with_kwargs),
        (always_call, _global_forward_hooks_always_called),
    )
    return add(_global_forward_hooks, hook, flags=tuple(flag for wanted, flag in asked if wanted))


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The older form of `register_module_full_backward_hook`: sees the last node of each module only.

    Raises:
        RuntimeError: if there was a full one.
    """
    return _register_backward(hook, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` when the gradients of a module's outputs are known: of every module."""
    return add(_global_backward_pre_hooks, hook, flags=(PRESENT,))


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
    return add(_global_backward_hooks, hook, flags=(PRESENT,))


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when a buffer is registered, in any module; it may return another buffer.

    Returns:
        A handle whose `remove()` takes the hook off again.
    """
    return add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, child)` when a module becomes the child of any other; it may return another child.

    Returns:
        A handle whose `remove()` takes the hook off again.
    """
    return add(_global_module_registration_hooks, hook)


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
    return add(_global_parameter_registration_hooks, hook)


def passed(hooks: OrderedDict[int, Any], module: Any, name: str, value: Any) -> Any:
    """Return `value` after all of `hooks`, each of which may replace it."""
    for hook in hooks.values():
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


class WithGlobalHooks(ModuleType):
    """The type of `nn.modules.module`: hooks that a program sets there are put where calls look for them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_global_"):
            replace(name, value)
        else:
            super().__setattr__(name, value)


globals()["__all__"] = [name for name in globals() if name.startswith("register_")]
