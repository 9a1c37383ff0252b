"""The larger and the smaller of two tensors, element by element."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import elementwise

FUNCTIONS = "maximum minimum fmax fmin"
METHODS = FUNCTIONS


# Numbers are refused, as in torch: `clamp` takes them.
_larger_or_smaller = partial(elementwise, scalars=False, dtypes="bif", refuses="unsigned", compares=True)


@_larger_or_smaller(
    input=lambda g, input, other: late.where(late.eq(input, other), g / 2, late.where(late.lt(input, other), 0.0, g)),
    other=lambda g, input, other: late.where(late.eq(input, other), g / 2, late.where(late.lt(other, input), 0.0, g)),
    int64=True,
)
def maximum(input: Array, other: Array) -> Any:
    """The larger of two elements; NaN if one of them is. Equal ones get half of the gradient each.

    Raises:
        RuntimeError: for shapes that do not broadcast; for complex numbers (NotImplementedError).

    Example::

        >>> import gradpack as torch
        >>> torch.maximum(torch.tensor([1.0, 4.0]), torch.tensor([2.0, 3.0]))
        tensor([2., 4.])
    """
    return np.maximum(input, other)


@_larger_or_smaller(
    input=lambda g, input, other: late.where(late.eq(input, other), g / 2, late.where(late.lt(other, input), 0.0, g)),
    other=lambda g, input, other: late.where(late.eq(input, other), g / 2, late.where(late.lt(input, other), 0.0, g)),
    int64=True,
)
def minimum(input: Array, other: Array) -> Any:
    """The smaller of two elements: as `maximum`.

    Example::

        >>> import gradpack as torch
        >>> torch.minimum(torch.tensor([1.0, 4.0]), torch.tensor([2.0, 3.0]))
        tensor([1., 3.])
    """
    return np.minimum(input, other)


@_larger_or_smaller(
    input=lambda g, input, other: late.where(_takes(late.ge(input, other), other), g, 0.0),
    other=lambda g, input, other: late.where(_takes(late.ge(input, other), other), 0.0, g),
)
def fmax(input: Array, other: Array) -> Any:
    """The larger of two elements; the other one where one is NaN. `input` gets the gradient of equal ones.

    Example::

        >>> import gradpack as torch
        >>> torch.fmax(torch.tensor([1.0, float("nan")]), torch.tensor([2.0, 3.0]))
        tensor([2., 3.])
    """
    return np.where((input >= other) | (other != other), input, other)  # noqa: PLR0124 - only NaN differs from itself


@_larger_or_smaller(
    input=lambda g, input, other: late.where(_takes(late.le(input, other), other), g, 0.0),
    other=lambda g, input, other: late.where(_takes(late.le(input, other), other), 0.0, g),
)
def fmin(input: Array, other: Array) -> Any:
    """The smaller of two elements; the other one where one is NaN: as `fmax`.

    Example::

        >>> import gradpack as torch
        >>> torch.fmin(torch.tensor([1.0, float("nan")]), torch.tensor([2.0, 3.0]))
        tensor([1., 3.])
    """
    return np.where((input <= other) | (other != other), input, other)  # noqa: PLR0124 - only NaN differs from itself


def _takes(wins: Any, other: Any) -> Any:
    """The mask of elements where the result is `input`: where `input` wins, or `other` is NaN."""
    return late.logical_or(wins, late.ne(other, other))
