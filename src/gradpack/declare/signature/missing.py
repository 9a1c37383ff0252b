"""Required arguments that a call lacks: the parameters have a default that says so, and errors list all parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from ...base.spelling import Sentinel
from .arguments import taken

if TYPE_CHECKING:
    from ..op import Op

MISSING = Sentinel("<missing>")  # the default of an argument that has to be given


def refuse_missing(label: str, parameters: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    """Raise if a value is `MISSING`.

    Args:
        label: what the function is called in messages.
        parameters: all that it takes.
        values: the arguments by name.

    Raises:
        TypeError: with the names of what is missing, and the parameters.
    """
    gone = [name for name, value in values.items() if value is MISSING]
    if gone:
        raise error_of(label, parameters, gone)


def refuse_missing_of(op: Op, label: str, values: Iterable[Any]) -> None:
    """Raise if one of the values of all parameters of an operation is `MISSING`."""
    named = dict(zip(op.params, values, strict=True))
    if any(value is MISSING for value in named.values()):
        refuse_missing(label, signature(op.public if label == op.name else op.forward).parameters, named)


def with_form(label: str, parameters: Mapping[str, Parameter], error: Exception) -> Exception | None:
    """Return Python's error for missing arguments, or too many, with the parameters; None for other errors."""
    called = re.escape(label.removeprefix("_method_"))
    found = re.fullmatch(rf"{called}\(\) (missing .*|takes (?:from )?\d+ .*)", str(error))
    if type(error) is not TypeError or found is None:
        return None
    return TypeError(f"{error}. It takes\n * {taken(parameters)}").with_traceback(error.__traceback__)


def error_of(label: str, parameters: Mapping[str, Parameter], gone: list[str]) -> TypeError:
    """Return the error for missing arguments: their names, and all parameters."""
    words = "argument" if len(gone) == 1 else "arguments"
    called = label.removeprefix("_method_")
    text = f"{called}() missing {len(gone)} required positional {words}: {', '.join(map(repr, gone))}"
    return TypeError(f"{text}. It takes\n * {taken(parameters)}")
