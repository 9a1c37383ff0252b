"""Run a program that says `import torch` on gradpack, where torch is not installed or with --force.

Options come before SCRIPT, -m or -c; what follows them is the program's own.
"""

from __future__ import annotations

import argparse
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

from ..compat.as_torch import install_as_torch
from .problem import Problem

_USAGE = "gradpack run [-h] [--force] [--check [--rtol R] [--atol A]] (SCRIPT | -m MODULE | -c CODE) [args ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    parser.add_argument("--force", action="store_true", help="on gradpack even where torch is installed")
    parser.add_argument("--check", action="store_true", help="on torch and on gradpack: show the first difference")
    parser.add_argument("--rtol", type=float, default=1e-4, help="how far numbers may be apart, relative to torch's")
    parser.add_argument("--atol", type=float, default=1e-4, help="how far small numbers may be apart")
    parser.add_argument("-m", metavar="MODULE", help="run a module or a package, as python -m does")
    parser.add_argument("-c", metavar="CODE", help="run a program given as text, as python -c does")
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="a file, or a folder or archive with __main__.py")
    parser.add_argument("args", nargs="*", help="what the program finds in sys.argv")


def split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split `argv` into our own arguments, up to the program's name, and the arguments of the program."""
    words = iter(enumerate(argv))
    for i, word in words:
        if word in ("--rtol", "--atol"):
            next(words, None)
            continue
        if word in ("-m", "-c"):
            return list(argv[: i + 2]), list(argv[i + 2 :])
        if word[:2] in ("-m", "-c"):  # -mMODULE
            return list(argv[: i + 1]), list(argv[i + 1 :])
        if word == "--":
            return [*argv[:i], *argv[i + 1 : i + 2]], list(argv[i + 2 :])
        if not word.startswith("-") or word == "-":
            return list(argv[: i + 1]), list(argv[i + 1 :])
    return list(argv), []


def main(argv: Sequence[str]) -> int:
    """Runs the program as `__main__`. Its exceptions, SystemExit too, are left to Python."""
    ours, rest = split(argv)
    parser = argparse.ArgumentParser(
        prog="gradpack run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    args = parser.parse_args(ours)
    if (args.script is not None) + (args.m is not None) + (args.c is not None) != 1:
        parser.error("name a SCRIPT, or a module with -m, or a text with -c")
    return run(args, rest)


def run(args: argparse.Namespace, rest: Sequence[str] | None = None) -> int:
    rest = args.args if rest is None else rest
    if args.check:
        from .check import Tolerance, check

        return check([*_named(args), *rest], Tolerance(args.rtol, args.atol))
    start(_find(args, rest, lambda: _prepare(args.force)))
    return 0


def _named(args: argparse.Namespace) -> list[str]:
    """The arguments that name the program."""
    if args.m is not None:
        return ["-m", args.m]
    return ["--", args.script] if args.c is None else ["-c", args.c]


def found(argv: Sequence[str], prepare: Callable[[], None]) -> Program:
    """The program that arguments of this command name. `prepare` is called before anything of it is imported."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    ours, rest = split(argv)
    return _find(parser.parse_args(ours), rest, prepare)


def _find(args: argparse.Namespace, rest: Sequence[str], prepare: Callable[[], None]) -> Program:
    if args.m is not None:
        return find_module(args.m, rest, prepare)
    program = find_script(args.script, rest) if args.c is None else find_code(args.c, rest)
    prepare()
    return program


def install() -> None:
    """Install gradpack as torch."""
    install_as_torch(force=True)


def _prepare(force: bool) -> None:
    """Install gradpack as torch, unless the real torch is installed and --force is not given."""
    installed = "torch" in sys.modules or importlib.util.find_spec("torch") is not None
    if force or not installed:
        install()
    else:
        print("gradpack run: torch is installed, and the program gets it; --force runs it on gradpack", file=sys.stderr)


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
