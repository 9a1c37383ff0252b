"""Predicates and conversions of operands (tensors, arrays or numbers), and the choice between the elements of two.

`numpy.where` branches on every element: on a mask without a pattern, a processor guesses wrong half
of the time and takes ten times as long. Picking bits needs no branch and gives the same elements,
NaN and the sign of zero included. Arrays of other libraries take the plain form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends import spec_of
from ...backends.numpy import clip
from ...base import late
from ...base.dtypes import BOOL
from ...base.info import number_for
from ...core.tensor import Tensor
from ...declare.generate.constants import SINGLES
from ...kernels.dispatch import undivided
from .blockwise import _array_type, is_numpy


def no_gradient(op: str) -> Any:
    """Raise RuntimeError, as torch does in backward of an operation without a derivative."""
    raise RuntimeError(
        f"derivative for aten::{op} is not implemented: detach() its operands, or compute it under no_grad()"
    )


def not_implemented(what: str) -> Any:
    """Raise NotImplementedError, as torch does in backward for an input without a formula."""
    raise NotImplementedError(
        f"the derivative for '{what}' is not implemented: detach() that operand, or compute it under no_grad()"
    )


def is_bool(value: Any) -> bool:
    """Whether a tensor or number is of bool."""
    return value._spec.dtype.category == BOOL if isinstance(value, Tensor) else isinstance(value, bool)


def is_complex(value: Any) -> bool:
    """Whether a tensor, array or number is complex."""
    if isinstance(value, Tensor):
        return value._spec.dtype.is_complex
    if is_numpy(value):
        return bool(value.dtype.kind == "c")
    if hasattr(value, "dtype"):
        kind = getattr(value.dtype, "kind", "")
        return kind == "c" if kind else bool(np.isdtype(value.dtype, "complex floating"))
    return isinstance(value, complex)


def is_whole(array: Any) -> bool:
    """Whether an array is of integers or bool."""
    kind = getattr(array.dtype, "kind", "")
    return kind in "biu" if kind else bool(np.isdtype(array.dtype, ("integral", "bool")))


def is_number(value: Any) -> bool:
    """Whether an operand is a Python number rather than a tensor or array."""
    return isinstance(value, _NUMBERS)


def factor_for(value: Any, array: Any) -> Any:
    """Convert a scalar factor of `array` to its dtype; raises if it does not fit."""
    if is_number(array):
        return value
    number = number_for(value, spec_of(array).dtype)
    return value if isinstance(number, complex) else number


def zeros_for(g: Any) -> Any:
    """Zeros like `g`: the gradient of a piecewise constant function."""
    return late.zeros_like(g) if isinstance(g, Tensor) else np.zeros_like(g)


LARGE = 4096  # elements: below this the plain form is as fast
REAL = frozenset((int, float))  # the types of numbers that NumPy takes as torch does
_NUMBERS = (int, float, complex)
_BITS = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}


@undivided(LARGE)
def select(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, `y` elsewhere; one of the two may be a number."""
    if (
        condition.size < LARGE
        and (isinstance(x, _NUMBERS) or x.size < LARGE)
        and (isinstance(y, _NUMBERS) or y.size < LARGE)
    ):
        return np.where(condition, x, y)
    like = y if isinstance(x, _NUMBERS) else x
    if not is_numpy(condition) or not _pickable(like) or not _pickable(y, like):
        return np.where(condition, x, y)
    bits = _BITS[like.itemsize]
    holds = condition.view(np.int8)
    if _is_zero(y):
        return _masked(np.negative(holds).astype(bits), x.view(bits)).view(x.dtype)
    if _is_zero(x):
        return _masked(np.subtract(holds, 1).astype(bits), y.view(bits)).view(y.dtype)
    first, second = (np.asarray(v, dtype=like.dtype).view(bits) for v in (x, y))
    chosen = _masked(np.negative(holds).astype(bits), first ^ second)  # differing bits, where `x` is chosen
    return (chosen ^ second).view(like.dtype)


def _pickable(array: Any, like: Any = None) -> bool:
    """Whether an operand's bits can be selected: a number, or an array of an integer's itemsize and `like`'s dtype."""
    if isinstance(array, _NUMBERS):
        return like is not None
    return is_numpy(array) and array.itemsize in _BITS and (like is None or array.dtype == like.dtype)


def _is_zero(value: Any) -> bool:
    """Whether `value` is the number 0, not -0.0."""
    return isinstance(value, (int, float)) and value == 0 and math.copysign(1.0, value) > 0


def _masked(mask: Any, values: Any) -> Any:
    """`mask & values`, written into `mask` if the shapes agree."""
    return np.bitwise_and(mask, values, out=mask if mask.shape == values.shape else None)


def limit(x: Any, low: Any, high: Any) -> Any:
    """`x` clamped to [low, high]; None is no limit; where `low > high` the result is `high`."""
    if type(x) is _array_type and x.dtype.kind == "f":
        least, most = -math.inf if low is None else low, math.inf if high is None else high
        if type(least) in REAL and type(most) in REAL and least == least and most == most:  # noqa: PLR0124 - not NaN
            if x.dtype.char == "f":
                least, most = SINGLES[least], SINGLES[most]
            return clip(x, least, most)  # NumPy's maximum of an array and a number takes three times as long
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)
