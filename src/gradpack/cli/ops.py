"""The `ops` command: list operations and functions, describe one, and list the names of torch that are missing."""

from __future__ import annotations

import argparse
import inspect
import json
from collections import Counter
from difflib import get_close_matches
from functools import reduce
from operator import attrgetter
from typing import Any

from ..declare.signature.arguments import taken
from .problem import Problem

_CLASSES = ("nn", "optim", "optim.lr_scheduler", "distributions")  # where a bare name is looked up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", help="tell about this operation, function or class: sin, F.gelu, Tensor.to, nn.Linear"
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
            _print(info._asdict() | {"differentiable": info.differentiable}, args.json)
        except KeyError as error:
            _print(_class(args.name, str(error.args[0]).removeprefix("get_op_info(): ")), args.json)
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


def _class(name: str, otherwise: str) -> dict[str, str]:
    """Describe a class by a name such as Linear or optim.Adam, or raise a `Problem` that says what else there is."""
    import gradpack

    top: Any = gradpack
    short = name.removeprefix("torch.").removeprefix("gradpack.")
    for place in ("", *_CLASSES):
        parts = f"{place}.{short}".strip(".").split(".")
        found = reduce(lambda space, part: getattr(space, part, None), parts, top)
        if isinstance(found, type):
            doc = (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ")
            path = f"gradpack.{place}.{short}".replace("..", ".")
            return {"name": name, "path": path, "kind": "class", "signature": _signature(found), "doc": doc}
    raise Problem(_unknown(name, short.rpartition(".")[2], otherwise))


def _unknown(name: str, last: str, otherwise: str) -> str:
    """Return the sentence for a name that is not there, with classes and operations that are near."""
    import gradpack

    classes = {n: place for place in _CLASSES for n in dir(attrgetter(place)(gradpack)) if n[0].isupper()}
    near = [f"{classes[n]}.{n}" for n in get_close_matches(last, classes, 3, 0.75)]
    if not near:
        near = [n for n in otherwise.partition("did you mean ")[2].rstrip("?").split(", ") if n]
    if not near:
        return f"there is no operation or class {name!r}: gradpack ops lists them"
    return f"there is no operation or class {name!r}: did you mean {', '.join(near)}?"


def _signature(value: type) -> str:
    try:
        return str(taken(inspect.signature(value).parameters))
    except (TypeError, ValueError):
        return "(...)"


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
