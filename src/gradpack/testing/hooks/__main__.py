"""`python -m gradpack.testing.hooks MODULE`: which gates a module holds."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence

from . import GATES, Outcome, run


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line for each gate. Returns 0 if all hold, 1 if not, 2 if there is no such module."""
    parser = argparse.ArgumentParser(prog="python -m gradpack.testing.hooks", description=__doc__)
    parser.add_argument("module", help="a module that looks like torch, as a program imports it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    try:
        module = importlib.import_module(args.module)
    except ImportError as error:
        print(f"cannot import {args.module}: {error}", file=sys.stderr)
        return 2
    found = run(module)
    title = f"{args.module} {getattr(module, '__version__', '')}".strip()
    if args.json:
        rows = [{"gate": o.gate.name, "claim": o.gate.claim, "holds": o.holds, "reason": o.reason} for o in found]
        print(json.dumps({"module": title, "gates": rows}, indent=1))
    else:
        show(title, found)
    return 0 if all(outcome.holds for outcome in found) else 1


def show(title: str, found: Sequence[Outcome]) -> None:
    """Prints a line for each gate: in colour if rich is installed, plain if not."""
    count = f"{title}: {sum(outcome.holds for outcome in found)} of {len(found)} gates hold"
    width = max(len(gate.name) for gate in GATES)
    lines = [(o.holds, o.gate.name.ljust(width), o.gate.claim if o.holds else o.reason) for o in found]
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        print("\n".join([*(f"{'holds' if holds else 'FAILS'}  {name}  {text}" for holds, name, text in lines), count]))
        return
    console = Console(soft_wrap=True)
    for holds, name, text in lines:
        mark = ("holds  ", "green") if holds else ("FAILS  ", "bold red")
        console.print(Text.assemble(mark, (name, "bold" if not holds else ""), f"  {text}"))
    console.print(Text(count, style="bold"))


if __name__ == "__main__":
    sys.exit(main())
