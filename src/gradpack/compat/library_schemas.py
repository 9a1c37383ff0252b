"""The schema of an operation from the annotations of a function, as `torch.library` writes it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any

from ..base.devices import device
from ..base.dtypes import dtype
from ..core.tensor import Tensor

_TYPES: dict[Any, str] = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    complex: "Scalar",
    dtype: "ScalarType",
    device: "Device",
    int | float | bool: "Scalar",
}


def infer_schema(prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None) -> str:
    """Return the schema of a function from its annotations: `(Tensor x, float k=2.) -> Tensor`.

    Args:
        prototype_function: the function; each of its parameters, and its result, has to have an annotation.
        mutates_args: names of the arguments that it writes to, or "unknown" for all tensors.
        op_name: what to put in front.

    Raises:
        ValueError: for a parameter without annotation, or with one that operations do not take.

    Example::

        >>> import gradpack as torch
        >>> def scaled(x: torch.Tensor, k: float = 2.0) -> torch.Tensor: ...
        >>> torch.library.infer_schema(scaled, mutates_args=())
        '(Tensor x, float k=2.) -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def fail(why: str) -> ValueError:
        return ValueError(f"infer_schema(func): {why} Got func with signature {signature})")

    hints = hints_of(prototype_function)
    params, keyword = [], False
    names = set(signature.parameters)
    if mutates_args != "unknown" and not set(mutates_args) <= names:
        odd = ", ".join(sorted(set(mutates_args) - names))
        raise fail(f"mutates_args should contain only the names of parameters: {odd} is none.")
    for nr, (name, p) in enumerate(signature.parameters.items()):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise fail("We do not support positional-only args, varargs, or varkwargs.")
        if p.kind is p.KEYWORD_ONLY and not keyword:
            keyword = True
            params.append("*")
        if p.annotation is inspect.Parameter.empty:
            raise fail(f"Parameter {name} must have a type annotation.")
        text = _type_text(hints[name])
        if text is None:
            raise fail(f"Parameter {name} has unsupported type {hints[name]}.")
        if text.startswith("Tensor") and (mutates_args == "unknown" or name in mutates_args):
            text = f"Tensor(a{nr}!)" + text.removeprefix("Tensor")
        params.append(f"{text} {name}" + ("" if p.default is p.empty else f"={_default_text(p.default)}"))
    result = hints.get("return", inspect.Signature.empty)
    if signature.return_annotation is inspect.Signature.empty:
        raise fail("No return type annotation was provided. Please add one.")
    made = f"({', '.join(params)}) -> {_result_text(result, fail)}"
    return made if op_name is None else op_name + made


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError as error:
        raise ValueError(f"infer_schema(func): an annotation names what is not defined: {error}") from None


def _type_text(kind: Any) -> str | None:
    if kind in _TYPES:
        return _TYPES[kind]
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):
        if set(args) == {int, float, bool}:
            return "Scalar"
        rest = [a for a in args if a is not type(None)]
        inner = _type_text(rest[0]) if len(rest) == 1 and len(args) == 2 else None
        return None if inner is None else inner + "?"
    if origin in (list, Sequence):
        inner = _type_text(args[0])
        return None if inner is None else inner + "[]"
    return None


def _result_text(kind: Any, fail: Callable[[str], ValueError]) -> str:
    if kind in (None, type(None)):
        return "()"
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    items = [_type_text(a) for a in args] if origin is tuple and Ellipsis not in args else [_type_text(kind)]
    if any(i is None or i.rstrip("[]") not in ("Tensor", "SymInt", "float", "bool", "Scalar") for i in items):
        raise fail(f"Return has unsupported type {kind}.")
    return f"({', '.join(map(str, items))})" if origin is tuple else str(items[0])


def _default_text(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return f"{value:.0f}." if value == int(value) else repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_default_text, value))}]"
    return str(value)
