"""The text of functions and methods in stubs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cache
from inspect import Parameter, cleandoc, signature
from math import isfinite
from pathlib import Path
from typing import Any

from .types import parameter_type, result_type

_STARS: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
_LITERAL = (bool, int, str, float, type(None))
_POOL = "max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
_POOL += "fractional_max_pool2d fractional_max_pool3d"

# Flags that decide the type of the result: by function, the flag, and the types if it is not set, and if it is.
_FLAGS = {
    **dict.fromkeys(_POOL.split(), ("return_indices", "Tensor", "tuple[Tensor, Tensor]")),
    **dict.fromkeys((f"{name}_with_indices" for name in _POOL.split()), ("", "", "tuple[Tensor, Tensor]")),
    "nonzero": ("as_tuple", "Tensor", "tuple[Tensor, ...]"),
    "lu": ("get_infos", "tuple[Tensor, Tensor]", "tuple[Tensor, Tensor, Tensor]"),
}


@cache
def written_by_hand() -> dict[str, dict[str, list[str]]]:
    """Return the definitions of `overloads.txt`, by group and function."""
    text = Path(__file__).with_name("overloads.txt").read_text(encoding="utf-8")
    found: dict[str, dict[str, list[str]]] = {}
    lines = text.splitlines()
    for group in ast.parse(text).body:
        assert isinstance(group, ast.ClassDef)
        own = found.setdefault(group.name, {})
        for node in group.body:
            assert isinstance(node, ast.FunctionDef)
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            own.setdefault(node.name, []).append("\n".join(x[4:] for x in lines[first - 1 : node.end_lineno]))
    return found


def function_text(name: str, function: Any, named: Iterable[str], *, method: bool = False, own: str = "") -> str:
    """Return the definition of a function, or of all its overloads.

    Args:
        named: the names of named tuples.
        method: whether it is one of tensors.
        own: the group of `overloads.txt`, besides `both`, or the module.
    """
    groups = written_by_hand()
    if name in groups.get(own, ()):
        return "\n".join(groups[own][name])
    if own in groups and name in groups["both"]:
        overloads = groups["both"][name]
        return "\n".join(o.replace("input: Tensor", "self", 1) if method else o for o in overloads)
    op = getattr(function, "op", None)
    shown = signature(function)
    parameters = [*shown.parameters.values()]
    names = [p.name for p in parameters]
    texts = [_parameter(p, parameter_type(p, name, op)) for p in parameters]
    if method:
        texts[0] = "self"
    elif name[-1] == "_":
        texts[0] = f"{names[0]}: Tensor"
    flag, usual, other = _FLAGS.get(name, ("none", "", ""))
    if flag in names:
        return _by_flag(name, parameters, texts, names.index(flag), usual, other)
    result = result_type(name, shown.return_annotation, op, named, own) if flag else other
    if re.fullmatch("__i[a-z]+__", name) and names[1:] == ["other"]:
        result = "Self"
    if name[-1] == "_" and name[0] != "_":
        result = "Tensor"
    if result != "Tensor":
        texts = [t.replace("out: Tensor |", "out: Sequence[Tensor] |") for t in texts]
    return definition(name, _with_stars(parameters, texts), result, described(function))


def described(function: Any) -> str:
    """Return the first sentence of the documentation of a function."""
    doc = cleandoc(function.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    return doc.replace("\\", "\\\\")


def definition(name: str, parts: Sequence[str], result: str, doc: str = "", before: str = "") -> str:
    """Return the text of a definition, in lines of at most 110 characters."""
    line = f"def {name}({', '.join(parts)}) -> {result}:"
    if len(line) > 106:
        inner = f"    {', '.join(parts)}"
        if len(inner) > 110:
            inner = "\n".join(f"    {part}," for part in parts)
        line = f"def {name}(\n{inner}\n) -> {result}:"
    if doc:
        quoted = f'    """{doc}{" " if doc.endswith(chr(34)) else ""}"""'
        return f"{before}{line}\n{quoted}"
    return f"{before}{line} ..."


def _parameter(p: Parameter, kind: str) -> str:
    if p.default is Parameter.empty:
        return f"{_STARS.get(p.kind, '')}{p.name}: {kind}"
    known = type(p.default) in _LITERAL and (type(p.default) is not float or isfinite(p.default))
    return f"{p.name}: {kind} = {p.default!r}" if known else f"{p.name}: {kind} = ..."


def _with_stars(parameters: Sequence[Parameter], texts: Sequence[str]) -> list[str]:
    """Return the texts of parameters, with a star before the first that takes no positional argument."""
    found: list[str] = []
    for p, text in zip(parameters, texts, strict=True):
        if p.kind is Parameter.KEYWORD_ONLY and not any(t[0] == "*" for t in found):
            found.append("*")
        found.append(text)
    return found


def _by_flag(name: str, parameters: list[Parameter], texts: list[str], at: int, usual: str, other: str) -> str:
    """Return the overloads of a function whose result a flag decides."""
    flag = parameters[at]
    before, after = [*zip(parameters, texts, strict=True)][:at], [*zip(parameters, texts, strict=True)][at + 1 :]

    def overload(first: list[tuple[Parameter, str]], own: str, result: str, *, named: bool = False) -> str:
        kind = Parameter.KEYWORD_ONLY if named else flag.kind
        rest = [(p.replace(kind=kind) if named else p, t) for p, t in after]
        chosen = [*first, (flag.replace(kind=kind), own), *rest]
        parts = _with_stars([p for p, _ in chosen], [t for _, t in chosen])
        return definition(name, parts, result, before="@overload\n")

    found = [overload(before, f"{flag.name}: Literal[False] = False", usual)]
    found.append(overload(before, f"{flag.name}: Literal[True]", other, named=True))
    if flag.kind is not Parameter.KEYWORD_ONLY and any("=" in t for _, t in before):
        given = [(p, t.partition(" = ")[0]) for p, t in before]
        found.append(overload(given, f"{flag.name}: Literal[True]", other))
    found.append(overload(before, f"{flag.name}: _bool = False", "Any"))
    return "\n".join(found)
