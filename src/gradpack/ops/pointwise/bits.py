"""Operations on the bits of integers, and on bool."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import INTEGRAL
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import nondifferentiable

FUNCTIONS = "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift"
METHODS = FUNCTIONS
INPLACE = "bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_not_ bitwise_left_shift_ bitwise_right_shift_"
OPERATORS = {
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "__invert__": "_inverted",
}
REFLECTED = {
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
    "__rlshift__": "bitwise_left_shift",
    "__rrshift__": "bitwise_right_shift",
}
INPLACE_OPERATORS = {
    "__iand__": "bitwise_and",
    "__ior__": "bitwise_or",
    "__ixor__": "bitwise_xor",
    "__ilshift__": "bitwise_left_shift",
    "__irshift__": "bitwise_right_shift",
}

_BOTH = ("input", "other")


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="bi", structural=True, cost="cheap")
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


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="bi", structural=True, cost="cheap")
def bitwise_or(input: Array, other: Array) -> Any:
    """The bits that one of the two has; for bool, `logical_or`.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([6, 5]) | 3
        tensor([7, 7])
    """
    return np.bitwise_or(input, other)


@nondifferentiable(promote=_BOTH, scalars=True, dtypes="bi", structural=True, cost="cheap")
def bitwise_xor(input: Array, other: Array) -> Any:
    """The bits in which the two differ; for bool, `logical_xor`.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([6, 5]) ^ 3
        tensor([5, 6])
    """
    return np.bitwise_xor(input, other)


@nondifferentiable(promote=("input",), dtypes="bi", structural=True, refuses="unsigned", cost="cheap")
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
