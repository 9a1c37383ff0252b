"""The `ops` command: list operations and functions, describe one, and list the names of torch that are missing."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from .problem import Problem


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", help="tell about this operation or function: sin, F.gelu, linalg.svd, Tensor.to"
    )
    parser.add_argument("--kind", help="list operations of this kind only")
    parser.add_argument("--missing", action="store_true", help="list the names of torch that are not there yet")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    from ..extend import coverage, get_op_info, list_ops
    from ..extend.report import list_functions

    if args.name is not None:
        try:
            info = get_op_info(args.name)
        except KeyError as error:
            raise Problem(str(error.args[0])) from None
        _print(info._asdict() | {"differentiable": info.differentiable}, args.json)
        return 0
    found = coverage()
    missing = [path for path, there in found.items() if not there]
    if args.missing:
        print(json.dumps(missing) if args.json else "\n".join(missing))
        return 0
    names = list_ops()
    names += [path for path in list_functions() if path not in names]
    infos = [info for info in map(get_op_info, names) if args.kind in (None, info.kind)]
    if args.kind is not None and not infos:
        raise Problem(f"--kind: there is no operation of the kind {args.kind!r}")
    if args.json:
        rows = {i.name: i._asdict() | {"differentiable": i.differentiable} for i in infos}
        print(json.dumps({"names": found, "operations": rows}, indent=1))
        return 0
    for info in infos:
        gradient = f"d/d {', '.join(info.inputs)}" if info.inputs else "gradient" if info.differentiable else ""
        print(f"{info.name:36} {info.kind:12} {gradient:28} {info.doc}"[:118].rstrip())
    counts = Counter(info.kind for info in infos)
    print(f"\n{len(infos)} operations and functions: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    print(f"{len(found) - len(missing)} of the {len(found)} names of torch that are to be there, are")
    return 0


def _print(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(facts, indent=1))
        return
    for key, value in facts.items():
        if isinstance(value, dict):
            for name, text in value.items():
                print(f"{key} of {name}: {text}")
        elif value not in ("", (), None):
            print(f"{key}: {', '.join(value) if isinstance(value, tuple) else value}")
