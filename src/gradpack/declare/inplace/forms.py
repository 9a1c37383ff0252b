"""The other forms of an operation: method, in-place method, operator, `out=`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from types import FunctionType
from typing import Any, NoReturn

from ...backends.numpy import NUMPY, hushed, unhush
from ...base.dtypes import int64
from ...base.errors import not_a_method_of
from ...base.modes import MODE
from ...core.parameter import Parameter
from ...core.properties import TensorBase
from ...core.tensor import Tensor
from ...kernels.dispatch import SEEN
from ..decorators import copy_of
from ..dispatch.interpreter import apply
from ..generate.profiling import timed
from ..op import REGISTRY, Op, compiled_at_first_call
from ..signature.aliases import in_former_order
from ..signature.arguments import unexpected
from ..signature.missing import MISSING
from ..signature.shown import of_form
from .inplace import inplace, recorded


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

    method: Any = function(op, name, lambda values: inplace(op, name, list(values)), partial(recorded, op, name))
    method.__module__ = "gradpack"
    method.__doc__ = f"In-place form of `{op.name}`: writes the result into this tensor and returns it."
    method.op = op
    method.__signature__ = of_form(op, operator=False)
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

    made: Any = copy_of(op, name, slow)
    made.__signature__ = of_form(op, operator=True)
    return made


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

    made: Any = function(op, name, slow, partial(recorded, op, label))
    made.__signature__ = of_form(op, operator=True)
    return made


def op(name: str) -> Op:
    return REGISTRY[name]


def function(
    op: Op, name: str, slow: Callable[[tuple[Any, ...]], Any], recorded: Callable[[tuple[Any, ...]], Any] | None = None
) -> FunctionType:
    """The in-place form of `op` as a function. Its text is made at the first call.

    Args:
        slow: takes what the text does not.
        recorded: takes calls on a target that has a grad_fn.
    """
    names: dict[str, Any] = {
        "__name__": "gradpack.ops",
        "_MODE": MODE.get,
        "_missing": MISSING,
        "_Tensor": Tensor,
        "_Parameter": Parameter,
        "_HUSHED": hushed,
        "_unhush": unhush,
        "_recorded": recorded or slow,
        "_seen": SEEN,
        "_INT64": NUMPY.spec_for(int64, NUMPY.device_of(None)),
    }
    names["_slow"] = timed(op, name, slow, names, in_place=True)

    @cache
    def large() -> Callable[..., Any]:
        from ..generate.fusion import of_body
        from ..generate.inline import Inlined

        return of_body(op, names["_forward"], Inlined(op).expression("forward"))

    def compile_now() -> None:
        from ..generate.emitter import Form, function_text

        source = function_text(op, Form(in_place=name))
        if source is None:
            former = ""
            if op.legacy is not None:
                former = (
                    f"if len(args) > {len(op.params) - op.keyword_only}: return _in_former_order(args, kwargs)\n    "
                )
            source = f"def {name}(*args, **kwargs):\n    {former}return _slow(_bind(args, kwargs))"
            names["_bind"] = op.bind
        names["_text"] = source
        names["_with_more"] = lambda values, more: _refuse_more(op, name, more)
        if op.legacy is not None:
            names["_in_former_order"] = lambda values, more: in_former_order(op, name, made, values, more)
        names["_ufunc"] = op.ufunc
        names["_forward"] = NUMPY.bind(op.forward)
        names["_forward_large"] = lambda *args, into: large()(*args, into=into)
        names.update({f"_default_{p}": v for p, v in op.defaults.items()})
        scratch = dict(names)
        exec(compile(source, f"<in-place op {op.name}>", "exec"), scratch)
        found = scratch[name]
        made.__defaults__, made.__kwdefaults__ = found.__defaults__, found.__kwdefaults__
        made.__code__ = found.__code__

    made = names["_function"] = compiled_at_first_call(name, names, compile_now)
    return made


def _refuse_more(op: Op, name: str, more: dict[str, Any]) -> NoReturn:
    """Raise for keywords that an in-place form does not take."""
    raise unexpected(name, signature(op.forward).parameters, more)
