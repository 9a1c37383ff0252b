"""Hooks of modules: on calls, and on the gradients of their inputs and outputs."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...core.hooks import RemovableHandle
from . import global_hooks as of_all
from .backward_hooks import Passage, hang
from .global_hooks import add

if TYPE_CHECKING:
    from ..modules.module import Module


OF_CALLS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Hooks:
    """An attribute of modules: the hooks of one kind, by their number, in a dict that is made at first use.

    `vars(module)["_hook_dicts"]` holds those that were made: a module that never had a hook has an empty one.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, module: Any, owner: Any = None) -> OrderedDict[int, Any]:
        if module is None:
            return self  # type: ignore[return-value]
        try:
            made: dict[str, OrderedDict[int, Any]] = vars(module)["_hook_dicts"]
        except KeyError:
            raise AttributeError from None  # `__getattr__` says why
        return made[self._name] if self._name in made else made.setdefault(self._name, OrderedDict())

    def __set__(self, module: Any, hooks: OrderedDict[int, Any]) -> None:
        own = vars(module)  # copies by `copy.copy` have the same dict of dicts: it stays as it is
        own["_hook_dicts"] = {**own.get("_hook_dicts", {}), self._name: hooks}

    def __delete__(self, module: Any) -> None:
        own = vars(module)
        own["_hook_dicts"] = {k: v for k, v in own.get("_hook_dicts", {}).items() if k != self._name}


def hooks_of(module: Module, name: str) -> dict[int, Any]:
    """Return the hooks of a module of one kind; for reading, as the dict is none of the module's if it has none."""
    made = vars(module).get("_hook_dicts")
    found: dict[int, Any] = getattr(module, name) if made is None else made.get(name)  # raises before `__init__`
    return found or {}


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
    with_them = (self._forward_hooks_with_kwargs,) if with_kwargs else ()
    always = (self._forward_hooks_always_called,) if always_call else ()
    return add(self._forward_hooks, hook, prepend, (*with_them, *always))


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
    return _add_backward(self, hook, prepend, True)


def register_backward_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """The older form of `register_full_backward_hook`: it sees the gradients of the module's last node only.

    Raises:
        RuntimeError: if the module has had a full backward hook.
    """
    return _add_backward(self, hook, False, False)


def _add_backward(self: Module, hook: Callable[..., Any], prepend: bool, full: bool) -> RemovableHandle:
    if self._is_full_backward_hook is (not full):
        raise RuntimeError(of_all.MIXED.format("on a single Module"))
    self._is_full_backward_hook = full
    return add(self._backward_hooks, hook, prepend)


def call(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `module.forward` with all hooks around it."""
    made = vars(module)["_hook_dicts"]
    if not of_all.PRESENT and not any(made.get(name) for name in OF_CALLS):
        return module.forward(*args, **kwargs)
    called: set[int] = set()
    result = None
    after = (*of_all._global_forward_hooks.items(), *hooks_of(module, "_forward_hooks").items())
    try:
        for key, hook in (*of_all._global_forward_pre_hooks.items(), *hooks_of(module, "_forward_pre_hooks").items()):
            args, kwargs = _before(module, key, hook, args, kwargs)
        before, full, others = _backward_hooks_of(module)
        passage = None
        if before or full:
            passage = Passage(module, before, full)
            args = passage.enter(args)
        result = module.forward(*args, **kwargs)
        after = (*of_all._global_forward_hooks.items(), *hooks_of(module, "_forward_hooks").items())
        for key, hook in after:
            called.add(key)
            changed = _after(module, key, hook, args, kwargs, result)
            if changed is not None:
                result = changed
        if passage is not None:
            result = passage.leave(result)
        if others:
            hang(module, others, args, result)
    except Exception:
        for key, hook in after:
            always = hooks_of(module, "_forward_hooks_always_called")
            if key not in called and (key in always or key in of_all._global_forward_hooks_always_called):
                try:
                    changed = _after(module, key, hook, args, kwargs, result)
                except Exception as error:
                    which = "" if key in always else "global module "
                    warnings.warn(
                        f"{which}forward hook of {type(module).__name__} (always_call=True) raised {error!r} while "
                        "another error was on its way; that one is raised, this one is not",
                        stacklevel=3,
                    )
                else:
                    result = result if changed is None else changed
        raise
    return result


def _backward_hooks_of(module: Module) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the full pre-hooks, the full hooks and the non-full hooks of a module's backward."""
    own, shared = tuple(hooks_of(module, "_backward_hooks").values()), tuple(of_all._global_backward_hooks.values())
    both = ((of_all.full(), shared), (module._is_full_backward_hook is not False, own))
    before = (*of_all._global_backward_pre_hooks.values(), *hooks_of(module, "_backward_pre_hooks").values())
    full = tuple(hook for is_full, found in both if is_full for hook in found)
    return before, full, tuple(hook for is_full, found in both if not is_full for hook in found)


def _before(
    module: Module, key: int, hook: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if key not in hooks_of(module, "_forward_pre_hooks_with_kwargs"):
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
    if key in of_all._global_forward_hooks_with_kwargs or key in hooks_of(module, "_forward_hooks_with_kwargs"):
        return hook(module, args, kwargs, result)
    return hook(module, args, result)
