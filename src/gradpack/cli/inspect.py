"""Runs a Python program and reports every tensor that autograd saved in it: bytes over time, by module,
operation and line, and what other ways of keeping them would give. The program runs as `python SCRIPT`
would run it; the report is written however it ends. Options stand before the script.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import runpy
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.sizes import in_bytes
from .problem import Problem, check_writable, positive, write

if TYPE_CHECKING:
    from ..autograd.profiler import profile
    from ..saved import Record
    from ..saved.budgets.budget import Budget

ENDINGS = (".html", ".trace.json", ".json")
INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "gradpack inspect [-h] [-o FILE] [--json] [--profile] [--budget BYTES] [--top N] [--limit N] [-m] "
        "SCRIPT [ARGUMENT ...]"
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        help="report: a page (.html), all that is known (.json), or a trace for Perfetto (.trace.json); "
        "default: the script's name with .saved.html, in this folder",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the report as JSON; what the program prints goes to standard error"
    )
    parser.add_argument("--profile", action="store_true", help="draw the calls over time as well, on a page")
    parser.add_argument(
        "--budget",
        metavar="BYTES",
        help='hold no more than this for backward, as "64 MiB", and tell what is done about each tensor, why, and what '
        "the next best would cost",
    )
    parser.add_argument("--top", type=positive, metavar="N", default=15, help="rows to print (default: %(default)s)")
    parser.add_argument(
        "--limit", type=positive, metavar="N", default=5000, help="saved tensors to list (default: %(default)s)"
    )
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT", help="a Python file, or with -m a module")
    rest = parser.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="of the program")
    rest.required = False  # as in Python 3.12


def run(args: argparse.Namespace) -> int:
    out = check(args)
    from ..autograd.profiler import profile
    from ..saved import budget, record

    policy = None if args.budget is None else budget(bytes_of(args.budget))
    calls = profile(args.profile, with_modules=True)
    recording = record(Path(args.script).name if not args.is_module else args.script, args.limit)
    with output_kept(args.json) as print_here:
        try:
            with calls, recording, nullcontext() if policy is None else policy:
                code = run_program(args, recording)
        except BaseException:  # only what users can not have meant to come here, as a second Ctrl-C
            report(recording, calls, policy, args, out, print_here)
            raise
        failed = report(recording, calls, policy, args, out, print_here)
    return code or failed


def bytes_of(text: str) -> int:
    try:
        return in_bytes("inspect", "--budget", text)
    except ValueError:
        raise Problem(f"--budget: this must be a number of bytes such as 64MiB or '2 GB', not {text!r}") from None


def check(args: argparse.Namespace) -> str | None:
    """Check before the program runs everything that could fail later. Return the absolute output path, or None."""
    if not args.is_module:
        try:
            with open(args.script, "rb"):
                pass
        except IsADirectoryError:
            if not os.path.exists(os.path.join(args.script, "__main__.py")):
                raise Problem(f"{args.script} is a folder without a __main__.py; name a Python file") from None
        except FileNotFoundError:
            raise Problem(f"there is no file {args.script}; name a Python file, or a module with -m") from None
        except OSError as error:
            raise Problem(f"cannot read {args.script}: {error.strerror}") from None
    if args.out is None:
        if args.json:
            return None
        name = args.script if args.is_module else Path(args.script).resolve().stem
        args.out = f"{name}.saved.html"
    if not args.out.endswith(ENDINGS):
        raise Problem(f"-o: the name must end in one of {', '.join(ENDINGS)}, and {args.out} does not")
    check_writable(args.out, "-o")
    return os.path.abspath(args.out)  # the program may change the working directory


def run_program(args: argparse.Namespace, recording: Record) -> int:
    """Run the program as `python` would, and return the exit code that it would have had.

    The recording is told of the exception that ended it.
    """
    before, threads = (sys.argv, sys.path[:]), {threading.current_thread(), *threading.enumerate()}
    sys.argv = [args.script, *args.arguments]
    sys.path.insert(0, os.getcwd() if args.is_module else os.path.dirname(os.path.realpath(args.script)))
    try:
        if args.is_module:
            runpy.run_module(args.script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(os.path.abspath(args.script), run_name="__main__")
        pools = getattr(sys.modules.get("concurrent.futures.thread"), "_threads_queues", {})  # whose threads never end
        for thread in threading.enumerate():  # as Python does at the end of a program
            if thread not in threads and not thread.daemon and thread not in pools:
                thread.join()
    except SystemExit as end:
        return exit_code(end)
    except BaseException as error:
        show(error)
        recording.error = type(error).__name__
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    finally:
        sys.argv, sys.path[:] = before
    return 0


def exit_code(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def show(error: BaseException) -> None:
    """Print an error as Python does, without the frames of this command."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    sys.stdout.flush()
    sys.excepthook(type(error), error.with_traceback(trace), trace)


@contextmanager
def output_kept(wanted: bool) -> Iterator[Any]:
    """Send the program's output to standard error. Yields a file for standard output."""
    if not wanted:
        yield None
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(kept, "w", encoding="utf-8", closefd=False) as here:
            yield here
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def report(
    recording: Record, calls: profile, policy: Budget | None, args: argparse.Namespace, out: str | None, print_here: Any
) -> int:
    """Write and print the records. Return 1 if that failed."""
    from ..saved.page import longest, page
    from ..saved.recorder.recording import as_json, as_trace

    sys.stdout.flush()
    document = recording.document()
    if args.profile:
        document["flame"] = longest(calls.flame())
    if policy is not None:
        document["budget"] = plan_of(policy)
    failed = 0
    if out is not None:
        make = page if out.endswith(".html") else as_trace if out.endswith(".trace.json") else as_json
        try:
            write(out, make(document).encode(), "-o")
        except Problem as problem:
            print(f"gradpack: {problem}", file=sys.stderr)
            failed = 1
    if print_here is not None:
        print_here.write(as_json(document))
        print_here.flush()
        return failed
    print_tables(document, args.top)
    if policy is not None:
        print(policy.plan or f"{policy.name}: nothing went backward, so that there is no plan", file=sys.stderr)
    if out is not None and not failed:
        print(f"report: {args.out}", file=sys.stderr)
    return failed


def plan_of(policy: Budget) -> dict[str, Any]:
    """Return the plan of a memory budget, one row for each storage; rows are None if no backward ran."""
    plan = policy.plan
    rows = None if plan is None else [dataclasses.asdict(row) for row in plan.explain()]
    return {"limit": policy.limit, "peak": policy.peak, "rows": rows}


def print_tables(document: dict[str, Any], top: int) -> None:
    """Print to standard error, as standard output belongs to the program."""
    from ..saved.recorder.recording_tables import advice_lines, tables

    try:
        from rich.console import Console
    except ImportError:
        print(f"{document['summary']} (for tables: pip install 'gradpack[cli]')", file=sys.stderr)
        print(*advice_lines(document), sep="\n", file=sys.stderr)
        return

    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 160  # a file has no width that lines would have to fit
    console.print(tables(document, top))
