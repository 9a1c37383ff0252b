"""Finding modules, parameters and buffers in a tree of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...core.tensor import Tensor
from ..parameter import Parameter
from .calls import Called

if TYPE_CHECKING:
    from ..modules.module import Module


def named_modules(
    self: Module, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
) -> Iterator[tuple[str, Module]]:
    """This module and all below, each once unless `remove_duplicate` is off, with dotted names.

    Example::

        >>> import gradpack as torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.Sequential(torch.nn.ReLU()))
        >>> [name for name, _ in net.named_modules()]
        ['', '0', '1', '1.0']
    """
    memo = set() if memo is None else memo
    waiting: list[tuple[str, Module]] = [(prefix, self)]
    while waiting:
        prefix, module = waiting.pop()
        if module in memo:
            continue
        if remove_duplicate:
            memo.add(module)
        yield prefix, module
        start = prefix + "." if prefix else ""
        below = [(start + name, child) for name, child in module._modules.items() if child is not None]
        waiting.extend(reversed(below))


def modules(self: Module, remove_duplicate: bool = True) -> Iterator[Module]:
    """This module and all below."""
    for _, module in self.named_modules(remove_duplicate=remove_duplicate):
        yield module


def named_children(self: Module) -> Iterator[tuple[str, Module]]:
    """The modules directly below, each once, with their names."""
    seen = set()
    for name, module in self._modules.items():
        if module is not None and module not in seen:
            seen.add(module)
            yield name, module


def children(self: Module) -> Iterator[Module]:
    """The modules directly below, each once."""
    for _, module in self.named_children():
        yield module


def _named_members(
    self: Module,
    members: Callable[[Module], Any],
    prefix: str = "",
    recurse: bool = True,
    remove_duplicate: bool = True,
) -> Iterator[tuple[str, Any]]:
    seen = set()
    modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
    for where, module in modules:
        start = where + "." if where else ""
        for name, value in members(module):
            if value is not None and value not in seen:
                if remove_duplicate:
                    seen.add(value)
                yield start + name, value


def named_parameters(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Parameter]]:
    """The parameters here and below, each once unless `remove_duplicate` is off, with dotted names."""
    return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)


def parameters(self: Module, recurse: bool = True) -> Iterator[Parameter]:
    """The parameters here and below (only here if not `recurse`), each once."""
    for _, parameter in self.named_parameters(recurse=recurse):
        yield parameter


def named_buffers(
    self: Module, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
) -> Iterator[tuple[str, Tensor]]:
    """The buffers here and below, each once unless `remove_duplicate` is off, with dotted names."""
    return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)


def buffers(self: Module, recurse: bool = True) -> Iterator[Tensor]:
    """The buffers here and below (only here if not `recurse`), each once."""
    for _, buffer in self.named_buffers(recurse=recurse):
        yield buffer


def _get_member(self: Module, target: str, registry: str, what: str) -> Any:
    where, _, name = target.rpartition(".")
    module = self.get_submodule(where)
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    if name not in module.__dict__[registry]:
        raise AttributeError(f"`{name}` is not {what}")
    return getattr(module, name)


def get_submodule(self: Module, target: str) -> Module:
    """The module with this dotted name; the empty name is this module.

    Raises:
        AttributeError: if there is none, or something else has that name.
    """
    module: Any = self
    for name in target.split(".") if target else ():
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        module = getattr(module, name)
        if not isinstance(module, Called):
            raise AttributeError(f"`{name}` is not an nn.Module")
    return module  # checked in the loop


def set_submodule(self: Module, target: str, module: Module, strict: bool = False) -> None:
    """Put `module` where the dotted name says; `strict` demands that a module is there already.

    Raises:
        ValueError: if the name is empty or `module` is no Module.
        AttributeError: if the way there does not exist, or `strict` and nothing is there.
    """
    if target == "":
        raise ValueError("Cannot set the submodule without a target name!")
    if not isinstance(module, Called):
        raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
    where, _, name = target.rpartition(".")
    parent = self.get_submodule(where)
    if strict and not hasattr(parent, name):
        raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
    if hasattr(parent, name) and not isinstance(getattr(parent, name), Called):
        raise AttributeError(f"`{name}` is not an nn.Module")
    setattr(parent, name, module)


def get_parameter(self: Module, target: str) -> Parameter:
    """The parameter with this dotted name.

    Raises:
        AttributeError: if there is none, or something else has that name.
    """
    return self._get_member(target, "_parameters", "an nn.Parameter")


def get_buffer(self: Module, target: str) -> Tensor:
    """The buffer with this dotted name.

    Raises:
        AttributeError: if there is none, or something else has that name.
    """
    return self._get_member(target, "_buffers", "a buffer")


def attribute_names(self: Module) -> list[str]:
    """Return the names that `dir` shows: those of the class, and of parameters, buffers and children."""
    names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
    return sorted(name for name in names if not name[:1].isdigit())
