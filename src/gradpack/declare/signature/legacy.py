"""Deprecated argument orders that torch still accepts: `x.add_(2, y)` for `x.add_(y, alpha=2)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.callers import warn_once
from ...core.tensor import Tensor
from ..op import Op

# For tensors (t) and numbers (n) in this order: what each is given as; "" by position.
_ALPHA: dict[str, tuple[str, ...]] = {"tnt": ("", "alpha", ""), "tnn": ("", "alpha", "")}
_VALUE: dict[str, tuple[str, ...]] = {"tntt": ("", "value", "", "")}
_BETA: dict[str, tuple[str, ...]] = {
    "tntt": ("", "beta", "", ""),
    "tnntt": ("", "beta", "alpha", "", ""),
    "nttt": ("beta", "", "", ""),
    "ntntt": ("beta", "", "alpha", "", ""),
}
_ORDERS = {"alpha": _ALPHA, "value": _VALUE, "beta": _BETA}


def call(op: Op, name: str, function: Callable[..., Any], values: tuple[Any, ...], out: Any = None) -> Any:
    """Call with the arguments in today's order. Warns once in a process, as torch does.

    Raises:
        TypeError: if the arguments match no known order.
    """
    assert op.legacy is not None
    roles = _ORDERS[op.legacy].get("".join("t" if isinstance(v, Tensor) else "n" for v in values))
    if roles is None:
        positional = len(op.params) - op.keyword_only
        raise TypeError(f"{name}() takes {positional} positional arguments but {len(values)} were given")
    named = " and ".join(role for role in roles if role)
    warn_once("former", f"This overload of {name} is deprecated: give {named} by name, after the tensors")
    named_values = {role: value for role, value in zip(roles, values, strict=True) if role}
    if out is not None:
        named_values["out"] = out
    return function(*(value for role, value in zip(roles, values, strict=True) if not role), **named_values)
