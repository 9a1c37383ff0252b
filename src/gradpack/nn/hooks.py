"""Hooks of modules: functions that users hang onto calls and onto the gradients that pass through."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..tensor.hooks import RemovableHandle
from ..tensor.hooks import add as add_hook
from .backward_hooks import Passage

if TYPE_CHECKING:
    from .module import Module

HOOKS = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)
FLAGS = ("_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")


def add(
    hooks: dict[int, Any], hook: Callable[..., Any], prepend: bool = False, flags: tuple[dict[int, bool], ...] = ()
) -> RemovableHandle:
    """Put `hook` last, or first, among `hooks`, and set each of `flags` for it."""
    handle = add_hook(hooks, hook, prepend=prepend, extra=flags)  # type: ignore[arg-type]
    for flag in flags:
        flag[handle.id] = True
    return handle


def register_forward_pre_hook(
    self: Module, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
) -> RemovableHandle:
    """Call `hook` before each `forward`.

    Args:
        hook: `hook(module, args)`, which may return new arguments (a single value, or a tuple of
            all); with `with_kwargs`, `hook(module, args, kwargs)`, which may return a pair of both.
        prepend: put it before the hooks that are there already.
        with_kwargs: hand the keyword arguments to it, too.

    Returns:
        A handle whose `remove()` takes the hook off again.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Identity()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
        >>> layer(torch.tensor(1.0)).item()
        2.0
        >>> handle.remove()
        >>> layer(torch.tensor(1.0)).item()
        1.0
    """
    flags = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
    return add(self._forward_pre_hooks, hook, prepend, flags)


def register_forward_hook(
    self: Module,
    hook: Callable[..., Any],
    *,
    prepend: bool = False,
    with_kwargs: bool = False,
    always_call: bool = False,
) -> RemovableHandle:
    """Call `hook` after each `forward`.

    Args:
        hook: `hook(module, args, output)`, which may return another output; with `with_kwargs`,
            `hook(module, args, kwargs, output)`.
        prepend: put it before the hooks that are there already.
        with_kwargs: hand the keyword arguments to it, too.
        always_call: call it even if the module's call raises.

    Returns:
        A handle whose `remove()` takes the hook off again.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.ReLU()
        >>> shapes = []
        >>> handle = layer.register_forward_hook(lambda module, args, output: shapes.append(tuple(output.shape)))
        >>> _ = layer(torch.ones(2, 3))
        >>> shapes
        [(2, 3)]
    """
    asked = ((with_kwargs, self._forward_hooks_with_kwargs), (always_call, self._forward_hooks_always_called))
    return add(self._forward_hooks, hook, prepend, tuple(flag for wanted, flag in asked if wanted))


def register_full_backward_pre_hook(self: Module, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    """Call `hook(module, grad_output)` when the gradients of the module's outputs are known.

    `grad_output` is a tuple, with None for outputs that are no tensors. The hook may return another
    tuple (or the one gradient), which then goes into the module's backward.

    Returns:
        A handle whose `remove()` takes the hook off again.
    """
    return add(self._backward_pre_hooks, hook, prepend)


def register_full_backward_hook(self: Module, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are known.

    Both are tuples, with None for what is no tensor; keyword arguments do not count. The hook may
    return another `grad_input`.

    Returns:
        A handle whose `remove()` takes the hook off again.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(3, 1)
        >>> seen = []
        >>> handle = layer.register_full_backward_hook(lambda module, gi, go: seen.append(tuple(gi[0].shape)))
        >>> layer(torch.ones(2, 3, requires_grad=True)).sum().backward()
        >>> seen
        [(2, 3)]
    """
    return add(self._backward_hooks, hook, prepend)


def call(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `module.forward` with all hooks around it."""
    called: set[int] = set()
    result = None
    try:
        for key, hook in tuple(module._forward_pre_hooks.items()):
            args, kwargs = _before(module, key, hook, args, kwargs)
        passage = None
        if module._backward_pre_hooks or module._backward_hooks:
            passage = Passage(module)
            args = passage.enter(args)
        result = module.forward(*args, **kwargs)
        for key, hook in tuple(module._forward_hooks.items()):
            called.add(key)
            changed = _after(module, key, hook, args, kwargs, result)
            if changed is not None:
                result = changed
        return result if passage is None else passage.leave(result)
    except Exception:
        for key, hook in tuple(module._forward_hooks.items()):
            if key in module._forward_hooks_always_called and key not in called:
                try:
                    changed = _after(module, key, hook, args, kwargs, result)
                except Exception as error:
                    warnings.warn(
                        f"forward hook of {type(module).__name__} (always_call=True) raised {error!r} while another "
                        "error was on its way; that one is raised, this one is not",
                        stacklevel=3,
                    )
                else:
                    result = result if changed is None else changed
        raise


def _before(
    module: Module, key: int, hook: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if key not in module._forward_pre_hooks_with_kwargs:
        changed = hook(module, args)
        if changed is None:
            return args, kwargs
        return changed if isinstance(changed, tuple) else (changed,), kwargs
    changed = hook(module, args, kwargs)
    if changed is None:
        return args, kwargs
    if isinstance(changed, tuple) and len(changed) == 2:
        return changed
    raise RuntimeError(
        f"forward pre-hook of {type(module).__name__} with kwargs must return None or a tuple of (new_args, "
        f"new_kwargs), but got {changed}."
    )


def _after(
    module: Module, key: int, hook: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    if key in module._forward_hooks_with_kwargs:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)
