"""Modules that are public under another name than that of their file, and modules that have no file.

The finder in `base/when_imported.py` asks `find_spec` for names below `gradpack` that no file answers to. Files in
`MODULES` set `__name__` to their public name, so that their classes and functions are found under it. Type checkers
read of those that users import in the stubs beside them: `gradpack/library.pyi`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..base.when_imported import answer
from .facades import FACADES, Facade, fill

_LIBRARY = __name__.partition(".")[0]

# Public name -> the module that it is another name of, both below `gradpack`.
MODULES = {
    "_C": "compat._C",
    "__config__": "compat.config",
    "accelerator": "compat.accelerator",
    "as_torch": "compat.as_torch.install",
    "autograd._functions": "compat.autograd_functions",
    "cpu.amp": "compat.cpu_amp",
    "cuda": "compat.cuda",
    "futures": "base.futures",
    "hub": "compat.hub",
    "library": "compat.library",
}


_STAND_INS = "compat.as_torch.stand_ins."


class _Loader:
    """Loads a module of one of the two tables."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Return None: Python makes the module."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Fill a facade; put the module that a name stands for into the place of an empty one."""
        name = module.__name__.removeprefix(f"{_LIBRARY}.")
        facade = _facade(name)
        if facade is not None:
            fill(module, facade)
        else:
            module = import_module(f"{_LIBRARY}.{MODULES[name]}")
            sys.modules[f"{_LIBRARY}.{name}"] = module
        if not name.startswith(_STAND_INS):
            vars(module).setdefault("__path__", [])  # there may be modules of torch below it
            answer(module)


def find_spec(fullname: str) -> ModuleSpec | None:
    """Return the spec of a module of the two tables; None for other names."""
    name = fullname.removeprefix(f"{_LIBRARY}.")
    if name in MODULES or _facade(name):
        return ModuleSpec(fullname, _Loader)  # type: ignore[arg-type]
    from . import moved_modules

    return moved_modules.find_spec(fullname) or _of_table(fullname, name)


class _TableLoader:
    """Makes modules of torch that gradpack has no file for."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """Return a module that looks its names up in the table of torch's names."""
        from .as_torch.finder import AnsweringModule

        return AnsweringModule(spec.name.removeprefix(f"{_LIBRARY}."), [], _LIBRARY)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Do nothing: there is no code."""


def _of_table(fullname: str, path: str) -> ModuleSpec | None:
    """The spec of a module that torch has and gradpack has not."""
    from . import NO_MODULES_OF_TORCH, torch_names

    if path.partition(".")[0] in NO_MODULES_OF_TORCH or not torch_names.is_module(f"torch.{path}"):
        return None
    return ModuleSpec(fullname, _TableLoader, origin="torch", is_package=True)  # type: ignore[arg-type]


def _facade(name: str) -> Facade | None:
    if not name.startswith(_STAND_INS):
        return FACADES.get(name)
    from .as_torch.stand_ins.table import STAND_INS

    return STAND_INS.get(name.removeprefix(_STAND_INS))
