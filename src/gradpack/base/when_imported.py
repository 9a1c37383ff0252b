"""Imports a module of this library when another library is imported, without importing that one."""

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
        spec = PathFinder.find_spec(fullname, path, target) if fullname == self.name else None
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                loader.exec_module = execute
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                import_module(self.then)

            loader.exec_module = exec_module
        return spec


def when_imported(name: str, then: str) -> None:
    """Import the module `then` when the module `name` has been imported: now, if it has been already."""
    if name in sys.modules:
        import_module(then)
    else:
        sys.meta_path.insert(0, _Watch(name, then))


class _Last:
    """The last of all finders: a module is imported to find what is below a package and nothing else finds."""

    def __init__(self, package: str, then: str) -> None:
        self.below, self.then = f"{package}.", then

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        found: ModuleSpec | None = (
            import_module(self.then).find_spec(fullname) if fullname.startswith(self.below) else None
        )
        return found


def find_last(package: str, then: str) -> None:
    """Ask `find_spec` of the module `then` for modules below `package` that nothing else finds."""
    sys.meta_path.append(_Last(package, then))
