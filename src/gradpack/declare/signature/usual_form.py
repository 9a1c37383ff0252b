"""The public form of a function that decorators made ready for unusual modes: in the usual one they are left out.

A decorator that calls its function as it is unless a mode is active names that function as `usual`; and as `unless` a
list that is empty if nothing else is active. The text looks at the mode once, and calls the innermost function:

    def linspace(start=_missing, end=_missing, steps=_missing, *_rest, dtype=_default_dtype, ..., **_more):
        if _more or _rest or _MODE().leaves_fast_path or start is _missing or ...:
            return _general({'start': start, ...}, _rest, _more)
        try: return _usual(start, end, steps, dtype, ...)
        except Exception as _error: ... raise _explained(_error, {'start': start, ...})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import CO_VARKEYWORDS, Parameter
from typing import Any

from .missing import MISSING

_TEXT = """\
def _call({signature}):
    if {test}:
        return _general({values}, {rest}, _more)
    try: return _usual({arguments})
    except Exception as _error:
        if _found := _tensor_likes(_error, {values}): return _asked(_found, {values})
        raise _explained(_error, {values})
"""

Parameters = Mapping[str, Parameter]


def usual_of(function: Any) -> Any:
    """Return the innermost function of one whose decorators say which they call in the usual mode; None for others."""
    if not hasattr(function, "usual") and not hasattr(getattr(function, "inside", None), "usual"):
        return None
    while hasattr(function, "usual") or hasattr(function, "inside"):
        function = function.usual if hasattr(function, "usual") else function.inside
    return None if function.__code__.co_flags & CO_VARKEYWORDS else function


def usual_text(own: Parameters, tests: list[str], arguments: str, values: str) -> str:
    """Return the text of the public form.

    Args:
        own: the parameters of the innermost function.
        tests: expressions that are true of calls that are not the usual ones.
        arguments: those of the call of the innermost function.
        values: a dict of them.
    """
    several = any(p.kind is Parameter.VAR_POSITIONAL for p in own.values())
    test = " or ".join(["_more", *([] if several else ["_rest"]), "_MODE().leaves_fast_path", *tests])
    rest = "()" if several else "_rest"
    return _TEXT.format(signature=_signature(own), test=test, rest=rest, arguments=arguments, values=values)


def _signature(own: Parameters) -> str:
    """Return the parameters of the public form, which takes arguments that the function does not have, too."""
    parts = [f"{n}={_default(n, p)}" for n, p in own.items() if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    parts.append(next((f"*{n}" for n, p in own.items() if p.kind is Parameter.VAR_POSITIONAL), "*_rest"))
    parts += [f"{n}={_default(n, p)}" for n, p in own.items() if p.kind is Parameter.KEYWORD_ONLY]
    return ", ".join([*parts, "**_more"])


def _default(name: str, parameter: Parameter) -> str:
    return "_missing" if parameter.default is Parameter.empty else f"_default_{name}"


def passing_on(general: Callable[..., Any], own: Parameters) -> Callable[..., Any]:
    """Return a function of values by parameter, and what else was given, that calls `general` with the arguments."""

    def call(values: dict[str, Any], rest: tuple[Any, ...], more: dict[str, Any]) -> Any:
        args: list[Any] = []
        defaults: list[Any] = []  # passed on only if an argument after them was given
        kwargs = {}
        missing = False
        for name, p in own.items():
            value = values[name]
            if value is MISSING:
                missing = True
            elif p.kind is Parameter.VAR_POSITIONAL:
                args += value
            elif p.kind is Parameter.KEYWORD_ONLY or missing:
                if value is not p.default:
                    kwargs[name] = value
            elif value is p.default:
                defaults.append(value)
            else:
                args += [*defaults, value]
                defaults.clear()
        return general(*args, *(defaults if rest else ()), *rest, **kwargs, **more)

    return call
