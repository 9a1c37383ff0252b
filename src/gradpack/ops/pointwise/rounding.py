"""Absolute values, signs, rounding, and the choice between two tensors.

Limits and the parts of complex numbers stand in files of their own.
"""

from __future__ import annotations

import builtins
import math
import warnings
from typing import Any

import numpy as np

from ...base import late
from ...base.callers import depth_of_user
from ...base.dtypes import bool_, uint8
from ...base.errors import not_a_tensor, scalar_type
from ...base.info import number_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.batch_tensor import is_batched
from ...declare.batching.vmap_fallback import dynamic_shape
from ...declare.decorators import elementwise, linear, nondifferentiable
from ...declare.generate.fusion import compiled
from ...declare.inplace.inplace import inplace
from .blockwise import is_numpy
from .complex_parts import PROPERTIES
from .operands import LARGE, is_complex, is_number, is_whole, no_gradient, select, zeros_for

FUNCTIONS = "abs sign sgn floor ceil round trunc frac copysign signbit heaviside where"
METHODS = FUNCTIONS
INPLACE = "abs_ sign_ sgn_ floor_ ceil_ round_ trunc_ frac_ copysign_ heaviside_"
ALIASES = {"absolute": "abs", "fix": "trunc"}
OPERATORS: dict[str, Any] = {"__abs__": "abs"}


@elementwise(
    input=lambda g, input: g * sgn(input),
    jvp=lambda input_t, input: late.real(input_t * late.conj_physical(sgn(input))),
    result="real",
    holomorphic=False,
    dtypes="ifc",
    refuses="unsigned",
    compares=True,
    ufunc=np.absolute,
    int64=True,
)
def abs(input: Array) -> Any:
    """The absolute value; the gradient at 0 is 0.

    Raises:
        NotImplementedError: for bool.

    Example::

        >>> import gradpack as torch
        >>> torch.abs(torch.tensor([1.0, -2.0]))
        tensor([1., 2.])
    """
    return np.abs(input)


def _method_abs_(self: Tensor) -> Tensor:
    """In-place form of `abs`.

    Raises:
        RuntimeError: for complex numbers.
    """
    if self._spec.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return inplace(abs.op, "abs_", [self])


def _sign_of_large(plain: Any, input: Any) -> Any:
    made = compiled(_sign_of_number, input)
    return plain(input) if made is None else made


def _sign_of_number(x: Any) -> Any:
    return np.where(x > 0, 1.0, np.where(x < 0, -1.0, 0.0))


@elementwise(input=lambda g: zeros_for(g), dtypes="bif", blocks=_sign_of_large, refuses="unsigned", int64=True)
def sign(input: Array) -> Any:
    """-1, 0 or 1; 0 for NaN.

    Raises:
        NotImplementedError: for complex numbers: use `sgn`.

    Example::

        >>> import gradpack as torch
        >>> torch.sign(torch.tensor([-3.0, 0.0, 2.0]))
        tensor([-1.,  0.,  1.])
    """
    if is_numpy(input) and input.size < LARGE and input.dtype.kind == "f":
        made = np.sign(input)
        flat = made.reshape(-1)
        if flat.dot(flat) < math.inf:  # without NaN, whose sign is NaN
            return made
    above, below = input > 0, input < 0
    if input.dtype == above.dtype:
        return above  # bool
    if is_numpy(above):
        return np.astype(above.view(np.int8) - below.view(np.int8), input.dtype)
    steps = np.asarray(above, dtype=np.int8) - np.asarray(below, dtype=np.int8)  # int8 first: less memory traffic
    return np.asarray(steps, dtype=input.dtype)


def _sgn_slope(g: Any, input: Any, out: Any) -> Any:
    """The gradient of `sgn`: the part of `g` tangential to the unit circle, over `abs(input)`; zeros for reals."""
    if not is_complex(input):
        return zeros_for(g)
    size = abs(input)
    return where(late.eq(size, 0), 0.0, (g - out * late.real(g * late.conj_physical(out))) / size)


@elementwise(input=_sgn_slope, holomorphic=False, refuses="unsigned", compares=True)
def sgn(input: Array) -> Any:
    """`sign`; of a complex number, the number of length 1 in the same direction, and 0 at 0.

    Example::

        >>> import gradpack as torch
        >>> torch.sgn(torch.tensor([3 + 4j, 0j]))
        tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    if not is_complex(input):
        return sign(input)
    size = np.abs(input)
    return input / np.where(size == 0, 1.0, size)


@elementwise(input=lambda g: zeros_for(g), dtypes="if", ufunc=np.floor)
def floor(input: Array) -> Any:
    """The next whole number below.

    Example::

        >>> import gradpack as torch
        >>> torch.floor(torch.tensor([1.5, -1.5]))
        tensor([ 1., -2.])
    """
    return np.floor(input)


@elementwise(input=lambda g: zeros_for(g), dtypes="if", ufunc=np.ceil)
def ceil(input: Array) -> Any:
    """The next whole number above.

    Example::

        >>> import gradpack as torch
        >>> torch.ceil(torch.tensor([1.5, -1.5]))
        tensor([ 2., -1.])
    """
    return np.ceil(input)


@elementwise(input=lambda g: zeros_for(g), dtypes="if")
def trunc(input: Array) -> Any:
    """The next whole number towards 0.

    Example::

        >>> import gradpack as torch
        >>> torch.trunc(torch.tensor([1.5, -1.5]))
        tensor([ 1., -1.])
    """
    return np.trunc(input)


@elementwise(input=lambda g: zeros_for(g), dtypes="if")
def round(input: Array, *, decimals: int = 0) -> Any:
    """The nearest whole number, the even one of two that are equally near.

    Args:
        decimals: round to this many digits after the point (before it, if negative).

    Raises:
        NotImplementedError: for integers with `decimals`.

    Example::

        >>> import gradpack as torch
        >>> torch.round(torch.tensor([0.5, 1.5, 2.6]))
        tensor([0., 2., 3.])
        >>> torch.round(torch.tensor([1.234]), decimals=2)
        tensor([1.2300])
    """
    return np.round(input) if decimals == 0 else _to_decimals(input, decimals)


def _to_decimals(input: Any, decimals: int) -> Any:
    if is_whole(input):
        raise NotImplementedError(f"round() with decimals={decimals} is not implemented for integers")
    scale = 10.0 ** builtins.abs(decimals)
    return np.round(input * scale) / scale if decimals > 0 else np.round(input / scale) * scale


@elementwise(input=lambda g: g, dtypes="f")
def frac(input: Array) -> Any:
    """The fractional part, with the sign of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.frac(torch.tensor([1.5, -1.25]))
        tensor([ 0.5000, -0.2500])
    """
    return input - np.trunc(input)


@elementwise(
    input=lambda g, input, out: g * where(late.eq(input, 0), 0.0, out / input),
    other=lambda g: zeros_for(g),
    result="float",
    scalars=("other",),
    dtypes="bif",
    compares=True,
)
def copysign(input: Array, other: Array) -> Any:
    """The absolute value of `input` with the sign of `other`, which -0.0 has too.

    Example::

        >>> import gradpack as torch
        >>> torch.copysign(torch.tensor([1.0, -2.0]), torch.tensor([-0.0, 3.0]))
        tensor([-1.,  2.])
    """
    return np.copysign(input, other)


@nondifferentiable(result="bool", promote=("input",), dtypes="bif", cost="cheap")
def signbit(input: Array) -> Any:
    """Where the sign is negative, of -0.0 too.

    Example::

        >>> import gradpack as torch
        >>> torch.signbit(torch.tensor([1.0, -1.0, -0.0]))
        tensor([False,  True,  True])
    """
    return input < 0 if is_whole(input) else np.signbit(input)


@elementwise(
    input=lambda g: no_gradient("heaviside"),
    values=lambda g: no_gradient("heaviside"),
    scalars=False,
    same_dtype="heaviside is not yet implemented for tensors with different dtypes.",
    dtypes="bif",
    node="NotImplemented",
    refuses="unsigned",
)
def heaviside(input: Array, values: Array) -> Any:
    """0 below 0, 1 above, and `values` at 0; as in torch it has no derivative.

    Args:
        values: the values at 0, of the dtype of `input` and a shape that broadcasts.

    Raises:
        RuntimeError: for operands of different dtypes, and in backward.

    Example::

        >>> import gradpack as torch
        >>> torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([0.5]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return np.where(input == 0, values, np.astype(input > 0, values.dtype))


def _check_numbers(op: Any, values: Any, common: Any) -> None:
    for value in values[1:]:
        if isinstance(value, int | float | complex):
            number_for(value, common)


@linear(
    input=lambda g, condition: where(condition, g, 0.0),
    other=lambda g, condition: where(condition, 0.0, g),
    scalars=True,
    broadcasts=True,
    name="where",
    check=_check_numbers,
    int64=True,
)
def _where(condition: Array, input: Array, other: Array) -> Any:
    """`input` where `condition` holds, `other` elsewhere.

    Example::

        >>> import gradpack as torch
        >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
        tensor([1., 0.])
    """
    return select(condition, input, other)


def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """`input` where `condition` holds, `other` elsewhere; both may be numbers, and all broadcast.

    With a condition alone: the indices of its true elements, one tensor for each dimension.

    Args:
        condition: a tensor of bools.
        input: what to take where it is True: a tensor, or a number.
        other: what to take elsewhere: a tensor, or a number.

    Raises:
        RuntimeError: for a condition that is not of bool, or shapes that do not broadcast.
        TypeError: if only one of `input` and `other` is given.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([-1.0, 2.0])
        >>> torch.where(x > 0, x, 0.0)
        tensor([0., 2.])
        >>> torch.where(x > 0)
        (tensor([1]),)
    """
    if input is None or other is None:
        if input is not other:
            raise TypeError("where() takes a condition alone, or a condition and two operands: one operand is missing")
        if is_batched(condition):
            raise dynamic_shape("where")
        from ..index.masked import nonzero

        return nonzero(condition, as_tuple=True)
    if isinstance(condition, Tensor):
        if condition._spec.dtype is not bool_:
            condition = _as_condition(condition)
    elif is_number(condition):
        raise not_a_tensor("where", "condition", 1, condition)
    return _where(condition, input, other) if out is None else _where(condition, input, other, out=out)


def _as_condition(condition: Tensor) -> Any:
    if condition._spec.dtype is not uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + scalar_type(condition._spec.dtype)
        )
    warnings.warn(
        "where received a uint8 condition tensor. This behavior is deprecated: use a boolean condition instead.",
        UserWarning,
        stacklevel=depth_of_user(),
    )
    return late.ne(condition, 0)


where.op = _where.op  # type: ignore[attr-defined]  # in formulas on arrays it is the body, without a detour


def _method_where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor where `condition` holds, `other` elsewhere.

    Args:
        condition: a tensor of bools.
        other: a tensor, or a number.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([-1.0, 2.0])
        >>> x.where(x > 0, 0.0)
        tensor([0., 2.])
    """
    return where(condition, self, other)


OPERATORS.update(PROPERTIES)
