"""Watches imports: of another library, to import a module then, and of this one, to answer for names that it lacks."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .filled import raw_dict


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


class _Below:
    """Finds modules below a package as Python would, and lets a function answer for names that they lack."""

    def __init__(self, package: str, besides: frozenset[str]) -> None:
        self.below, self.start, self.besides = f"{package}.", len(package) + 1, besides

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if not fullname.startswith(self.below) or self.is_besides(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                loader.exec_module = execute
                execute(module)
                answer(module)

            loader.exec_module = exec_module
        return spec

    def is_besides(self, fullname: str) -> bool:
        """Whether a module is in a part that it does not answer for."""
        return fullname[self.start :].partition(".")[0] in self.besides


_ANSWERING: dict[str, str] = {}  # the module with `attribute(module, name)`, by package


def answer(module: ModuleType) -> None:
    """Give a module a `__getattr__` that comes after its own one, and asks the module that answers for its package."""
    held = raw_dict(module)
    own = held.get("__getattr__")

    def __getattr__(name: str) -> Any:  # noqa: N807 - Python's name for it
        if own is not None:
            with suppress(AttributeError):
                return own(name)
        if name[:2] == "__" or sys._getframe(1).f_code.co_name == "_handle_fromlist":  # it looks for a module next
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return import_module(_ANSWERING[module.__name__.partition(".")[0]]).attribute(module, name)

    __getattr__.own = own  # type: ignore[attr-defined]
    held["__getattr__"] = __getattr__


def answer_below(package: str, besides: frozenset[str], then: str) -> None:
    """Let `attribute(module, name)` of the module `then` answer for names that a package and modules below it lack.

    Args:
        besides: parts of the package that it does not answer for.
    """
    _ANSWERING[package] = then
    finder = _Below(package, besides)
    sys.meta_path.insert(0, finder)
    for name, module in list(sys.modules.items()):
        if name == package or (name.startswith(finder.below) and not finder.is_besides(name)):
            answer(module)


def find_last(package: str, then: str) -> None:
    """Ask `find_spec` of the module `then` for modules below `package` that nothing else finds."""
    sys.meta_path.append(_Last(package, then))
