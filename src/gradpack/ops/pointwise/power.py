"""Powers, of tensors and numbers by tensors and numbers."""

from __future__ import annotations

import cmath
import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.dtypes import INTEGRAL
from ...base.errors import scalar_type
from ...base.info import number_for
from ...base.pool import split
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...declare.generate.fusion import looped
from ...declare.inplace.inplace import inplace
from ...kernels.dispatch import HEAVY, LARGE, undivided
from .blockwise import is_numpy
from .operands import is_complex, is_number, is_whole, zeros_for

FUNCTIONS = "pow float_power"
METHODS = FUNCTIONS
INPLACE = "pow_ float_power_"
BINARY_OPERATORS = "pow:pow"


def _check_exponent(op: Any, values: Any, common: Any) -> None:
    base, exponent = values
    if isinstance(exponent, int | float) and isinstance(base, Tensor):
        kind = base._spec.dtype
        if kind.low or (kind.category == INTEGRAL and common.category == INTEGRAL):
            if exponent < 0 and kind.category == INTEGRAL:
                raise RuntimeError(f"Integers to negative integer powers are not allowed. (The power is {exponent}.)")
            number_for(exponent, kind)


@elementwise(
    input=lambda g, input, exponent: (
        g * _numbered_slope(input, exponent) if is_number(exponent) and exponent != 0 else _gradient(g, input, exponent)
    ),
    exponent=lambda g, input, exponent, out: g * _slope_of_exponent(input, exponent, out),
    dtypes="ifc",
    overloads={"exponent": "PowBackward0", "input": "PowBackward2", "": "PowBackward1"},
    edges={"PowBackward0": "input", "PowBackward2": "exponent"},
    blocks=False,
    rounds=True,
    check=_check_exponent,
    refuses="unsigned complex32",
    saved_as={"PowBackward0": "exponent self"},
)
def pow(input: Array, exponent: Array) -> Any:
    """`input` to the power of `exponent`; one of them may be a number.

    `0 ** 0` is 1, with gradient 0. The gradient of an exponent is `out * log(input)`: NaN for negative
    `input`, and 0 where both `input` is 0 and `exponent` is not negative.

    Raises:
        RuntimeError: for integers to a negative integer power. (Given as a tensor, negative exponents
            round the result towards zero instead, as in torch.)

    Example::

        >>> import gradpack as torch
        >>> torch.pow(torch.tensor([2.0, 3.0]), 2)
        tensor([4., 9.])
    """
    if isinstance(exponent, int | float):
        if exponent < 0 and is_whole(input):
            raise RuntimeError(f"Integers to negative integer powers are not allowed. (The power is {exponent}.)")
        return _numbered_power(input, exponent)
    if is_number(input) and not exponent.flags.c_contiguous:
        exponent = exponent.copy("C")  # the result is contiguous, as torch's is
    if isinstance(exponent, complex):
        return np.power(input, exponent)
    if is_whole(exponent):
        return _whole_power(input, exponent)
    return np.power(input, exponent) if exponent.size < _MANY else power(input, exponent)


def _numbered_power(x: Any, n: float) -> Any:
    """`x ** n`; for common n by multiplication, division and `sqrt`, which are faster than `numpy.power`."""
    if n == 2:
        return x * x
    if n == 1:
        return np.positive(x)
    if n == 3:
        return x * x * x if x.size < LARGE else looped(_cube, x)
    if n == 0.5:
        return np.sqrt(x) if x.size < LARGE else looped(_root, x)
    if n == -1:
        return 1 / x
    if n == -0.5:
        return 1 / np.sqrt(x) if x.size < LARGE else looped(_inverse_root, x)
    if n == -2:
        return 1 / (x * x)
    return np.power(x, n) if x.size < _MANY else power(x, n)


_MANY = 1 << 13  # elements, from which on it is worth while


@undivided(_MANY)
def power(x: Any, y: Any) -> Any:
    """Return `numpy.power(x, y)` of large arrays, over all cores.

    A number becomes an array: NumPy has loops of vectors for two arrays only.
    """
    first = y if is_number(x) else x
    if not is_numpy(first) or first.dtype.char not in "fd":
        return np.power(x, y)
    given = [_along(a, first) for a in (x, y)]
    if any(a is None for a in given):
        return np.power(x, y)
    out = np.empty(first.shape, first.dtype)
    target = out.reshape(-1)

    def work(low: int, high: int) -> None:
        a, b = (a[low:high] if a.size == target.size else a[: high - low] for a in given)
        np.power(a, b, out=target[low:high])

    split(work, target.size, HEAVY)
    return out


def _along(a: Any, first: Any) -> Any:
    """Return the elements of an operand, or its number as often as a part has elements; None if it lies otherwise."""
    if is_number(a):
        return _filled(float(a), first.dtype.char) if type(a) in (int, float) and abs(a) < _LARGEST else None
    alike = is_numpy(a) and (a.shape, a.dtype) == (first.shape, first.dtype) and a.flags.c_contiguous
    return a.reshape(-1) if alike else None


_LARGEST = 1e30  # of a number that has the precision of the array, too


@lru_cache(4)
def _filled(number: float, char: str) -> Any:
    return np.full(HEAVY, number, char)


def _cube(x: Any) -> Any:
    return x * x * x


def _root(x: Any) -> Any:
    return np.sqrt(x)


def _inverse_root(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _numbered_slope(x: Any, n: Any) -> Any:
    """The derivative of `x ** n` by `x`; for a Tensor by way of `pow`, which is differentiable to any order."""
    return x * 2 if n == 2 and not isinstance(x, Tensor) else pow(x, n - 1) * n


def _whole_power(base: Any, exponent: Any) -> Any:
    """Integers to the power of an array of integers."""
    power = np.power(base, np.maximum(exponent, 0))
    # 1 / base ** n truncated: 0, unless the base is 1 or -1
    sign = 1 - 2 * (exponent & 1)
    inverse = (base == 1) + (base == -1) * sign
    return np.where(exponent < 0, inverse, power)


def _gradient(g: Any, input: Any, exponent: Any) -> Any:
    """The gradient of `input`: 0 for an exponent of 0, also where `g` is not finite."""
    if is_number(exponent):
        return zeros_for(g)
    return late.where(late.eq(exponent, 0), 0.0, g * (exponent * pow(input, exponent - 1)))


def _slope_of_exponent(input: Any, exponent: Any, out: Any) -> Any:
    """The derivative by `exponent`."""
    if is_number(input):
        slope = out * _log_of_number(input, is_complex(exponent))
        return late.where(late.ge(late.real(exponent), 0), 0.0, slope) if input == 0 else slope
    return late.where(late.logical_and(late.eq(input, 0), late.ge(late.real(exponent), 0)), 0.0, out * late.log(input))


def _log_of_number(x: complex, to_complex: bool) -> Any:
    if x == 0:
        return -math.inf
    if to_complex or isinstance(x, complex):
        return cmath.log(x)
    return math.log(x) if x > 0 else math.nan


def float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """`pow` in float64, or complex128 if one of the operands is complex.

    Example::

        >>> import gradpack as torch
        >>> torch.float_power(torch.tensor([2, 3]), -1)
        tensor([0.5000, 0.3333], dtype=gradpack.float64)
    """
    wide = dtypes.complex128 if is_complex(input) or is_complex(exponent) else dtypes.float64
    if isinstance(out, Tensor):
        _check_wide("output", "float_power", out, wide)
    base, power = (x.to(wide) if isinstance(x, Tensor) else x for x in (input, exponent))
    if not isinstance(input, Tensor) and isinstance(exponent, Tensor):
        base = complex(input) if wide.is_complex else float(input)
    return pow(base, power, out=out)


def _method_float_power_(self: Tensor, exponent: Any) -> Tensor:
    """In-place form of `float_power`, for float64 and complex128 tensors.

    Raises:
        RuntimeError: for other dtypes, into which the result does not fit.
    """
    wide = dtypes.complex128 if is_complex(self) or is_complex(exponent) else dtypes.float64
    _check_wide("base", "float_power_", self, wide)
    return inplace(pow.op, "float_power_", [self, exponent])


def _check_wide(role: str, name: str, target: Tensor, wide: Any) -> None:
    if target._spec.dtype is not wide:
        raise RuntimeError(
            f"the {role} given to {name} has dtype {scalar_type(target._spec.dtype)} but the operation's result "
            f"requires dtype {scalar_type(wide)}"
        )
