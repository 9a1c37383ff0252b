"""Predicates and conversions of operands (tensors, arrays or numbers), for operations and formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import spec_of
from ...base import late
from ...base.dtypes import BOOL
from ...base.info import number_for
from ...core.tensor import Tensor
from .blockwise import is_numpy


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
    return isinstance(value, int | float | complex)


def factor_for(value: Any, array: Any) -> Any:
    """Convert a scalar factor of `array` to its dtype; raises if it does not fit."""
    if is_number(array):
        return value
    number = number_for(value, spec_of(array).dtype)
    return value if isinstance(number, complex) else number


def zeros_for(g: Any) -> Any:
    """Zeros like `g`: the gradient of a piecewise constant function."""
    return late.zeros_like(g) if isinstance(g, Tensor) else np.zeros_like(g)
