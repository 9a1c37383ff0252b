"""Signatures with the types that the stub files have, and the parameters in them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, EnumType
from functools import cache
from types import FunctionType
from typing import Any, ForwardRef

from tools.stubs.modules import _named
from tools.stubs.signatures import function_text

from .names import Entry

_WIDTH = 88
_SHORTENED = {
    "_Sizes": "int | Sequence[int]",
    "_tensor_or_tensors": "Tensor | Iterable[Tensor]",
    "_FactorOfEpoch": "Callable[[int], float]",
    "Axes": "int | tuple[int, ...]",
    "Where": "device | str | None",
}
_SHORT = (bool, int, float, str, tuple, type(None))
# By module: the group of overloads, or the module, as the stub files name them.
_OWN = {
    "": "functions",
    "Tensor": "methods",
    "nn.functional": "functional",
    "linalg": "linalg",
    "fft": "fft",
    "special": "special",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function: its name, type and default as text."""

    name: str
    type: str
    default: str


@cache
def _result_types() -> frozenset[str]:
    return frozenset(_named())


def definitions(entry: Entry) -> list[str]:
    """Return the definitions of a function, one for each overload, or that of a class, without bodies."""
    text = ""
    if isinstance(entry.value, EnumType):
        return []
    if isinstance(entry.value, FunctionType) and entry.module in _OWN:
        method = entry.module == "Tensor"
        text = function_text(entry.name, entry.value, _result_types(), method=method, own=_OWN[entry.module])
    if not text:
        text = _inspected(entry)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        tree = ast.parse(_inspected(entry))
    taken = _taken(entry.value)
    return [_plain(ast.unparse(_head(node, taken))) for node in tree.body if isinstance(node, ast.FunctionDef)]


def _taken(value: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(value).parameters
    except (TypeError, ValueError):
        return {}


def _head(node: ast.FunctionDef, taken: Mapping[str, inspect.Parameter]) -> ast.FunctionDef:
    """Return a definition without its body, with the defaults that overloads leave out."""
    node.body = [ast.Expr(ast.Constant(...))]
    node.decorator_list = []
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    places = positional[len(positional) - len(a.defaults) :]
    a.defaults = [_default(taken.get(arg.arg), arg, d) or d for arg, d in zip(places, a.defaults, strict=True)]
    a.kw_defaults = [_default(taken.get(arg.arg), arg, d) for arg, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return node


def _default(real: inspect.Parameter | None, arg: ast.arg, shown: ast.expr | None) -> ast.expr | None:
    if real is None or shown is None or ast.unparse(shown) != "..." or not isinstance(real.default, _SHORT):
        return shown
    only_bool = arg.annotation is not None and ast.unparse(arg.annotation) in ("bool", "_bool")
    value = bool(real.default) if only_bool else real.default
    return ast.parse(repr(value), mode="eval").body


def _inspected(entry: Entry) -> str:
    """Return the definition of what is no declared operation, with the annotations that it has."""
    try:
        found = inspect.signature(entry.value)
    except (TypeError, ValueError):
        return ""
    parts = []
    for p in found.parameters.values():
        default = p.default if p.default is p.empty else _Shown(p.default)
        kind = p.annotation if p.annotation is p.empty else _Shown(p.annotation)
        parts.append(p.replace(default=default, annotation=kind))
    back = found.return_annotation
    if isinstance(entry.value, type) or back is found.empty:
        back = found.empty
    else:
        back = _Shown(back)
    text = f"def {entry.name}{found.replace(parameters=parts, return_annotation=back)}: ..."
    try:
        ast.parse(text)
    except SyntaxError:
        return ""
    return text


def call_of(function: Any) -> str:
    """Return the parameters of a method as a call shows them, such as `(input, hx=None)`."""
    parts = []
    for p in _taken(function).values():
        if p.name == "self" or p.name[0] == "_":
            continue
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        parts.append(f"{stars}{p.name}" + ("" if p.default is p.empty else f"={_Shown(p.default)!r}"))
    return f"({', '.join(parts)})"


class _Shown:
    """Stands for a default or an annotation in a signature, whose representation is not Python."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        value = self.value
        if isinstance(value, ForwardRef):
            value = value.__forward_arg__
        if isinstance(value, Enum):
            return str(value)
        if isinstance(value, str):
            value = re.sub(r"^InitVar\[(.*)\]$", r"\1", value)  # of a dataclass
            return value if re.search(r"[\[|A-Z]", value) or value in _TYPES else repr(value)
        if isinstance(value, type | FunctionType):
            return str(value.__name__).strip("<>")
        text = repr(value)
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            return "..."
        return text


_TYPES = {"int", "float", "bool", "str", "complex", "object", "None", "bytes", "dtype"}


def _plain(text: str) -> str:
    """Return a definition as users write the types, in lines that fit a page."""
    text = re.sub(r"\b_(bool|int|float|complex|dtype|layout|Device|memory_format|Index)\b", r"\1", text)
    for short, long in _SHORTENED.items():
        text = re.sub(rf"'?\b{short}\b'?", long, text)
    text = re.sub(r"\b_Scalar\b", "Number", text).replace("'Array'", "Tensor").replace("Array", "Tensor")
    text = re.sub(r"\.\.\.$", "", text.replace(":\n    ...", "").removeprefix("def ")).strip()
    tree = ast.parse(f"def {text}: ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    lines = _parameters_of(tree.args)
    back = f" -> {ast.unparse(tree.returns)}" if tree.returns else ""
    line = f"{tree.name}({', '.join(lines)}){back}"
    if len(line) <= _WIDTH:
        return line
    return f"{tree.name}(\n" + "".join(f"    {line},\n" for line in lines) + f"){back}"


def _parameters_of(arguments: ast.arguments) -> list[str]:
    """Return the parameters of a definition as they are written, with the stars between them."""
    lines = []
    for p in parameters_in(arguments):
        kind, default = (f": {p.type}" if p.type else ""), (f" = {p.default}" if p.default else "")
        lines.append(f"{p.name}{kind}{default}")
    if arguments.kwonlyargs and not arguments.vararg:
        at = len(arguments.posonlyargs) + len(arguments.args)
        lines.insert(at, "*")
    if arguments.posonlyargs:
        lines.insert(len(arguments.posonlyargs), "/")
    return lines


def parameters_in(arguments: ast.arguments) -> list[Parameter]:
    """Return the parameters of a definition in their order."""

    def one(arg: ast.arg, default: ast.expr | None, stars: str = "") -> Parameter:
        kind = ast.unparse(arg.annotation) if arg.annotation else ""
        return Parameter(stars + arg.arg, kind, ast.unparse(default) if default else "")

    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    found = [one(a, d) for a, d in zip(positional, missing + list(arguments.defaults), strict=True)]
    if arguments.vararg:
        found.append(one(arguments.vararg, None, "*"))
    found += [one(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    if arguments.kwarg:
        found.append(one(arguments.kwarg, None, "**"))
    return found


def parameters(texts: list[str]) -> list[Parameter]:
    """Return the parameters of all overloads, each once, in the order in which they appear."""
    found: dict[str, Parameter] = {}
    for text in texts:
        tree = ast.parse(f"def {text}: ...").body[0]
        assert isinstance(tree, ast.FunctionDef)
        for p in parameters_in(tree.args):
            if p.name != "self" and not p.name.startswith("_"):
                found.setdefault(p.name, p)
    return list(found.values())
