"""Operations on the bits of integers and bool; `frexp`, `ldexp`, `nextafter`, `gcd`, `lcm`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends import spec_of
from ...base import late
from ...base.dtypes import INTEGRAL
from ...base.errors import not_implemented_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise, general, linear, nondifferentiable
from ..reduce.kernels import float_kind
from .operands import zeros_for

FUNCTIONS = METHODS = (
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift "
    "frexp ldexp nextafter gcd lcm"
)
INPLACE = " ".join(f"{name}_" for name in METHODS.split() if name != "frexp")
OPERATORS = {"__invert__": "_inverted"}
BINARY_OPERATORS = "and:bitwise_and or:bitwise_or xor:bitwise_xor lshift:bitwise_left_shift rshift:bitwise_right_shift"

_BOTH = ("input", "other")


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="bi", data_movement=True, cost="cheap")
def bitwise_and(input: Array, other: Array) -> Any:
    """The bits that both have; for bool, `logical_and`.

    Raises:
        NotImplementedError: unless the operands are of integers or bool, as for all operations on bits.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([6, 5]) & 3
        tensor([2, 1])
    """
    return np.bitwise_and(input, other)


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="bi", data_movement=True, cost="cheap")
def bitwise_or(input: Array, other: Array) -> Any:
    """The bits that one of the two has; for bool, `logical_or`.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([6, 5]) | 3
        tensor([7, 7])
    """
    return np.bitwise_or(input, other)


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="bi", data_movement=True, cost="cheap")
def bitwise_xor(input: Array, other: Array) -> Any:
    """The bits in which the two differ; for bool, `logical_xor`.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([6, 5]) ^ 3
        tensor([5, 6])
    """
    return np.bitwise_xor(input, other)


@nondifferentiable(promote=("input",), dtypes="bi", data_movement=True, refuses="unsigned", cost="cheap")
def bitwise_not(input: Array) -> Any:
    """Bitwise complement; for bool, `logical_not`.

    Example::

        >>> import gradpack as torch
        >>> torch.bitwise_not(torch.tensor([0, 5]))
        tensor([-1, -6])
    """
    return np.bitwise_invert(input)


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="i", node="LshiftBackward0", refuses="unsigned")
def bitwise_left_shift(input: Array, other: Array) -> Any:
    """`input * 2 ** other`, dropping bits beyond the width of the dtype: 0 if all are shifted out.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1, 3]) << 2
        tensor([ 4, 12])
    """
    return np.left_shift(input, other)


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="i", node="RshiftBackward0", refuses="unsigned")
def bitwise_right_shift(input: Array, other: Array) -> Any:
    """`input / 2 ** other`, rounded down.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([4, -5]) >> 1
        tensor([ 2, -3])
    """
    return np.right_shift(input, other)


def _inverted(self: Tensor) -> Tensor:
    """`~self`: bitwise complement, logical for bool."""
    if self._spec.dtype.category > INTEGRAL:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


# -- floating-point representation, and integer divisors --


def _check_floating(op: Any, values: Any, common: Any) -> None:
    if not common.is_floating_point:
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, not {common.name}")


@general(
    input=lambda g, exponent: _lowered(g, exponent),
    jvp=lambda input_t, exponent: _lowered(input_t, exponent),
    results=("mantissa", "exponent"),
    differentiable=1,
    check=_check_floating,
)
def frexp(input: Array) -> Any:
    """`input` as `mantissa * 2 ** exponent` with a mantissa from 0.5 to 1, as a named tuple (mantissa, exponent).

    Raises:
        RuntimeError: unless the dtype is a floating-point one.

    Example::

        >>> import gradpack as torch
        >>> torch.frexp(torch.tensor([3.0, 0.0])).exponent
        tensor([2, 0], dtype=gradpack.int32)
    """
    mantissa, exponent = np.frexp(input)
    return mantissa, np.asarray(exponent, dtype=np.int32)


@linear(input=lambda g, exponent: _lowered(g, exponent), node="DivBackward0", name="_frexp_backward")
def _lowered(input: Array, exponent: Array) -> Any:
    """`input / 2 ** exponent`."""
    return input / np.exp2(np.astype(exponent, input.dtype))


@elementwise(
    input=lambda g, other: g * late.exp2(other),
    other=lambda g, out: g * (out * math.log(2)),
    result="float",
    scalars=False,
    refuses="complex32",
)
def ldexp(input: Array, other: Array) -> Any:
    """`input * 2 ** other`.

    Example::

        >>> import gradpack as torch
        >>> torch.ldexp(torch.tensor([1.0, 3.0]), torch.tensor([2, -1]))
        tensor([4.0000, 1.5000])
    """
    return input * np.exp2(other)


@elementwise(
    input=lambda g, input, other: late.where(late.eq(input, other), zeros_for(g), g),
    other=lambda g: zeros_for(g),
    dtypes="f",
    data_movement=True,
    scalars=False,
)
def nextafter(input: Array, other: Array) -> Any:
    """The next number after `input` towards `other` that the dtype can hold.

    Example::

        >>> import gradpack as torch
        >>> torch.nextafter(torch.tensor([1.0]), torch.tensor([2.0])) - 1
        tensor([1.1921e-07])
    """
    if not float_kind(input):
        raise not_implemented_for("nextafter", spec_of(input).dtype)
    return np.nextafter(input, other)


@nondifferentiable(promote=("input", "other"), scalars=False, dtypes="i", refuses="unsigned")
def gcd(input: Array, other: Array) -> Any:
    """The greatest common divisor; that of 0 and 0 is 0.

    Raises:
        NotImplementedError: unless both are integers.

    Example::

        >>> import gradpack as torch
        >>> torch.gcd(torch.tensor([12, -4]), torch.tensor([18, 0]))
        tensor([6, 4])
    """
    return np.gcd(input, other)


@nondifferentiable(promote=("input", "other"), scalars=False, dtypes="i", refuses="unsigned")
def lcm(input: Array, other: Array) -> Any:
    """The least common multiple; 0 where one of the two is.

    Raises:
        NotImplementedError: unless both are integers.

    Example::

        >>> import gradpack as torch
        >>> torch.lcm(torch.tensor([4, 3]), torch.tensor([6, 0]))
        tensor([12,  0])
    """
    return np.lcm(input, other)
