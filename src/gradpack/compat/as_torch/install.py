"""Installing gradpack under the name `torch`, and undoing it."""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import Any

from ...base import spelling
from ...base.devices import device
from ...base.dtypes import dtype
from ...base.filled import raw_dict
from ...base.size import Size
from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ...ops.random.generator import Generator
from .finder import AnsweringModule, Finder
from .names import LIBRARY, PACKAGES

__name__ = "gradpack.as_torch"
__all__ = ["Installed", "install_as_torch"]

# Classes whose modules programs ask for, to know tensors and dtypes without importing torch, and those of torch's.
_PLACES: dict[type, str] = {
    Tensor: "torch",
    Parameter: "torch.nn.parameter",
    dtype: "torch",
    device: "torch",
    Size: "torch",
    Generator: "torch._C",
}


class Installed:
    """Handle returned by `install_as_torch`: `uninstall()` or the end of a `with` block undoes it.

    Args:
        finder: what answers for imports of `torch`; None inside of another installation, which then ends it.
        before: the modules of PyTorch that were imported before, by name: they are put back.

    Example::

        >>> import gradpack
        >>> installed = gradpack.install_as_torch(force=True)
        >>> import torch
        >>> torch.Tensor is gradpack.Tensor
        True
        >>> installed.uninstall()
    """

    def __init__(self, finder: Finder | None, before: dict[str, ModuleType]) -> None:
        self._finder, self._before = finder, before
        self._places = {} if finder is None else {kind: kind.__module__ for kind in _PLACES}
        self._known = set(sys.modules)

    def uninstall(self) -> None:
        """Remove gradpack from the name `torch`. A second call does nothing."""
        finder, self._finder = self._finder, None
        if finder is None:
            return
        sys.meta_path.remove(finder)
        for undo in reversed(finder.undo):
            undo()
        spelling.library = LIBRARY
        for kind, place in self._places.items():
            kind.__module__ = place
        for name in _users(self._known) | {n for n in sys.modules if _is_torch(n)}:
            _take_out(name)
        sys.modules.update(self._before)

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *exc: object) -> None:
        self.uninstall()


def install_as_torch(*, force: bool = False) -> Installed:
    """Make gradpack what `import torch` gives, here and in every module that is imported from now on.

    It answers for `torch`, `torch.nn`, `torch.nn.functional`, `torch.optim`, `torch.utils.data` and so on, whether or
    not PyTorch is installed; dtypes, shapes and the like print as `torch.float32`. What gradpack does not have is an
    AttributeError or an ImportError that says so, with the line that asked. `torch.jit.script` gives
    back what it is given.

    As a context manager it ends with the block; else with `uninstall()`. Modules that were first imported meanwhile
    and hold anything of gradpack's are forgotten then, so that a later import of them gets the real torch.

    Args:
        force: take the place of a torch that is imported already; it is put back at the end. Modules that have
            imported it keep it.

    Raises:
        RuntimeError: if torch is imported already, and `force` is not given.

    Example::

        >>> import gradpack
        >>> with gradpack.install_as_torch(force=True):
        ...     import torch
        ...     from torch import nn
        ...     print(nn.Linear(2, 3)(torch.ones(1, 2)).shape, torch.Tensor is gradpack.Tensor)
        torch.Size([1, 3]) True
    """
    if any(isinstance(found, Finder) for found in sys.meta_path):
        return Installed(None, {})  # the outermost one ends it
    before = {name: module for name, module in sys.modules.items() if _is_torch(name)}
    if before and not force:
        raise RuntimeError(
            "install_as_torch(): torch is imported already, and tensors of the two do not mix: call it first, or with "
            "force=True"
        )
    for name in before:
        del sys.modules[name]
    finder = Finder()
    sys.meta_path.insert(0, finder)
    spelling.library = "torch"
    installed = Installed(finder, before)
    for kind, place in _PLACES.items():
        kind.__module__ = place
    return installed


def _is_torch(name: str) -> bool:
    return name.partition(".")[0] in PACKAGES


def _users(known: set[str]) -> set[str]:
    """The modules, imported since, that hold anything of ours or of one another: with the whole of their packages."""
    new = {
        name: module
        for name, module in sys.modules.items()
        if name not in known and name.partition(".")[0] not in (LIBRARY, *PACKAGES) and isinstance(module, ModuleType)
    }
    found = {name for name, module in new.items() if any(_is_from_ours(v) for v in list(vars(module).values()))}
    size = -1
    while size != len(found):
        size = len(found)
        fresh = {name.partition(".")[0] for name in found} - known
        found |= {name for name in new if name.partition(".")[0] in fresh}
        found |= {
            name
            for name, module in new.items()
            if any(_origin(value) in found for value in list(vars(module).values()))
        }
    return found


def _origin(value: Any) -> str | None:
    """The module that a value comes from, where that can be told without asking the value."""
    if isinstance(value, ModuleType):
        return value.__name__
    return getattr(value, "__module__", None) if isinstance(value, type | FunctionType) else type(value).__module__


def _is_from_ours(value: Any) -> bool:
    if isinstance(value, ModuleType):  # modules that import gradpack by its own name keep it
        return isinstance(value, AnsweringModule)
    if value in _PLACES if isinstance(value, type) else type(value) in _PLACES:
        return True
    return str(_origin(value)).partition(".")[0] == LIBRARY


def _take_out(name: str) -> None:
    module = sys.modules.pop(name, None)
    parent, _, last = name.rpartition(".")
    above = sys.modules.get(parent)
    if isinstance(above, ModuleType) and raw_dict(above).get(last) is module:
        delattr(above, last)
