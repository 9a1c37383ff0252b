"""Programs found and started as Python itself does: `python SCRIPT`, `python -m MODULE`, `python -c CODE`."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pkgutil import get_importer
from types import CodeType, ModuleType, TracebackType
from typing import Any

from .problem import Problem


@dataclass
class Program:
    """Compiled code, and the attributes of its module `__main__`."""

    code: CodeType
    facts: dict[str, Any] = field(default_factory=dict)


def find_script(path: str, args: Sequence[str]) -> Program:
    """A file, or a folder or archive with a `__main__.py` in it. Sets `sys.argv` and `sys.path[0]`."""
    if path != "-" and not os.path.exists(path):
        raise Problem(f"run: there is no file {path}")
    sys.argv[:] = [path, *args]
    importer: Any = None if path == "-" else get_importer(path)
    if importer is not None:
        _first_path(path)
        spec = importer.find_spec("__main__")
        if spec is None:
            raise Problem(f"run: there is no __main__.py in {path}", code=1)
        return _of_spec(spec)
    try:
        if path == "-":
            source = sys.stdin.buffer.read()
        else:
            with io.open_code(os.path.abspath(path)) as file:
                source = file.read()
    except OSError as error:
        raise Problem(f"run: cannot read {path}: {error.strerror}") from None
    name = "<stdin>" if path == "-" else os.path.abspath(path)
    _first_path("" if path == "-" else os.path.dirname(os.path.realpath(path)))
    facts = {} if path == "-" else {"__file__": name, "__cached__": None}
    return Program(_compiled(source, name), facts)


def find_code(text: str, args: Sequence[str]) -> Program:
    """A program given as text."""
    sys.argv[:] = ["-c", *args]
    _first_path("")
    return Program(_compiled(text + "\n", "<string>"))


def find_module(name: str, args: Sequence[str], prepare: Callable[[], None]) -> Program:
    """A module, or the `__main__` of a package. `prepare` is called before packages above it are imported."""
    sys.argv[:] = ["-m", *args]
    _first_path(os.getcwd())
    prepare()
    spec = _spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _spec(f"{name}.__main__")
        if spec is None:
            raise Problem(f"run: {name} is a package and cannot be executed: it has no __main__", code=1)
    if spec is None:
        raise Problem(f"run: there is no module named {name}", code=1)
    program = _of_spec(spec)
    sys.argv[0] = program.facts["__file__"]
    return program


def _spec(name: str) -> ModuleSpec | None:
    _shorten_tracebacks()
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            return None
        raise


def _of_spec(spec: ModuleSpec) -> Program:
    loader: Any = spec.loader
    code = loader.get_code(spec.name) if hasattr(loader, "get_code") else None
    if code is None:
        raise Problem(f"run: there is no Python code in {spec.name}", code=1)
    package = spec.name.rpartition(".")[0]
    facts = {"__file__": spec.origin, "__cached__": spec.cached, "__loader__": loader, "__package__": package}
    return Program(code, {**facts, "__spec__": spec if package else None})


def _first_path(folder: str) -> None:
    """Put the folder where Python puts that of a script, in place of the one of this command."""
    if getattr(sys.flags, "safe_path", False):
        return
    sys.path[0] = folder


def _compiled(source: bytes | str, name: str) -> CodeType:
    _shorten_tracebacks()
    return compile(source, name, "exec", dont_inherit=True)


def start(program: Program) -> None:
    """Run the program as the module `__main__`. Tracebacks begin in it."""
    main = ModuleType("__main__")
    vars(main).update(program.facts, __builtins__=sys.modules["builtins"])
    sys.modules["__main__"] = main
    _shorten_tracebacks()
    exec(program.code, vars(main))


_DOORS = frozenset({_compiled.__code__, start.__code__, _spec.__code__})  # from here on it is the program's


def _shorten_tracebacks() -> None:
    """Leave the frames of this command out of what Python prints if the program ends in an exception."""
    shown = sys.excepthook
    if getattr(shown, "shortens", False):
        return

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        step = traceback
        while step is not None and step.tb_frame.f_code not in _DOORS:
            step = step.tb_next
        first = traceback if step is None else step.tb_next
        shown(kind, error.with_traceback(first), first)

    hook.shortens = True  # type: ignore[attr-defined]
    sys.excepthook = hook
