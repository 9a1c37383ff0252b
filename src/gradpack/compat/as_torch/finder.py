"""The finder that answers for `torch`, and the modules that it gives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ...base.filled import Filled, raw_dict
from .. import torch_names
from ..absent import NONE, look_up, own
from . import missing
from .names import LIBRARY, VERSION, name_of, path_of, sources

# Settings live where operations read them. Attributes set on other modules stay in these.
_SETTINGS = "backends"


class AnsweringModule(Filled):
    """A module of torch, whose names are looked up in modules of gradpack at first access, then in torch's table.

    Args:
        path: its name, as the tables write it.
        library: below which name it is imported: `torch` or `gradpack`.
    """

    def __init__(self, path: str, undo: list[Callable[[], None]], library: str = "torch") -> None:
        found = sources(path) or ()
        first = import_module(found[-1]) if found else None
        name = name_of(path)
        super().__init__(library + name[5:] if name.startswith("torch") else name, first.__doc__ if first else None)
        file = getattr(first, "__file__", None)
        raw_dict(self).update(_path=path, _found=found, _undo=undo, _spelling=library, __file__=file)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self._public()
        if name[:2] == "__" and name not in ("__version__", "__config__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path = self._below(name)
        value = self._look_up(name)
        if value is not NONE and not _is_ours(value):
            if not self._path.startswith(_SETTINGS) and (name[0] != "_" or callable(value)):  # the rest may change
                raw_dict(self)[name] = value
            return value
        if value is not NONE and self._spelling == LIBRARY:
            return value
        if sources(path) is not None:
            return import_module(f"{self.__name__}.{name}")
        value = look_up(name_of(self._path), name, self._spelling)
        if value is NONE:
            raise missing.attribute(path, self)
        return value

    def _below(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def _public(self) -> list[str]:
        """Public names, without those of modules of ours that are no modules of torch."""
        if not self._found:
            table = torch_names.names(name_of(self._path))
            return sorted(n for n, entry in table.items() if n[0] != "_" and entry.kind not in "~=")
        names = {n for s in self._found for n in getattr(import_module(s), "__all__", ())}
        return sorted(n for n in names if sources(self._below(n)) or not _is_ours(self._look_up(n)))

    def _look_up(self, name: str) -> Any:
        for source in self._found:
            value = own(import_module(source), name)
            if value is not NONE:
                return value
        return NONE

    def _keep(self, name: str, value: Any) -> None:
        """Nothing: what may be kept was kept when it was looked up."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, AnsweringModule):
            # The import system puts a module into the one above it. Where a function has its name, that stays.
            found = self._look_up(name)
            if found is not NONE and not isinstance(found, ModuleType):
                return
        elif self._found and name.startswith(
            "_global_"
        ):  # hooks of all modules, which calls look for where they are kept
            setattr(import_module(self._found[-1]), name, value)
            return
        elif self._found and self._path.startswith(_SETTINGS) and name[:2] != "__":
            target = import_module(self._found[-1])
            if name in vars(target):
                before = vars(target)[name]
                self._undo.append(lambda: setattr(target, name, before))
                setattr(target, name, value)
                return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        if not self._found:
            return sorted({*torch_names.names(name_of(self._path)), *raw_dict(self)})
        held = {n: raw_dict(m).get(n) for m in map(import_module, self._found) for n in dir(m) if n[:2] != "__"}
        return sorted({n for n in held if not _is_ours(held[n]) or sources(self._below(n))} | set(raw_dict(self)))

    def __repr__(self) -> str:
        return f"<module {self.__name__!r} of {LIBRARY}>"


def _is_ours(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] == LIBRARY


class Finder(MetaPathFinder, Loader):
    """Finds `torch` and what is below it in gradpack, and the version of the package `torch`."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], None]] = []  # how settings were before programs set them

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        below = path_of(fullname)
        if below is None:
            return None
        if sources(below) is None and not torch_names.is_module(fullname):
            if missing.importing():
                raise missing.module(below)
            return None  # a look-up by importlib.util.find_spec, not an import
        return ModuleSpec(fullname, self, origin=LIBRARY, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        path = path_of(spec.name)
        assert path is not None
        return AnsweringModule(path, self.undo)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the gradpack modules behind it have been executed already."""

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """Answer `importlib.metadata.version("torch")`, which packages use to choose features."""
        name = getattr(context, "name", None)
        if name is None or name.lower() == "torch":
            yield _distribution()

    def invalidate_caches(self) -> None:
        """Do nothing: there are no caches."""


def _distribution() -> Any:
    from importlib.metadata import Distribution
    from pathlib import Path

    class Torch(Distribution):
        def read_text(self, filename: str) -> str | None:
            return f"Metadata-Version: 2.1\nName: torch\nVersion: {VERSION}\n" if filename == "METADATA" else None

        def locate_file(self, path: Any) -> Any:
            return Path(sys.modules[LIBRARY].__path__[0]) / path

    return Torch()
