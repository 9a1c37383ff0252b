"""The command `gradpack`.

Each subcommand is a module with `add_arguments(parser)` and `run(args) -> exit code`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

from .. import __version__
from .problem import Problem

COMMANDS = {
    "demo": "train a small transformer on text, and compare ways of keeping saved tensors",
    "run": "run a program that imports torch on gradpack",
    "launch": "run a program as several processes that exchange tensors",
    "inspect": "run a program, and report every tensor that autograd saved in it",
    "doctor": "say what is installed, what is fast, and what is missing, with the command to get it",
    "warmup": "compile the loops for large arrays ahead, and keep them for later programs",
    "ops": "list the operations and functions, tell about one, or say which names of torch are missing",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one subcommand and returns the exit code.

    0: done. 1: it began and failed. 2: it was asked for something that cannot be done. 130: Ctrl-C.
    """
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except Problem as problem:
        print(f"gradpack: {problem}", file=sys.stderr)
        return problem.code


def _run(argv: list[str]) -> int:
    if argv[:1] == ["run"]:  # the program that it runs has its own arguments, streams and exceptions
        from . import run

        return run.main(argv[1:])
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal may lack characters that the text has
    parser = argparse.ArgumentParser(prog="gradpack", description="torch.autograd from scratch, over NumPy arrays")
    parser.add_argument("--version", action="version", version=f"gradpack {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    modules, parsers = {}, {}
    for name, summary in COMMANDS.items():
        modules[name] = import_module(f".{name}", __name__)
        about = (modules[name].__doc__ or "").removeprefix(f"The `{name}` command: ")
        parsers[name] = commands.add_parser(name, help=summary, description=about[:1].upper() + about[1:])
        modules[name].add_arguments(parsers[name])
    if argv in ([], ["help"]):
        parser.print_help()
        return 0 if argv else 2
    if argv[0][0:1] != "-" and argv[0] not in COMMANDS:
        near = get_close_matches(argv[0], COMMANDS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise Problem(f"there is no command {argv[0]!r}: {hint}gradpack --help lists them")
    try:
        args, unknown = parser.parse_known_args(argv)
        if unknown:
            parsers.get(args.command, parser).error(f"unrecognized arguments: {' '.join(unknown)}")
        code: int = modules[args.command].run(args)
    except KeyboardInterrupt:
        print("gradpack: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has closed the pipe. Python would raise again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code
