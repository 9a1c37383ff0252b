"""Limits on the elements of a tensor, and the larger and the smaller of two tensors, element by element."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from ...backends.numpy import clip as _clip
from ...base import late
from ...base.dtypes import FLOATING, int64
from ...base.info import LEAST, SAFE, finfo, number_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.generate.fusion import looped
from ...declare.inplace.forms import function
from ...declare.inplace.inplace import inplace
from ..reduce.kernels import _array_type
from .operands import LARGE, REAL, is_complex, is_number, is_whole, limit, select

FUNCTIONS = METHODS = "clamp clamp_min clamp_max nan_to_num maximum minimum fmax fmin"
INPLACE = "clamp_ clamp_min_ clamp_max_ nan_to_num_"

ALIASES = {"clip": "clamp"}


def _limit_into(x: Any, low: Any, high: Any, out: Any) -> Any:
    """Write `x` into `out`, limited by two numbers; None is no limit."""
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    if type(least) not in REAL or type(most) not in REAL or math.isnan(least) or math.isnan(most):
        raise TypeError("clamp: a limit is no number that NumPy's clip takes as torch does")
    return _clip(x, least, most, out=out)


def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """`input`, limited from below by `min` and from above by `max`; where they cross, `max`.

    Args:
        min: a number or a tensor, or None for no limit.
        max: likewise, and of the same kind as `min`.

    The gradient goes to `input` where it is within the limits or on one of them, and to a limit where it applies.

    Raises:
        RuntimeError: if no limit is given; for complex numbers (NotImplementedError).
        TypeError: for a number and a tensor together.

    Example::

        >>> import gradpack as torch
        >>> torch.clamp(torch.tensor([-1.0, 0.5, 2.0]), min=0, max=1)
        tensor([0.0000, 0.5000, 1.0000])
    """
    which = _clamp_for(input, min, max)
    return which(input, min, max) if out is None else which(input, min, max, out=out)


def _clamp_for(input: Any, min: Any, max: Any) -> Any:
    """Choose `_clamp_to_numbers` if the limits are numbers that cannot promote the dtype of `input`, else `_clamp`."""
    simple = isinstance(input, Tensor) and input._spec.dtype.category == FLOATING
    whole = isinstance(input, Tensor) and input._spec.dtype is int64 and not (min is None and max is None)
    if whole and all(n is None or (type(n) is int and LEAST <= n < -LEAST) for n in (min, max)):
        return _clamp_to_numbers
    if (
        simple
        and (type(min) in REAL and -SAFE < min < SAFE if min is not None else max is not None)
        and (max is None or (type(max) in REAL and -SAFE < max < SAFE))
    ):
        return _clamp_to_numbers
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if (isinstance(min, Tensor) and is_number(max)) or (is_number(min) and isinstance(max, Tensor)):
        raise TypeError("clamp(): 'min' and 'max' are both to be tensors or both numbers, and one of each was given")
    return _clamp_to_numbers if simple and _is_limit(min, input) and _is_limit(max, input) else _clamp


def _is_limit(value: Any, input: Tensor) -> bool:
    """Whether a limit of a floating-point tensor is None or a real number; raises if the dtype cannot hold it."""
    if value is None or not isinstance(value, int | float):
        return value is None
    number_for(value, input._spec.dtype)
    return True


def _check_limits(op: Any, values: Any, common: Any) -> None:
    kind = values[0]._spec.dtype if isinstance(values[0], Tensor) else common
    for value in values[1:]:
        if isinstance(value, int | float):
            number_for(value, kind if kind.low else common)


_limited = partial(elementwise, refuses="unsigned", compares=True)
_one_sided = partial(_limited, dtypes="bif", check=_check_limits)


@_limited(
    input=lambda g, input, min, max: late.where(_within(input, min, max), g, 0.0),
    promote=("input",),
    dtypes="bif",
    node="ClampBackward1",
    name="clamp_to_numbers",
    ufunc=_limit_into,
    int64=True,
)
def _clamp_to_numbers(input: Array, min: Array = None, max: Array = None) -> Any:
    """`input` between two numbers."""
    return limit(input, min, max)


@_limited(
    input=lambda g, input, min, max: late.where(_within(input, min, max), g, 0.0),
    min=lambda g, input, min, max: late.where(_below(input, min, max), g, 0.0),
    max=lambda g, input, min, max: late.where(_above(input, min, max), g, 0.0),
    dtypes="if",
    node="ClampBackward0",
    name="clamp",
    check=_check_limits,
)
def _clamp(input: Array, min: Array = None, max: Array = None) -> Any:
    """`input` between two limits, which may be tensors."""
    return limit(input, min, max)


def _within(x: Any, low: Any, high: Any) -> Any:
    if low is None or high is None:
        return late.ge(x, low) if high is None else late.le(x, high)
    return late.logical_and(late.ge(x, low), late.le(x, high))


def _below(x: Any, low: Any, high: Any) -> Any:
    """The mask of elements whose clamped value is `low`."""
    return late.lt(x, low) if high is None else late.logical_and(late.lt(x, low), late.lt(low, high))


def _above(x: Any, low: Any, high: Any) -> Any:
    """The mask of elements whose clamped value is `high`."""
    return late.gt(x, high) if low is None else late.logical_or(late.gt(x, high), late.lt(high, low))


@_one_sided(
    input=lambda g, input, min: late.where(late.ge(input, min), g, 0.0),
    min=lambda g, input, min: late.where(late.lt(input, min), g, 0.0),
    scalars=("min",),
    overloads={"min": "ClampMinBackward0", "": "ClampMinBackward1"},
    edges={"ClampMinBackward0": "input"},
)
def clamp_min(input: Array, min: Array) -> Any:
    """`input`, limited from below.

    Example::

        >>> import gradpack as torch
        >>> torch.clamp_min(torch.tensor([-1.0, 2.0]), 0)
        tensor([0., 2.])
    """
    return np.maximum(input, min) if input.size < LARGE else limit(input, min, None)


@_one_sided(
    input=lambda g, input, max: late.where(late.le(input, max), g, 0.0),
    max=lambda g, input, max: late.where(late.gt(input, max), g, 0.0),
    scalars=("max",),
    overloads={"max": "ClampMaxBackward0", "": "ClampMaxBackward1"},
    edges={"ClampMaxBackward0": "input"},
)
def clamp_max(input: Array, max: Array) -> Any:
    """`input`, limited from above.

    Example::

        >>> import gradpack as torch
        >>> torch.clamp_max(torch.tensor([-1.0, 2.0]), 0)
        tensor([-1.,  0.])
    """
    return np.minimum(input, max) if input.size < LARGE else limit(input, None, max)


def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None,
    *, out: Any = None,
) -> Tensor:  # fmt: skip
    """`input` with numbers in the place of NaN and the infinities.

    Args:
        nan: instead of NaN; 0 if not given.
        posinf: instead of the positive infinity; the largest number of the dtype if not given.
        neginf: instead of the negative one.

    Example::

        >>> import gradpack as torch
        >>> torch.nan_to_num(torch.tensor([float("nan"), float("-inf"), 2.0]), neginf=-1.0)
        tensor([ 0., -1.,  2.])
    """
    nan, posinf, neginf = _substitutes(input, nan, posinf, neginf)
    return _nan_to_num(input, nan, posinf, neginf) if out is None else _nan_to_num(input, nan, posinf, neginf, out=out)


def _substitutes(input: Tensor, nan: Any, posinf: Any, neginf: Any) -> tuple[Any, Any, Any]:
    limit = _most(input._spec.dtype) if posinf is None or neginf is None else 0
    return (nan or 0.0, limit if posinf is None else posinf, -limit if neginf is None else neginf)


@cache
def _most(kind: Any) -> float:
    """The largest number of a floating dtype; 0 for others."""
    return finfo(kind.to_real()).max if kind.category >= FLOATING else 0


@elementwise(
    input=lambda g, input: g * late.isfinite(input),
    name="nan_to_num",
    holomorphic=False,
    blocks=False,
    refuses="complex32",
)
def _nan_to_num(input: Array, nan: float, posinf: float, neginf: float) -> Any:
    """`input` with numbers in the place of NaN and the infinities."""
    if type(input) is _array_type and input.dtype.char in "fd":
        flat = input.reshape(-1)
        if flat.dot(flat) < math.inf:  # neither NaN nor infinity
            return np.array(input)
    if is_whole(input):
        return input * np.ones((), dtype=input.dtype)
    if is_complex(input):
        return np.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)
    return looped(_substituted, input, nan, posinf, neginf)


def _substituted(input: Any, nan: float, posinf: float, neginf: float) -> Any:
    inside = (
        np.minimum(np.maximum(input, neginf), posinf)
        if neginf == -posinf and posinf == _largest(input.dtype)
        else select(input == math.inf, posinf, select(input == -math.inf, neginf, input))
    )
    return select(input == input, inside, nan)  # noqa: PLR0124 - not NaN


def _largest(native: Any) -> float:
    return float(np.finfo(native).max) if native in (np.float32, np.float64) else math.inf


def _method_clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """In-place form of `clamp`: writes the result into this tensor and returns it."""
    which = _clamp_for(self, min, max)
    if which is _clamp_to_numbers:
        return _clamp_to_numbers_(self, min, max)
    return inplace(which.op, "clamp_", [self, min, max])


_clamp_to_numbers_ = function(
    _clamp_to_numbers.op, "clamp_", lambda values: inplace(_clamp_to_numbers.op, "clamp_", list(values))
)


def _method_nan_to_num_(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """In-place form of `nan_to_num`: writes the result into this tensor and returns it."""
    return inplace(_nan_to_num.op, "nan_to_num_", [self, *_substitutes(self, nan, posinf, neginf)])


# -- the larger and the smaller of two tensors --


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
