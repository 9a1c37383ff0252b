"""Finding modules, parameters and buffers in a tree of modules, and changing all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.tensor import Tensor
from ..parameter import Parameter, clear_grad

if TYPE_CHECKING:
    from ..modules.module import Module

_M = TypeVar("_M", bound="Module")


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


def apply(self: _M, fn: Callable[[Module], None]) -> _M:
    """Call `fn` on every module below, then on this one."""
    for module in self.children():
        module.apply(fn)
    fn(self)
    return self


def train(self: _M, mode: bool = True) -> _M:
    """Set `training` here and below: dropout, for example, acts only in training.

    Raises:
        ValueError: unless `mode` is a bool.
    """
    if not isinstance(mode, bool):
        raise ValueError(f"training mode is expected to be boolean, got {type(mode).__name__}")
    self.training = mode
    for module in self.children():
        module.train(mode)
    return self


def eval_(self: _M) -> _M:
    """The same as `train(False)`."""
    return self.train(False)


def requires_grad_(self: _M, requires_grad: bool = True) -> _M:
    """Set `requires_grad` of every parameter."""
    for parameter in self.parameters():
        parameter.requires_grad_(requires_grad)
    return self


def zero_grad(self: Module, set_to_none: bool = True) -> None:
    """Drop the gradients of all parameters, or fill them with zeros if not `set_to_none`."""
    for parameter in self.parameters():
        clear_grad(parameter, set_to_none)
