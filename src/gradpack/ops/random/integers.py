"""Tensors of random integers, and of integers in random order."""

from __future__ import annotations

import math
from typing import Any

from ...backends.numpy import rounded_number
from ...base import dtypes
from ...base.callers import warn_user
from ...base.dtypes import dtype
from ...base.errors import cpp_name, refuse, scalar_type
from ...base.info import finfo, iinfo
from ...core.tensor import Tensor, alias
from ...declare.generate.profiling import profiled
from ..create.making import _native, dtype_for, on_device, result, shape_of, usual
from .drawing import drawing
from .generator import Generator, source

FUNCTIONS = "randint randperm"


def integer_array(generator: Generator | None, low: int, high: int, shape: Any, native: Any) -> Any:
    """Integers from `low` (inclusive) to `high` (exclusive), of a NumPy dtype."""
    return source(generator).integers(low, high, shape).astype(native)


def order_array(generator: Generator | None, n: int, native: Any) -> Any:
    """A random order of the integers below `n`."""
    return source(generator).permutation(n).astype(native)


class _Size(tuple[int, ...]):
    """A size that knows its number of elements, which NumPy's generator asks `np.prod` for."""

    __slots__ = ()

    def prod(self, axis: None = None, out: None = None) -> int:
        return math.prod(self)


_WORD = 2**62


def _exact(d: Any) -> int:
    """The largest n such that a floating dtype holds all integers up to n exactly."""
    return int(2 ** (1 - round(math.log2(finfo(d).eps))))


def bounds_for(low: int, high: int | None, d: Any) -> tuple[int, int]:
    """The least and the greatest integer that `random_(low, high)` draws; raises if the dtype cannot hold the bounds.

    For `high=None`, the greatest that the dtype holds exactly; 2**63 - 1 for the full 64-bit range.
    """
    if high is not None and low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if high is None:
        if low == -(2**63) and d not in (dtypes.int64, dtypes.float64, dtypes.float32, dtypes.bfloat16):
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
        if low != -(2**63):
            _check_bounds(low, iinfo(d).max if d.category == dtypes.INTEGRAL else low + 1, d)
        if d.category == dtypes.INTEGRAL:
            return low, iinfo(d).max
        return low, 2**63 - 1 if low == -(2**63) or not d.is_floating_point else _exact(d)
    _check_bounds(low, high, d)
    if d.is_floating_point:
        exact = _exact(d)
        for label, bound in (("from", low), ("to - 1", high - 1)):
            if not -exact <= bound <= exact:
                power = round(math.log2(exact))
                warn_user(
                    f"{label} is out of bounds [-(2^{power}), 2^{power}]. Due to precision limitations "
                    f"{scalar_type(d)} can support discrete uniform distribution only within this range. This warning "
                    "will become an error in version 1.7 release, please fix the code in advance"
                )
        return _least(low, d), _most(high, d)
    return low, high - 1


def _least(low: int, d: Any) -> int:
    """The least integer from `low` on that a floating dtype does not round to below `low`."""
    rounded = int(rounded_number(low + 1, d)) if d.low else low
    return low if rounded >= low else rounded + _step(abs(low + 1), d)


def _most(high: int, d: Any) -> int:
    """The greatest integer below `high` that a floating dtype does not round up to `high`."""
    rounded = int(rounded_number(high - 1, d)) if d.low else high - 1
    return high - 1 if rounded < high else high - _step(high, d) - 1


def _step(n: int, d: Any) -> int:
    """The spacing of the numbers of a floating dtype near `n`, at least 1."""
    return 1 << max(n.bit_length() - round(math.log2(_exact(d))), 0)


def _check_bounds(low: int, high: int, d: Any) -> None:
    """Raise for integers that a dtype cannot hold."""
    if d is dtypes.int64 and low > -_WORD and high < _WORD:
        return
    if d.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if d is dtypes.bool_:
        least, most = 0.0, 1.0
    else:
        info: Any = finfo(d) if d.is_floating_point else iinfo(d)
        least, most = info.min, info.max
    for label, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{label} is out of bounds for {cpp_name(d)}")


@profiled
@drawing
def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Integers from `low` up to, but excluding, `high`, each equally likely.

    Args:
        low: the smallest integer; 0 if only one bound is given, which is `high`.
        high: the bound, which does not occur.
        size: the shape: a sequence of ints.
        dtype: int64 unless given.

    Raises:
        RuntimeError: unless `low` is less than `high`.

    Example::

        >>> import gradpack as torch
        >>> x = torch.randint(3, 6, (1000,))
        >>> x.unique()
        tensor([3, 4, 5])
    """
    if low is not None and size is None:  # randint(high, size)
        low, high, size = 0, low, high
    elif low is not None and high is None:
        low, high = 0, low
    low = 0 if low is None else low
    if type(low) is int and type(high) is int and type(size) is tuple and size and -_WORD < low < high < _WORD:
        spec = usual(out, dtypes.int64, device, requires_grad) if dtype is None or dtype is dtypes.int64 else None
        if spec is not None:
            drawn = source(generator).integers(low, high, _Size(shape_of("randint", (size,))))
            return alias(drawn, spec, drawn.shape)
    if high is None or size is None or isinstance(size, int):
        raise TypeError("randint() missing required arguments: 'high' must be an int, 'size' a tuple of ints")
    for name, bound in (("low", low), ("high", high)):
        if not hasattr(bound, "__index__") or isinstance(bound, bool) or (isinstance(bound, Tensor) and bound.ndim):
            raise TypeError(f"randint(): argument '{name}' must be int, not {type(bound).__name__}")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    d = dtype_for("randint", out, dtype) or dtypes.int64
    _check_bounds(low, high, d)
    native = _native("randint", d, device)
    values = on_device(integer_array, device)(generator, low, high, shape_of("randint", (size,)), native)
    return result("randint", out, values, requires_grad, device)


@profiled
@drawing
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The integers from 0 to `n - 1` in random order.

    Args:
        n: how many.
        dtype: int64 unless given.

    Example::

        >>> import gradpack as torch
        >>> order = torch.randperm(4)
        >>> order.sort().values
        tensor([0, 1, 2, 3])
    """
    n = n.__index__()
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype is None or dtype is dtypes.int64:
        spec = usual(out, dtypes.int64, device, requires_grad)
        if spec is not None:
            order = source(generator).permutation(n).astype(spec.native, copy=False)
            return alias(order, spec, order.shape)
    dtype = dtype_for("randperm", out, dtype) or dtypes.int64
    refuse("randperm", dtype, "bc")
    _check_holds(n, dtype)
    values = on_device(order_array, device)(generator, n, _native("randperm", dtype, device))
    return result("randperm", out, values, requires_grad, device)


def _check_holds(n: int, d: Any) -> None:
    """Raise if a dtype does not hold all integers below `n`."""
    if d is dtypes.bfloat16:
        return  # torch rounds
    if d.is_floating_point:
        most = _exact(d) + 1
        if n > most:
            raise RuntimeError(f"n cannot be greater than {most} for {scalar_type(d)} type.")
    elif n > iinfo(d).max + 1:
        raise RuntimeError(f"value cannot be converted to type {cpp_name(d)} without overflow: {n}")
