"""Saving and loading the state of modules: parameters and persistent buffers under dotted names."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, Any

from ...autograd.grad_mode import no_grad
from ...core.hooks import RemovableHandle
from ...core.tensor import Tensor
from ..parameter import Parameter
from .global_hooks import add
from .hooks import Hooks, hooks_of

if TYPE_CHECKING:
    from ..modules.module import Module


_EXTRA = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class StateDict(OrderedDict[str, Any]):
    """Result of `state_dict()`: names to tensors, with the versions of the modules in `_metadata`."""

    _metadata: dict[str, dict[str, Any]]


def own_state(module: Module) -> dict[str, Tensor]:
    """Return the parameters and persistent buffers of this module only."""
    transient = module._non_persistent_buffers_set
    found: dict[str, Tensor] = {name: value for name, value in module._parameters.items() if value is not None}
    found.update((n, v) for n, v in module._buffers.items() if v is not None and n not in transient)
    return found


def _has_extra_state(module: Module) -> bool:
    return getattr(type(module), "get_extra_state", get_extra_state) is not get_extra_state


def _takes_extra_state(module: Module) -> bool:
    return getattr(type(module), "set_extra_state", set_extra_state) is not set_extra_state


def set_state(self: Module, state: dict[str, Any]) -> None:
    """Restore a pickled module, also one of an earlier version, which had its hooks among its attributes."""
    kind = type(self)
    named = {name for name in state if type(getattr(kind, name, None)) is Hooks}
    self.__dict__.update({name: value for name, value in state.items() if name not in named})
    self.__dict__.setdefault("_hook_dicts", {}).update({name: state[name] for name in named})


def state_dict(
    self: Module, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
) -> dict[str, Any]:
    """The parameters and persistent buffers here and below, as an ordered dict from dotted name to tensor.

    Args:
        destination: a dict to add to, instead of a new one.
        prefix: what to put before every name.
        keep_vars: give the parameters themselves; without it, detached tensors that share their data.

    Example::

        >>> import gradpack as torch
        >>> list(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU()).state_dict())
        ['0.weight', '0.bias']
    """
    if args:
        warnings.warn(
            "state_dict() with positional arguments is deprecated: name them destination=, prefix=, keep_vars=",
            FutureWarning,
            stacklevel=2,
        )
        destination = args[0] if destination is None else destination
        prefix = args[1] if len(args) > 1 and prefix == "" else prefix
        keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
    if destination is None:
        destination = StateDict()
        destination._metadata = {}
    metadata = {"version": self._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in tuple(hooks_of(self, "_state_dict_pre_hooks").values()):
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, module in self._modules.items():
        if module is not None:
            module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for key, hook in tuple(hooks_of(self, "_state_dict_hooks").items()):
        changed = hook(self, destination, prefix, metadata)
        if changed is not None:
            if key not in self.__dict__.get("_replacing_hooks", ()):
                raise RuntimeError(
                    f"state_dict post-hook must return None, and change the dict itself: one of {type(self).__name__} "
                    f"returned {type(changed).__name__}"
                )
            destination = changed
    return destination


def save_own(self: Module, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
    """Put the state of this one module, without its children, into `destination`. Made to be overridden."""
    for name, value in own_state(self).items():
        destination[prefix + name] = value if keep_vars else value.detach()
    if _has_extra_state(self):
        destination[prefix + _EXTRA] = self.get_extra_state()


def get_extra_state(self: Module) -> Any:
    """State beyond parameters and buffers, for `state_dict()`. Override it together with `set_extra_state`."""
    raise RuntimeError(f"{type(self).__name__} has no extra state: override get_extra_state() and set_extra_state()")


def set_extra_state(self: Module, state: Any) -> None:
    """Restore what `get_extra_state` returned. Override both."""
    raise RuntimeError(f"{type(self).__name__} has no extra state: override get_extra_state() and set_extra_state()")


def load_state_dict(self: Module, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
    """Copy parameters and buffers from `state_dict` into this module and those below.

    If something does not fit, nothing is written: names and shapes are checked first. (Only where
    hooks, or modules that override loading, have a say in what fits, the check and the writing go
    module by module.)

    Args:
        state_dict: names to tensors, as `state_dict()` gives them.
        strict: do the names have to match exactly?
        assign: make the given tensors the parameters and buffers, instead of copying into those that are there.

    Returns:
        A pair `(missing_keys, unexpected_keys)` of lists of names.

    Raises:
        TypeError: if `state_dict` is no mapping.
        RuntimeError: with a line for each name (if `strict`), type or shape that does not match.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(2, 1)
        >>> layer.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.zeros(1)})
        <All keys matched successfully>
        >>> layer(torch.ones(2)).item()
        2.0
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    given = OrderedDict(state_dict)
    metadata = getattr(state_dict, "_metadata", None) or {}
    if not any(_decides_for_itself(module) for module in self.modules()):
        _raise_for(self, strict, _load_below(self, given, "", metadata, assign, write=False))
    report = _load_below(self, given, "", metadata, assign, write=True)
    _raise_for(self, strict, report)
    return _IncompatibleKeys(report[0], report[1])


def _decides_for_itself(module: Module) -> bool:
    return bool(
        hooks_of(module, "_load_state_dict_pre_hooks")
        or hooks_of(module, "_load_state_dict_post_hooks")
        or type(module)._load_from_state_dict is not load_own
        or _has_extra_state(module)
        or _takes_extra_state(module)
    )


def _raise_for(module: Module, strict: bool, report: tuple[list[str], list[str], list[str]]) -> None:
    missing, unexpected, errors = report
    lines = list(errors)
    if strict and unexpected:
        lines.insert(0, f"Unexpected key(s) in state_dict: {', '.join(map(_quoted, unexpected))}. ")
    if strict and missing:
        lines.insert(0, f"Missing key(s) in state_dict: {', '.join(map(_quoted, missing))}. ")
    if lines:
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(lines))


def _quoted(name: str) -> str:
    return f'"{name}"'


def _load_below(
    module: Module,
    given: Mapping[str, Any],
    prefix: str,
    metadata: Mapping[str, dict[str, Any]],
    assign: bool,
    write: bool,
    report: tuple[list[str], list[str], list[str]] | None = None,
) -> tuple[list[str], list[str], list[str]]:
    """Load `module`, then its children. Returns the missing names, the unexpected ones, and complaints."""
    report = ([], [], []) if report is None else report
    local: dict[str, Any] = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    if write:
        module._load_from_state_dict(given, prefix, local, True, *report)
    else:
        load_own(module, given, prefix, local, True, *report, write=False)
    for name, child in module._modules.items():
        if child is not None:
            start = f"{prefix}{name}."
            part = {key: value for key, value in given.items() if key.startswith(start)}
            _load_below(child, part, start, metadata, assign, write, report)
    if write:
        for hook in tuple(hooks_of(module, "_load_state_dict_post_hooks").values()):
            if hook(module, _IncompatibleKeys(report[0], report[1])) is not None:
                raise AssertionError(
                    f"load_state_dict post-hook of {type(module).__name__} must return None and change the lists of "
                    "keys themselves"
                )
    return report


def load_own(
    self: Module,
    state_dict: Mapping[str, Any],
    prefix: str,
    local_metadata: dict[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
    *,
    write: bool = True,
) -> None:
    """Load this one module, without its children, from the names that start with `prefix`. Made to be overridden.

    What does not fit is added to the three lists. Without `write`, that is all that happens.
    """
    if write:
        for hook in tuple(hooks_of(self, "_load_state_dict_pre_hooks").values()):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    assign = local_metadata.get("assign_to_params_buffers", False)
    own = own_state(self)
    for name, current in own.items():
        key = prefix + name
        if key not in state_dict:
            if strict:
                missing_keys.append(key)
            continue
        value = state_dict[key]
        if hasattr(current, "materialize") and hasattr(value, "materialize"):
            continue  # neither is initialized: there is nothing to copy
        if isinstance(value, Tensor) and current.dim() == 0 and value.dim() == 1 and value.numel():
            value = value[0]  # torch before 0.4 had no 0-dim tensors
        complaint = _complaint(key, current, value)
        if complaint is None and write:
            complaint = _take(self, name, key, current, value, assign)
        if complaint is not None:
            error_msgs.append(complaint)
    extra = prefix + _EXTRA
    takes_extra = _takes_extra_state(self)
    if takes_extra and extra in state_dict:
        if write:
            self.set_extra_state(state_dict[extra])
    elif takes_extra and strict:
        missing_keys.append(extra)
    if strict:
        known = {*own, _EXTRA} if takes_extra else own.keys()
        names = (key[len(prefix) :] for key in state_dict if key.startswith(prefix))
        unexpected_keys += [prefix + name for name in names if not _is_known(name, known, self._modules)]


def _is_known(name: str, own: Container[str], children: Container[str]) -> bool:
    """Whether a dotted name is one of this module's, or may be one of a child's."""
    first, dot, _ = name.partition(".")
    return first in (children if dot else own)


def _complaint(key: str, current: Tensor, value: Any) -> str | None:
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        )
    if value.shape != current.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {current.shape}."
        )
    return None


def _take(module: Module, name: str, key: str, current: Tensor, value: Tensor, assign: bool) -> str | None:
    """Copy `value` into `current`, or replace `name` of the module by it if `assign`. Returns a complaint, or None."""
    try:
        if not assign:
            if current.is_meta and not value.is_meta:
                warnings.warn(
                    f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
                    "current model, which is a no-op: pass assign=True to put those of the checkpoint in their places",
                    stacklevel=2,
                )
            with no_grad():
                current.copy_(value)
            return None
        if isinstance(current, Parameter):
            if isinstance(value, Parameter):
                value.requires_grad_(current.requires_grad)
            else:
                value = Parameter(value, requires_grad=current.requires_grad)
        setattr(module, name, value)
    except Exception as error:
        return (
            f'While copying the parameter named "{key}", of {current.dtype} {list(current.shape)} in the model '
            f"and {value.dtype} {list(value.shape)} in the checkpoint: {type(error).__name__}: {error}."
        )
    return None


def register_state_dict_pre_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, prefix, keep_vars)` before `state_dict()` collects the state of this module."""
    return add(self._state_dict_pre_hooks, hook)


def register_state_dict_post_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, state_dict, prefix, local_metadata)` after it has; the hook may change the dict."""
    if hasattr(hook, "__dict__"):
        hook._from_public_api = True  # type: ignore[attr-defined]
    return add(self._state_dict_hooks, hook)


def register_load_state_dict_pre_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook` before this module is loaded; it may change what it is given.

    Args:
        hook: `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`.
    """
    return add(self._load_state_dict_pre_hooks, hook)


def _register_state_dict_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """The older form of `register_state_dict_post_hook`: the hook may return another dict in the place of its own.

    Raises:
        RuntimeError: for a hook that `register_state_dict_post_hook` was given.
    """
    if getattr(hook, "_from_public_api", False):
        raise RuntimeError(
            "Cannot register the same function as the state dict post hook that was previously registered via "
            "register_state_dict_post_hook"
        )
    handle = add(self._state_dict_hooks, hook)
    self.__dict__.setdefault("_replacing_hooks", set()).add(handle.id)
    return handle


def _register_load_state_dict_pre_hook(
    self: Module, hook: Callable[..., Any], with_module: bool = False
) -> RemovableHandle:
    """The older form of `register_load_state_dict_pre_hook`: the hook is given the module if it asks for it."""
    return add(self._load_state_dict_pre_hooks, hook if with_module else lambda module, *args: hook(*args))


def register_load_state_dict_post_hook(self: Module, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, incompatible_keys)` after this module is loaded; the hook may change the lists of keys."""
    return add(self._load_state_dict_post_hooks, hook)
