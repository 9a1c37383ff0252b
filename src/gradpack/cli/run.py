"""Run a program that says `import torch` on gradpack, where torch is not installed or with --force.

Options come before SCRIPT, -m or -c; what follows them is the program's own.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence

from ..compat.as_torch import install_as_torch
from .script import Program, find_code, find_module, find_script, start

_USAGE = "gradpack run [-h] [--force] (SCRIPT | -m MODULE | -c CODE) [args ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    parser.add_argument("--force", action="store_true", help="on gradpack even where torch is installed")
    parser.add_argument("-m", metavar="MODULE", help="run a module or a package, as python -m does")
    parser.add_argument("-c", metavar="CODE", help="run a program given as text, as python -c does")
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="a file, or a folder or archive with __main__.py")
    parser.add_argument("args", nargs="*", help="what the program finds in sys.argv")


def split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split `argv` into our own arguments, up to the program's name, and the arguments of the program."""
    for i, word in enumerate(argv):
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
    program: Program
    if args.m is not None:
        program = find_module(args.m, rest, lambda: _prepare(args.force))
    elif args.c is not None:
        program = find_code(args.c, rest)
    else:
        program = find_script(args.script, rest)
    if args.m is None:
        _prepare(args.force)
    start(program)
    return 0


def _prepare(force: bool) -> None:
    """Install gradpack as torch, unless the real torch is installed and --force is not given."""
    installed = "torch" in sys.modules or importlib.util.find_spec("torch") is not None
    if force or not installed:
        install_as_torch(force=True)
    else:
        print("gradpack run: torch is installed, and the program gets it; --force runs it on gradpack", file=sys.stderr)
