"""Division and remainders; of float32 computed in float64 for whole arrays, which is faster than C's fmod per element.

A quotient of two float32 numbers that is no integer is further from the next one than float64
rounds, as long as it stays below 2**27; its product with the divisor and the difference are exact
then. Below 2**22, NumPy's floor_divide of float32 does not round either. So results equal those of
NumPy's functions, which handle larger quotients; only the sign of zero remainders follows torch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.generate.fusion import looped
from ...declare.inplace.inplace import inplace
from ...kernels.dispatch import accelerated
from .blockwise import aligned, is_numpy
from .operands import is_whole, no_gradient, zeros_for

FUNCTIONS = "div true_divide floor_divide remainder fmod"
METHODS = FUNCTIONS
INPLACE = "div_ true_divide_ floor_divide_ remainder_ fmod_"
ALIASES = {"divide": "div"}
BINARY_OPERATORS = "truediv:div floordiv:floor_divide mod:remainder"

_rounded = partial(elementwise, dtypes="if", refuses="unsigned", int64=True)

_EXACT = float(1 << 22)
_SIZE = 1 << 13  # elements of a block: four buffers of these fit into the second-level cache
_SOME, _MANY = 1024, 4096  # elements, from which on float64 takes less time than NumPy's functions, and its `fmod`


def floor_divide_of(x: Any, y: Any) -> Any:
    """`numpy.floor_divide`."""
    return looped(_floor_divide, x, y) if _are_single(x, y, _SOME) else np.floor_divide(x, y)


@accelerated
def remainder_of(x: Any, y: Any) -> Any:
    """`numpy.remainder`, except that zeros have the sign of `x`."""
    return _left(x, y, np.floor, _remainder) if _are_single(x, y, _SOME) else _remainder(x, y)


def _remainder(x: Any, y: Any) -> Any:
    left = np.remainder(x, y)
    if is_whole(left) or (is_numpy(left) and np.count_nonzero(left) == left.size):
        return left
    return np.where(left == 0, np.copysign(left, x), left)


@accelerated
def fmod_of(x: Any, y: Any) -> Any:
    """`numpy.fmod`."""
    return _left(x, y, np.trunc, np.fmod) if _are_single(x, y, _MANY) else np.fmod(x, y)


def _are_single(x: Any, y: Any, least: int) -> bool:
    """Whether `x` is a float32 array of at least so many elements, and `y` one of the same shape or a number."""
    if not is_numpy(x) or x.size < least or x.dtype.char != "f":
        return False
    return type(y) in (int, float) or (is_numpy(y) and y.dtype.char == "f" and y.shape == x.shape)


def _floor_divide(x: Any, y: Any) -> Any:
    """The quotient, divided in float64 and rounded down."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=x.dtype).astype(np.float64)
    quotient = np.divide(a, b, out=a)
    np.floor(quotient, out=quotient)
    if _exact(quotient) and np.isfinite(np.add.reduce(b, None)):
        return quotient.astype(x.dtype)
    return np.floor_divide(x, y)


def _left(x: Any, y: Any, rounded: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """`x - rounded(x / y) * y`, block by block; blocks where that is not exact are passed to `plain`.

    A remainder that is not 0 has the right sign; a zero gets that of `x`.
    """
    out = np.empty(x.shape, x.dtype)
    first, target = x.reshape(-1), out.reshape(-1)
    second = y.reshape(-1) if is_numpy(y) else None
    number = np.asarray(y, x.dtype) if second is None else None
    size = min(_SIZE, x.size)
    a, b, quotient = ((aligned if size == _SIZE else np.empty)(size, np.float64) for _ in range(3))
    for start in range(0, x.size, size):
        made, xs = target[start : start + size], first[start : start + size]
        ys = number if second is None else second[start : start + size]
        if made.size < size:
            a, b, quotient = (v[: made.size] for v in (a, b, quotient))
        a[:], b[:] = xs, ys
        np.divide(a, b, out=quotient)
        rounded(quotient, out=quotient)
        if not (quotient.dot(quotient) < _EXACT**2 or _exact(quotient)):
            made[:] = plain(xs, ys)
            continue
        np.multiply(quotient, b, out=quotient)
        np.subtract(a, quotient, out=a)
        if not a.dot(a) < np.inf:  # an infinite y gives 0 * inf
            made[:] = plain(xs, ys)
            continue
        made[:] = a
        if np.count_nonzero(made) < made.size:
            np.copysign(made, xs, out=made, where=np.equal(made, 0))
    return out


def _exact(quotient: Any) -> bool:
    """Whether all absolute values are below the limit."""
    flat = quotient.reshape(-1)
    inside: bool = not flat.size or (np.maximum.reduce(flat) < _EXACT and np.minimum.reduce(flat) > -_EXACT)
    return inside


@elementwise(
    input=lambda g, other: g / other,
    other=lambda g, input, other: -g * ((input / other) / other),
    result="float",
    name="div",
    numbers=True,
    ufunc=np.true_divide,
)
def true_divide(input: Array, other: Array) -> Any:
    """`input / other`; integers give the default floating-point dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.true_divide(torch.tensor([1, 2]), 2)
        tensor([0.5000, 1.0000])
    """
    return input / other


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """`input / other`, rounded if asked for.

    Args:
        rounding_mode: None, "trunc" (towards zero, as in C) or "floor" (as Python's `//`). With a mode integers
            stay integers, and gradients are zero.

    Raises:
        RuntimeError: for an unknown mode, or an integer division by zero with a mode.

    Example::

        >>> import gradpack as torch
        >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode="floor")
        tensor([ 3, -4])
    """
    if rounding_mode is None:
        return true_divide(input, other, out=out)
    return _div_rounded(input, other, rounding_mode, _quotients(input, other), out=out)


def _quotients(input: Any, other: Any) -> Any:
    """The half-precision dtype that torch rounds a quotient to before truncating it; None for other dtypes."""
    low = next((x for x in (input, other) if isinstance(x, Tensor) and x._spec.dtype.low), None)
    if low is None:
        return None
    from ..create.convert import result_type

    return low._spec.native if result_type(input, other) is low._spec.dtype else None


@_rounded(
    input=lambda g, rounding_mode: zeros_for(g),  # named so that the node has `_saved_rounding_mode`
    other=lambda g, rounding_mode: zeros_for(g),
    node="DivBackward2",
    name="div_rounded",
    numbers=True,
)
def _div_rounded(input: Array, other: Array, rounding_mode: str, narrow: Array = None) -> Any:
    """`input / other`, truncated or floored; if `narrow` is a dtype, the quotient is rounded to it first."""
    if rounding_mode == "floor":
        return floor_divide_of(input, _not_zero("div", input, other))
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    if not _are_whole(input, other):
        if narrow is None:
            return np.trunc(input / other)
        a, b = (x if hasattr(x, "dtype") else np.asarray(x, dtype=narrow) for x in (input, other))
        quotient = a / b
        return np.trunc(quotient.astype(narrow)).astype(quotient.dtype)
    floor = np.floor_divide(input, _not_zero("div", input, other))
    return floor + ((floor * other != input) & ((input < 0) != (other < 0)))


def _are_whole(*operands: Any) -> bool:
    return all(is_whole(x) if hasattr(x, "dtype") else isinstance(x, int) for x in operands)


def _not_zero(op: str, input: Any, other: Any) -> Any:
    """Return the divisor; raise if it has a zero and both operands are integers."""
    if is_numpy(other) and other.dtype.kind == "f":
        return other
    if _are_whole(input, other) and (np.any(other == 0) if hasattr(other, "dtype") else other == 0):
        raise RuntimeError(f"ZeroDivisionError: integer division by zero in {op}()")
    return other


def _refused(g: Any) -> Any:
    return no_gradient("floor_divide")


@_rounded(input=_refused, other=_refused, node="NotImplemented", numbers=True)
def floor_divide(input: Array, other: Array) -> Any:
    """`input / other`, rounded down; as in torch it has no derivative.

    Raises:
        RuntimeError: for an integer division by zero, and in backward.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([7, -7]) // 2
        tensor([ 3, -4])
    """
    return floor_divide_of(input, _not_zero("floor_divide", input, other))


@_rounded(
    input=lambda g: g,
    other=lambda g, input, other: -g * _div_rounded(input, other, "floor"),
    rounds=True,
    overloads={"other": "RemainderBackward0", "": "RemainderBackward1"},
    edges={"RemainderBackward0": "input"},
)
def remainder(input: Array, other: Array) -> Any:
    """The remainder of floor division, with the sign of `other`, as Python's `%`.

    Raises:
        RuntimeError: for an integer division by zero.

    Example::

        >>> import gradpack as torch
        >>> torch.remainder(torch.tensor([-3.0, 3.0]), 2)
        tensor([1., 1.])
    """
    return remainder_of(input, _not_zero("remainder", input, other))


@_rounded(
    input=lambda g: g,
    other=lambda g, input, other: -g * _div_rounded(input, other, "trunc"),
    scalars=("other",),
    rounds=True,
    overloads={"other": "FmodBackward0", "": "FmodBackward1"},
    edges={"FmodBackward0": "input"},
)
def fmod(input: Array, other: Array) -> Any:
    """The remainder of truncating division, with the sign of `input`, as C's `fmod`.

    Raises:
        RuntimeError: for an integer division by zero.

    Example::

        >>> import gradpack as torch
        >>> torch.fmod(torch.tensor([-3.0, 3.0]), 2)
        tensor([-1.,  1.])
    """
    return fmod_of(input, _not_zero("fmod", input, other))


def _method_div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """In-place form of `div`: writes the result into this tensor and returns it."""
    if rounding_mode is None:
        return inplace(true_divide.op, "div_", [self, other])
    return inplace(_div_rounded.op, "div_", [self, other, rounding_mode, _quotients(self, other)])


def _method_true_divide_(self: Tensor, other: Any) -> Tensor:
    """In-place form of `true_divide`: writes the result into this tensor and returns it."""
    return inplace(true_divide.op, "true_divide_", [self, other])
