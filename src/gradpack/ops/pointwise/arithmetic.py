"""Arithmetic, element by element, with broadcasting. Division stands in a file of its own."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base.dtypes import BOOL, FLOATING
from ...base.errors import not_implemented_for
from ...base.info import number_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from .operands import factor_for, is_bool, is_complex, is_number, select

FUNCTIONS = "add sub mul neg positive reciprocal square rsub lerp addcmul addcdiv"
METHODS = "add sub mul neg positive reciprocal square lerp addcmul addcdiv"
INPLACE = "add_ sub_ mul_ neg_ reciprocal_ square_ lerp_ addcmul_ addcdiv_"
ALIASES = {"subtract": "sub", "multiply": "mul", "negative": "neg"}
OPERATORS = {"__sub__": "sub", "__rsub__": "rsub", "__neg__": "neg", "__pos__": "positive"}
INPLACE_OPERATORS = {"__isub__": "sub"}
BINARY_OPERATORS = "add:add mul:mul"


def _check_alpha(op: Any, values: Any, common: Any) -> None:
    check_factor(op, "alpha", values[2], common)


def check_factor(op: Any, label: str, alpha: Any, common: Any) -> None:
    """Raise RuntimeError if a factor of an operation is of a higher category than its result, or a bool for numbers."""
    if isinstance(alpha, bool):
        if common.category != BOOL:
            raise RuntimeError(
                f"Boolean {label} only supported for Boolean results. ({op.name}() would give {common.name}.)"
            )
    elif isinstance(alpha, complex) and not common.is_complex:
        raise RuntimeError(
            f"For non-complex input tensors, argument {label} must not be a complex number. ({op.name}() got {alpha}.)"
        )
    elif isinstance(alpha, float) and common.category < FLOATING:
        raise RuntimeError(
            f"For integral input tensors, argument {label} must not be a floating point number. "
            f"({op.name}() got {alpha}.)"
        )
    elif alpha != 1 and isinstance(alpha, int | float):
        number_for(alpha, common)


def _check_difference(op: Any, values: Any, common: Any) -> None:
    found = [is_bool(v) for v in values[:2]]
    if all(found):
        raise RuntimeError(
            f"Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            f"operator instead. ({op.name}())"
        )
    if any(found):
        raise RuntimeError(
            f"Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            f"use the `~` or `logical_not()` operator instead. ({op.name}())"
        )
    _check_alpha(op, values, common)


def _check_negation(op: Any, values: Any, common: Any) -> None:
    if common.category == BOOL:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            f"the `~` or `logical_not()` operator instead. ({op.name}())"
        )


def _times(array: Any, alpha: Any) -> Any:
    """`array * alpha`; raises if `alpha` is of a higher category (float for integers, complex for reals)."""
    if isinstance(alpha, Tensor) or (isinstance(alpha, complex) and not is_complex(array)):
        raise TypeError("alpha is a number of the kind of the tensors")
    return array * factor_for(alpha, array)


_sum = partial(elementwise, rounds=True, refuses="unsigned", legacy="alpha", int64=True, warns=False, numbers=True)


@_sum(input=lambda g: g, other=lambda g, alpha: g if alpha == 1 else g * alpha, check=_check_alpha, ufunc=np.add)
def add(input: Array, other: Array, *, alpha: Any = 1) -> Any:
    """`input + alpha * other`.

    Raises:
        RuntimeError: for shapes that do not broadcast, or an `alpha` that is no number of the tensors' kind.

    Example::

        >>> import gradpack as torch
        >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), alpha=10)
        tensor([31., 42.])
    """
    return input + other if alpha == 1 else input + _times(other, alpha)


@_sum(
    input=lambda g: g,
    other=lambda g, alpha: -g if alpha == 1 else g * -alpha,
    check=_check_difference,
    ufunc=np.subtract,
)
def sub(input: Array, other: Array, *, alpha: Any = 1) -> Any:
    """`input - alpha * other`.

    Raises:
        RuntimeError: for shapes that do not broadcast, for bool tensors (use `^`, `~` or `logical_xor`), or an
            `alpha` that is no number of the tensors' kind.

    Example::

        >>> import gradpack as torch
        >>> torch.sub(torch.tensor([1.0, 2.0]), 1)
        tensor([0., 1.])
    """
    return input - other if alpha == 1 else input - _times(other, alpha)


@elementwise(
    input=lambda g, alpha: -g if alpha == 1 else g * -alpha,
    other=lambda g: g,
    scalars=("other",),
    check=_check_difference,
    node="RsubBackward1",
    overloads={"other": "RsubBackward1", "": "RsubBackward0"},
    edges={"RsubBackward1": "input"},
    rounds=True,
    refuses="unsigned",
)
def rsub(input: Array, other: Array, *, alpha: Any = 1) -> Any:
    """`other - alpha * input`.

    Example::

        >>> import gradpack as torch
        >>> torch.rsub(torch.tensor([1.0, 2.0]), 1)
        tensor([ 0., -1.])
    """
    return other - input if alpha == 1 else other - _times(input, alpha)


@elementwise(
    input=lambda g, other: g * other,
    other=lambda g, input: g * input,
    int64=True,
    warns=False,
    numbers=True,
    ufunc=np.multiply,
)
def mul(input: Array, other: Array) -> Any:
    """`input * other`.

    Example::

        >>> import gradpack as torch
        >>> torch.mul(torch.tensor([1.0, 2.0]), torch.tensor([[3.0], [4.0]]))
        tensor([[3., 6.],
                [4., 8.]])
    """
    return input * other


@elementwise(input=lambda g: -g, check=_check_negation, refuses="unsigned", int64=True, warns=False, ufunc=np.negative)
def neg(input: Array) -> Any:
    """`-input`.

    Example::

        >>> import gradpack as torch
        >>> torch.neg(torch.tensor([1.0, -2.0]))
        tensor([-1.,  2.])
    """
    return -input


def positive(input: Tensor) -> Tensor:
    """The tensor itself.

    Raises:
        RuntimeError: for bool.

    Example::

        >>> import gradpack as torch
        >>> +torch.tensor([1.0])
        tensor([1.])
    """
    if is_bool(input):
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@elementwise(input=lambda g, out: -g * (out * out), result="float", refuses="complex32")
def reciprocal(input: Array) -> Any:
    """`1 / input`.

    Example::

        >>> import gradpack as torch
        >>> torch.reciprocal(torch.tensor([2.0, -4.0]))
        tensor([ 0.5000, -0.2500])
    """
    return 1 / input


@elementwise(
    input=lambda g, input: g * (input * 2),
    result=None,
    node="PowBackward0",
    refuses="unsigned complex32",
    saved_as="exponent=:2 self",
)
def square(input: Array) -> Any:
    """`input * input`; bool counts as int64.

    Example::

        >>> import gradpack as torch
        >>> torch.square(torch.tensor([2.0, -3.0]))
        tensor([4., 9.])
    """
    return input * input if input.dtype != np.bool else input * 1


def _check_lerp(op: Any, values: Any, common: Any) -> None:
    found = {p: v._spec.dtype for p, v in zip(op.params, values, strict=True) if isinstance(v, Tensor)}
    wanted, weight = found["input"], values[2]
    counts_as_number = isinstance(weight, Tensor) and not weight._shape and weight._spec.dtype.category <= FLOATING
    for name, dtype in found.items():
        if dtype is not wanted and not (name == "weight" and counts_as_number):
            raise RuntimeError(f"lerp(): expected dtype {wanted.name} for `{name}` but got dtype {dtype.name}")
    if wanted.category < FLOATING:
        raise not_implemented_for("lerp", wanted)


@elementwise(
    input=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, input, end: g * (end - input),
    scalars=("weight",),
    check=_check_lerp,
    node="LerpBackward1",
    overloads={"weight": "LerpBackward0", "": "LerpBackward1"},
    edges={"LerpBackward0": "input end"},
    refuses="complex32",
    saved_as={"LerpBackward0": "weight"},
)
def lerp(input: Array, end: Array, weight: Array) -> Any:
    """`input + weight * (end - input)`, computed from the nearer end so that a weight of 1 gives exactly `end`.

    Args:
        end: where a weight of 1 leads.
        weight: how far to go: a number, or a tensor that broadcasts.

    Raises:
        RuntimeError: for operands of different dtypes, and for integers (NotImplementedError).

    Example::

        >>> import gradpack as torch
        >>> torch.lerp(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), 0.5)
        tensor([2., 3.])
    """
    return (
        (input + weight * (end - input) if abs(weight) < 0.5 else end - (end - input) * (1 - weight))
        if is_number(weight)
        else _lerp(input, end, weight)
    )


def _lerp(input: Any, end: Any, weight: Any) -> Any:
    step = end - input
    return select(np.abs(weight) < 0.5, input + weight * step, end - step * (1 - weight))


_scaled = partial(elementwise, scalars=False, legacy="value")


@_scaled(
    input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * tensor2 if value == 1 else g * (tensor2 * value),
    tensor2=lambda g, tensor1, value: g * tensor1 if value == 1 else g * (tensor1 * value),
    dtypes="ifc",
    refuses="unsigned",
)
def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: int | float = 1) -> Any:
    """`input + value * tensor1 * tensor2`.

    Args:
        tensor1, tensor2: the factors; all broadcast.
        value: the factor of their product: a number.

    Example::

        >>> import gradpack as torch
        >>> torch.addcmul(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([3.0]), value=0.5)
        tensor([4.])
    """
    return input + (tensor1 * tensor2 if value == 1 else tensor1 * factor_for(value, tensor1) * tensor2)


def _check_addcdiv(op: Any, values: Any, common: Any) -> None:
    if all(isinstance(v, Tensor) and v._spec.dtype.category < FLOATING for v in values[1:3]):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported. For a true division use "
            "input + value * (tensor1 / tensor2); to round towards zero, div(rounding_mode='trunc')."
        )


@_scaled(
    input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (value / tensor2),
    tensor2=lambda g, tensor1, tensor2, value: -g * ((tensor1 * value) / (tensor2 * tensor2)),
    check=_check_addcdiv,
    refuses="unsigned complex32",
)
def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: int | float = 1) -> Any:
    """`input + value * tensor1 / tensor2`.

    Args:
        tensor1, tensor2: the dividend and the divisor; all broadcast.
        value: the factor of their quotient: a number.

    Raises:
        RuntimeError: if both `tensor1` and `tensor2` are of integers.

    Example::

        >>> import gradpack as torch
        >>> torch.addcdiv(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([4.0]), value=2)
        tensor([2.])
    """
    return input + (tensor1 / tensor2 if value == 1 else value * (tensor1 / tensor2))
