"""Elementwise functions: most are ours, behind the standard's promotion where there are two operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.numpy_api.forms import found
from ._lookup import ours
from ._promotion import promoted

# The standard's name, and ours where it differs.
UNARY = """
    abs acos acosh asin asinh atan atanh bitwise_invert=bitwise_not ceil conj=conj_physical cos cosh exp expm1 floor
    imag isfinite isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal signbit sin sinh
    square sqrt tan tanh trunc
"""
BINARY = """
    add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal=eq
    floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum
    minimum multiply nextafter not_equal=ne pow remainder subtract
"""


def with_promotion(name: str, own: str) -> Callable[[Any, Any], Tensor]:
    """Return our function of two operands for operands of any dtypes, one of which may be a Python number."""
    inside = found(own)

    def call(x1: Any, x2: Any, /) -> Tensor:
        result: Tensor = inside(*promoted(x1, x2))
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return `gradpack.{own}` of two operands, promoted as the array API standard says."
    return call


def sign(x: Tensor, /) -> Tensor:
    """Return the sign of each element: of a complex number the number of modulus 1, of NaN NaN."""
    found = ours("sgn" if x.is_complex() else "sign", x)
    return ours("where", x == x, found + 0, x) if x.is_floating_point() or x.is_complex() else found  # noqa: PLR0124


def round(x: Tensor, /) -> Tensor:
    """Return the nearest integer of each element, the even one of two; of complex numbers part by part."""
    if x.is_complex():
        return ours("complex", ours("round", x.real), ours("round", x.imag))
    return ours("round", x)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Return the elements within limits, which are numbers, tensors that broadcast, or None; of the dtype of `x`."""
    limits = [v.to(x.dtype) if isinstance(v, Tensor) else v for v in (min, max)]
    if any(isinstance(v, Tensor) for v in limits):
        limits = [v if v is None or isinstance(v, Tensor) else x.new_tensor(v) for v in limits]
    return x.clone() if min is None and max is None else ours("clamp", x, *limits)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """Return elements of `x1` where the condition is true, else of `x2`; both may be numbers."""
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        return ours("where", condition, x1, x2)
    return ours("where", condition, *promoted(x1, x2))
