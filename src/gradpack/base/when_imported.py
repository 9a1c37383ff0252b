"""Finders: one imports a module of this library when another library is imported, one asks a table for the rest."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class _Watch:  # duck-typed: importing importlib.abc would take as long as all of `base`
    """Finds one module as Python would, and imports another once it has been executed."""

    def __init__(self, name: str, then: str) -> None:
        self.name, self.then = name, then

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader, self)  # type: ignore[assignment]
        return spec


class _Then:
    def __init__(self, loader: Any, watch: _Watch) -> None:
        self.loader, self.watch = loader, watch

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        if self.watch in sys.meta_path:
            sys.meta_path.remove(self.watch)
        import_module(self.watch.then)


def when_imported(name: str, then: str) -> None:
    """Import the module `then` when the module `name` has been imported: now, if it has been already."""
    if name in sys.modules:
        import_module(then)
    else:
        sys.meta_path.insert(0, _Watch(name, then))


class _Missing:
    """Asks a module, imported then, for the names below a package that no other finder has found."""

    def __init__(self, package: str, table: str) -> None:
        self.prefix, self.table = f"{package}.", table

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if not fullname.startswith(self.prefix):
            return None
        found: ModuleSpec | None = import_module(self.table).find_spec(fullname)
        return found


def when_missing(package: str, table: str) -> None:
    """Let `find_spec(fullname)` of the module `table` answer for modules of a package that have no file."""
    sys.meta_path.append(_Missing(package, table))
