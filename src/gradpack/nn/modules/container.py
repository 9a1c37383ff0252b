"""Modules that hold modules: `Sequential`, `ModuleList`, `ModuleDict`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Self, overload

from ...core.tensor import Tensor
from .. import _layers
from .._layers.parameter_containers import *
from .._module.calls import not_a_module
from .._module.entries import pairs, position
from .._module.printing import _addindent, bracketed
from .._public import adopt, give_all
from .module import Module


class _ModuleSequence(Module):
    """Base class of `Sequential` and `ModuleList`: child modules named by their positions."""

    def _renumber(self, modules: Iterable[Module]) -> None:
        modules = list(modules)
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(modules))

    def _name(self, where: int) -> str:
        return next(islice(self._modules, position(len(self._modules), where), None))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    @overload
    def __getitem__(self, where: slice) -> Self: ...
    @overload
    def __getitem__(self, where: int) -> Any: ...
    def __getitem__(self, where: int | slice) -> Any:
        if isinstance(where, slice):
            return type(self)._of(list(self._modules.items())[where])
        return self._modules[self._name(where)]

    @classmethod
    def _of(cls, items: list[tuple[str, Any]]) -> Self:
        raise NotImplementedError

    def __setitem__(self, where: int, module: Module) -> None:
        setattr(self, self._name(where), module)

    def __delitem__(self, where: int | slice) -> None:
        names = list(self._modules)[where] if isinstance(where, slice) else [self._name(where)]
        for name in names:
            del self._modules[name]
        self._renumber(self)

    def append(self, module: Module) -> Self:
        """Add `module` at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self | None:
        """Put `module` before position `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        length = len(self)
        if not -length <= index <= length:
            raise IndexError(f"Index out of range: {index} is not in [{-length}, {length}]")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove the module at `key`, and return it."""
        module = self[key]
        del self[key]
        return module


class Container(Module):
    """An old container: modules by name. Deprecated in torch.

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> torch.nn.Container(a=torch.nn.ReLU())
        Container(
          (a): ReLU()
        )
    """

    def __init__(self, **kwargs: Any) -> None:
        import warnings

        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in nn.Module. Subclass that "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(_ModuleSequence):
    """Modules that are called one after the other, each with the result of the one before.

    Args:
        args: the modules, or one ordered dict from names to modules.

    Example::

        >>> import gradpack as torch
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
        >>> net(torch.ones(4, 2)).shape
        gradpack.Size([4, 3])
        >>> net
        Sequential(
          (0): Linear(in_features=2, out_features=3, bias=True)
          (1): ReLU()
        )
    """

    @overload
    def __init__(self, *args: Module) -> None: ...

    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            items: Iterable[tuple[str, Any]] = args[0].items()
        else:
            items = ((str(i), module) for i, module in enumerate(args))
        for name, module in items:
            self.add_module(name, module)

    @classmethod
    def _of(cls, items: list[tuple[str, Any]]) -> Self:
        return cls(OrderedDict(items))

    def forward(self, input: Any) -> Tensor:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]  # a None here is the user's, and the error says so
        return input

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end; returns self."""
        for module in list(sequential):
            self.append(module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*self._times(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(self._times(other)[len(self) :])

    def _times(self, other: int) -> list[Any]:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return list(self) * other


class ModuleList(_ModuleSequence):
    """A list of modules, which counts them, and their parameters, as parts of the module that it is an attribute of.

    It indexes, slices and iterates like a Python list, and has no `forward`.

    Args:
        modules: the modules to begin with.

    Example::

        >>> import gradpack as torch
        >>> layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
        >>> len(layers), len(list(layers.parameters()))
        (3, 6)
        >>> layers
        ModuleList(
          (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
        )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    @classmethod
    def _of(cls, items: list[tuple[str, Any]]) -> Self:
        return cls(module for _, module in items)

    def insert(self, index: int, module: Module) -> None:
        """Put `module` before position `index`.

        Raises:
            TypeError: unless `module` is a Module or None.
        """
        if module is not None and not isinstance(module, Module):
            raise not_a_module(module)
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; returns self.

        Raises:
            TypeError: unless `modules` is iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Neighbours that print the same are printed once."""
        groups: list[tuple[int, int, str]] = []  # first, last, text
        for i, module in enumerate(self):
            text = repr(module)
            if groups and groups[-1][2] == text:
                groups[-1] = (groups[-1][0], i, text)
            else:
                groups.append((i, i, text))
        lines = [
            f"({first}): {_addindent(text, 2)}"
            if first == last
            else _addindent(f"({first}-{last}): {last - first + 1} x {text}", 2)
            for first, last, text in groups
        ]
        return bracketed(self._get_name(), [], lines)


class ModuleDict(Module):
    """A dict from names to modules, in order of insertion, which counts them as parts of the module that holds it.

    It has no `forward`.

    Args:
        modules: the modules to begin with: a mapping, or pairs of name and module.

    Example::

        >>> import gradpack as torch
        >>> heads = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 1)})
        >>> heads["b"] = torch.nn.ReLU()
        >>> list(heads)
        ['a', 'b']
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove everything."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove the module of this name, and return it."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> Any:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> Any:
        """Return the names with their modules."""
        return self._modules.items()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping, or from pairs of name and module.

        Raises:
            TypeError: for anything else.
            ValueError: for an entry that is not a pair.
        """
        for name, module in pairs("ModuleDict.update", modules):
            self[name] = module


adopt(globals(), _layers.__name__)
give_all(globals())
