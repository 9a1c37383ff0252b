"""The other forms of an operation: method, in-place method, operator, `out=`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.errors import not_a_method_of
from ...core.properties import TensorBase
from ...core.tensor import Tensor
from ..decorators import copy_of
from ..dispatch.interpreter import apply
from ..op import REGISTRY, Op
from .inplace import inplace
from .text import function


def add_method(name: str, function: Callable[..., Any]) -> None:
    """Attach a method to the base of tensors. Refuses to overwrite one."""
    if is_taken(name, TensorBase):
        raise TypeError(f"Tensor.{name} exists already")
    setattr(TensorBase, name, function)


def is_taken(name: str, kind: type) -> bool:
    """Whether a class has an attribute of this name, of its own or from a base other than `object`."""
    return any(name in vars(k) for k in kind.__mro__[:-1])


def inplace_of(op: Op) -> Callable[..., Tensor]:
    """The in-place method of an operation: `add_` of `add`."""
    name = op.name + "_"

    method: Any = function(op, name, lambda values: inplace(op, name, list(values)))
    method.__module__ = op.forward.__module__
    method.__doc__ = f"In-place form of `{op.name}`: writes the result into this tensor and returns it."
    method.op = op
    return method


def operator_of(op: Op, name: str) -> Callable[..., Any]:
    """The operation as an operator: gives the other operand its turn when it cannot handle it."""

    def slow(values: tuple[Any, ...]) -> Any:
        if name in ("__radd__", "__rmul__"):
            _check_self(name, values[0])
        try:
            return apply(op, values)
        except TypeError as error:
            if str(error).startswith("Multiple dispatch failed") or "must be Tensor, not" in str(error):
                return NotImplemented
            raise

    return copy_of(op, name, slow)


def reflected_of(op: Op, name: str) -> Callable[..., Any]:
    """The operation with its operands exchanged: `__rsub__` of `sub`."""
    if op.name in ("add", "mul"):  # commute: the tensor stays the first operand, as in torch
        return operator_of(op, name)
    call = operator_of(op, name)
    checked = op.name.startswith("bitwise")

    def reflected(self: Tensor, other: Any) -> Any:
        if checked:
            _check_self(name, self)
        return call(other, self)

    reflected.__name__ = reflected.__qualname__ = name
    return reflected


def _check_self(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise not_a_method_of(name, value)


def inplace_operator_of(op: Op, name: str) -> Callable[..., Any]:
    """The in-place operator: `__iadd__` of `add`."""
    label = op.name + "_"

    def slow(values: tuple[Any, ...]) -> Any:
        if not isinstance(values[1], Tensor | int | float | complex) and not hasattr(values[1], "__array__"):
            return NotImplemented
        return inplace(op, label, list(values))

    return function(op, name, slow)


def op(name: str) -> Op:
    return REGISTRY[name]
