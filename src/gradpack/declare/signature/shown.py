"""Signatures of operations, as `inspect.signature` shows them: worked out when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any, ParamSpec, TypeVar

from ..op import Op

_P = ParamSpec("_P")
_R = TypeVar("_R")


class LateSignature(Signature):
    """A signature that is made when it is first looked at: functions that nobody inspects pay nothing for it."""

    __slots__ = ("_made", "_make")

    _make: Callable[[], Signature]
    _made: Signature

    def __init__(self, make: Callable[[], Signature]) -> None:  # not the base's, which takes the parameters
        self._make = make

    def made(self) -> Signature:
        """Return the signature itself."""
        try:
            return self._made
        except AttributeError:
            self._made = self._make()
            return self._made

    @property
    def _parameters(self) -> Mapping[str, Parameter]:  # what the methods of the base read
        return self.made().parameters

    @property
    def _return_annotation(self) -> Any:
        return self.made().return_annotation

    def replace(self, **changes: Any) -> Signature:  # type: ignore[override]  # the names of changes are the base's
        return self.made().replace(**changes)

    def __reduce__(self) -> Any:
        return self.made().__reduce__()


def of_function(op: Op) -> LateSignature:
    """Return the signature of the public function of an operation: that of its body, and `out` where it is taken."""
    return LateSignature(partial(_of_function, op))


def of_form(op: Op, operator: bool) -> LateSignature:
    """Return the signature of an in-place form, or of an operator, which takes no options."""
    return LateSignature(partial(_of_form, op, operator))


def showing(example: Callable[_P, Any]) -> Callable[[Callable[..., _R]], Callable[_P, _R]]:
    """Return a decorator that shows the parameters of `example` for a function that takes `*args`."""

    def decorate(function: Any) -> Any:
        function.__wrapped__ = example
        return function

    return decorate


def also_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an example for `showing`: the parameters of a function, and `out`."""

    def example() -> None: ...

    example.__signature__ = LateSignature(partial(_with_out, function))  # type: ignore[attr-defined]
    return example


def _of_function(op: Op) -> Signature:
    return signature(op.forward) if op.view else _with_out(op.forward)


def _with_out(function: Callable[..., Any]) -> Signature:
    shown = signature(function)
    out = Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation="Any")
    return shown.replace(parameters=[*shown.parameters.values(), out])


def _of_form(op: Op, operator: bool) -> Signature:
    shown = signature(op.forward)
    taken = [p for p in shown.parameters.values() if not operator or p.kind is not Parameter.KEYWORD_ONLY]
    return shown.replace(parameters=[taken[0].replace(name="self"), *taken[1:]] if operator else taken)
