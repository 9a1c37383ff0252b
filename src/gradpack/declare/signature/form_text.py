"""Pieces of the text of public forms, and the function inside as they call it."""

from __future__ import annotations

from inspect import Parameter
from types import FunctionType
from typing import Any


def by_name(parameters: Any) -> str:
    """Return the source of a dict of the arguments."""
    return "{" + ", ".join(f"{name!r}: {name}" for name in parameters) + "}"


def first_name(parameters: Any) -> str:
    """Return the source of the first argument."""
    name, p = next(iter(parameters.items()))
    return f"({name}[0] if {name} else None)" if p.kind is Parameter.VAR_POSITIONAL else name


def all_given(parameters: Any) -> str:
    """Return the source of the arguments that pass on all parameters."""
    stars = {Parameter.VAR_POSITIONAL: "*{}", Parameter.VAR_KEYWORD: "**{}", Parameter.KEYWORD_ONLY: "{0}={0}"}
    return ", ".join(stars.get(p.kind, "{}").format(name) for name, p in parameters.items())


def in_memory(parameters: Any) -> list[str]:
    """Return parameter names in the order of a frame's local variables."""
    last = (Parameter.KEYWORD_ONLY, Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    order = sorted(parameters.values(), key=lambda p: last.index(p.kind) + 1 if p.kind in last else 0)
    return [p.name for p in order]


def all_positional(function: Any) -> Any:
    """Copy a function with all its parameters made positional: Python's fastest call."""
    code = function.__code__
    several = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
    code = code.replace(
        co_argcount=code.co_argcount + code.co_kwonlyargcount + several,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~0x0C,
    )
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
