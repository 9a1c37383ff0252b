"""Other ways to give arguments: NumPy's names, as `axis` for `dim`, and deprecated orders, as `x.add_(2, y)`.

`axis` is NumPy's name, which torch accepts in functions whose arguments its C++ parser reads. A required `dim` has no
default. It, and the required parameters after it, then default to `MISSING`, so that `gather(input, index=index,
axis=0)` is a call, and `gather(input)` is told what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any

from ...base.callers import warn_once
from ...core.tensor import Tensor
from ..op import Op
from .arguments import taken
from .missing import MISSING, refuse_missing

# These take `dim` alone: torch's are Python functions, or name `axis` differently.
TAKE_DIM = frozenset("norm split unique unique_consecutive".split())


NUMPYS_NAMES = {"x": "input", "a": "input", "x1": "input", "x2": "other"}


def in_numpys_names(given: Mapping[str, Any], more: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return arguments with those that were given by NumPy's names, which torch takes, too, and the other keywords.

    Args:
        given: by the names of parameters; `MISSING` for what is not given.
        more: other keywords.
    """
    found, rest = dict(given), dict(more)
    for name in more:
        meant = NUMPYS_NAMES.get(name, "")
        if found.get(meant) is MISSING:
            found[meant] = rest.pop(name)
    return found, rest


def numpys_parameters(parameters: Any, spelled: Any) -> list[str]:
    """Return the parameters that a wrapper has besides: NumPy's names of those of the function."""
    found = ["axis"] if spelled is not None and "axis" not in parameters else []
    return [*found, *(["keepdims"] if takes_keepdims(parameters, spelled) else [])]


def takes_keepdims(parameters: Any, spelled: Any) -> bool:
    """Return whether a wrapper takes `keepdims`, NumPy's name of `keepdim`, too."""
    return spelled is not None and "keepdim" in parameters and "keepdims" not in parameters


def lacking(params: Iterable[str], defaults: Mapping[str, Any]) -> list[str]:
    """Return the required parameters from `dim` on."""
    names = list(params)
    return [p for p in names[names.index("dim") :] if p not in defaults]


def check_text(required: list[str]) -> str:
    """Return the expression that is true if `axis` was given, or a required argument is missing."""
    return " or ".join(["axis is not None", *(f"{p} is _missing" for p in required)])


def dim_of(op: str, axis: Any, dim: Any, default: Any, rest: Mapping[str, Any], shown: Mapping[str, Parameter]) -> Any:
    """Return the dimension of a call, given as `dim` or as `axis`.

    Args:
        default: what `dim` is if it is not given.
        rest: other required arguments by name.
        shown: all parameters.

    Raises:
        TypeError: if both are given, or a required argument is missing.
    """
    if axis is not None and dim is not default:
        raise TypeError(f"{op}() got both 'dim' and 'axis', which are two names of one argument")
    found = dim if axis is None else axis
    refuse_missing(op, shown, {**rest, "dim": found})
    return found


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


def in_former_order(
    op: Op, name: str, function: Callable[..., Any], values: tuple[Any, ...], more: Mapping[str, Any]
) -> Any:
    """Call with the arguments in today's order, and `more` keywords. Warns once in a process, as torch does.

    Raises:
        TypeError: if the arguments match no known order.
    """
    assert op.legacy is not None
    roles = _ORDERS[op.legacy].get("".join("t" if isinstance(v, Tensor) else "n" for v in values))
    if roles is None:
        positional = len(op.params) - op.keyword_only
        text = f"{name}() takes {positional} positional arguments but {len(values)} were given"
        raise TypeError(f"{text}. It takes\n * {taken(signature(op.public).parameters)}")
    named = " and ".join(role for role in roles if role)
    warn_once("former", f"This overload of {name} is deprecated: give {named} by name, after the tensors")
    named_values = {role: value for role, value in zip(roles, values, strict=True) if role}
    return function(*(value for role, value in zip(roles, values, strict=True) if not role), **named_values, **more)
