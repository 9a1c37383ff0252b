"""The other forms of an operation: method, in-place method, operator, `out=`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..base.callers import depth_of_user
from ..base.errors import not_a_method_of
from ..base.foreign import is_foreign, mixed
from ..base.modes import MODE, using
from ..tensor.described import TensorBase
from ..tensor.tensor import InferenceCounter, Tensor
from .apply import apply
from .batched import is_batched
from .inplace import inplace, write
from .inplace_text import function
from .kinds import copy_of
from .op import REGISTRY, Op
from .out_dtypes import APART, READ_FIRST, SILENT, check_out, is_followed_by_none
from .tangents import tangent_of
from .vmap_errors import NO_OUT
from .write_checks import check_overlap, check_repeats, check_writable, refuse_grad, tensors_in


def into(op: Op, out: Any, values: tuple[Any, ...]) -> Any:
    """Call an operation and write the result into the tensor, or tensors, given as `out=`."""
    outs = out if op.returns and isinstance(out, tuple | list) else (out,)
    for target in outs:
        if not isinstance(target, Tensor):
            if is_foreign(target):
                raise mixed(op.name)
            raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(target).__name__}")
    mode = MODE.get()
    if mode.levels and any(map(is_batched, (*outs, *tensors_in(list(values))))):
        raise RuntimeError(NO_OUT.format(op.name))
    given = tensors_in(list(values))
    if op.inputs or not is_followed_by_none(op.name):
        refuse_grad(op.name, *outs, *(given if op.inputs else ()))
    if mode.forward and any(tangent_of(t) is not None for t in (*given, *outs)):
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name}_out that does not support it because it is an out= function"
        )
    if op.name not in READ_FIRST:
        for target in outs:
            check_overlap(target, given, op.name in APART)
    with using(autocast=None):  # which leaves `out=` forms alone
        result = apply(op, values)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(outs):
        raise TypeError(f"{op.name}(): expected {len(results)} tensors as 'out', got {len(outs)}")
    # What makes real numbers of complex ones is a loop of its own in torch, which converts.
    name = "out" if op.result == "real" and op.kind == "elementwise" and given[0]._spec.dtype.is_complex else op.name
    if len(outs) > 1:
        for target, value in zip(outs, results, strict=True):
            check_out(name, target, value)
    for target, value in zip(outs, results, strict=True):
        put(name, target, value)
    return out


def put(name: str, target: Tensor, value: Tensor) -> None:
    """Write `value` into `target`, resizing it if its shape differs."""
    free = is_followed_by_none(name)
    if not free:
        refuse_grad(name, target, value)
    if target._spec is not value._spec:
        if target._spec.device != value._spec.device:
            raise RuntimeError(
                f"{name}(): Expected out tensor to have device {value._spec.device}, but got {target._spec.device} "
                "instead: make `out` on the device of the operands"
            )
        check_out(name, target, value)
    if target._shape != value._shape:
        check_repeats(target)
        if target.numel() and name not in SILENT:
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(target._shape)}, which "
                f"does not match the required output shape {list(value._shape)}. This behavior is deprecated, and in a "
                "future PyTorch release outputs will not be resized unless they have zero elements. Resize it first: "
                "out.resize_(0).",
                UserWarning,
                stacklevel=depth_of_user(),
            )
        backend = target._spec.backend
        target._data = backend.copy(backend.cast(value._data, target._spec.dtype))
        target._shape = value._shape
        if type(target._counter) is not InferenceCounter:
            target._counter[0] += 1
    else:
        check_writable(target.detach() if free else target, name)
        write(target, value._data)


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
