"""Tensors of evenly spaced values."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ...backends.numpy import DTYPE, converted, quiet
from ...base import dtypes
from ...base.callers import warn_user
from ...base.dtypes import FLOATING, dtype
from ...base.errors import cpp_name, does_not_fit, not_implemented_for, refuse, scalar_type, too_big
from ...base.info import LEAST, MOST, number_for
from ...core.tensor import Tensor, alias
from ...declare.batching.vmap_fallback import each_example
from ...declare.generate.profiling import profiled
from .making import _native, dtype_for, result, usual

FUNCTIONS = "arange range linspace logspace"

_WORD = 2**62
_REAL = frozenset({int, float})


def _number(value: Any) -> Any:
    number = value.item() if isinstance(value, Tensor) else value
    if type(number) is int and not LEAST <= number <= MOST:
        raise too_big("a bound or step", number)
    return number


@profiled
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The numbers `start, start + step, ...` up to but excluding `end`; `arange(n)` starts at 0.

    Args:
        start: the first number.
        end: where to stop: it is not among them.
        step: the difference of neighbours.
        dtype: by default int64 if all numbers are ints, else the default dtype.

    Raises:
        RuntimeError: for a `step` of 0, or one of the wrong sign.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(1, 6, 2)
        tensor([1, 3, 5])
        >>> torch.arange(0, 1, 0.25)
        tensor([0.0000, 0.2500, 0.5000, 0.7500])
    """
    if type(start) is int and (end is None or type(end) is int) and step == 1 and type(step) is int:
        first, last = (0, start) if end is None else (start, end)
        if first <= last and (dtype is None or dtype is dtypes.int64) and first > -_WORD and last < _WORD:
            spec = usual(out, dtypes.int64, device, requires_grad)
            if spec is not None:
                array = np.arange(first, last, dtype=np.int64)
                return alias(array, spec, array.shape)
    if end is None:
        if start is None:
            raise TypeError("arange() missing 1 required positional argument: 'end'")
        start, end = 0, start
    elif start is None:
        start = 0
    if _REAL.issuperset(map(type, (start, end, step))) and all(-_WORD < v < _WORD for v in (start, end, step)) and step:
        real = dtype is not None or float in map(type, (start, end, step))
        spec = usual(out, dtype, device, requires_grad) if real else None
        if spec is not None and spec.dtype.category == FLOATING:
            _check_range("arange", start, end, step)
            count = max(math.ceil((end - start) / step), 0)
            array = converted(start + np.arange(count, dtype=np.int64) * step, spec.native)
            return alias(array, spec, array.shape)
    for name, value in {"start": start, "end": end, "step": step}.items():
        if isinstance(value, str | bytes | list | tuple | dict | None):
            raise TypeError(f"arange(): argument '{name}' must be Number, not {type(value).__name__}")
    start, end, step = _number(start), _number(end), _number(step)
    _check_range("arange", start, end, step)
    dtype = dtype_for("arange", out, dtype)
    if dtype is None:
        dtype = dtypes.int64 if all(isinstance(v, int) for v in (start, end, step)) else dtypes.get_default_dtype()
    refuse("arange_cpu", dtype, "bc")
    native = _native("arange", dtype, device)
    if dtype is dtypes.int64:
        start, end, step = (number_for(v, dtype) for v in (start, end, step))  # converted one by one, as in torch
        if step == 0:
            raise ValueError(f"step must be nonzero: it is cut off to 0 for {dtype}")
        array = converted(np.arange(start, end, step), native)
    else:
        count = max(int(np.ceil((end - start) / step)), 0)
        if dtype.category < FLOATING:  # for other integer dtypes torch truncates the values, not their count
            start, step = int(start), int(step)
        array = converted(start + np.arange(count, dtype=np.int64) * step, native)
    return result("arange", out, array, requires_grad, device, keeps_shape=True)


@profiled
def range(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Like `arange`, with `end` included. Deprecated; warns once.

    Args:
        start: the first number.
        end: the bound, which is part of the range.
        step: the difference of neighbours.

    Raises:
        RuntimeError: for a step of zero, a step in the wrong direction, and bounds that are not finite.

    Example::

        >>> import warnings, gradpack as torch
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.range(1, 3)
        tensor([1., 2., 3.])
    """
    warn_user(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    if end is None:
        start, end = 0, start
    start, end, step = _number(start), _number(end), _number(step)
    _check_range("range", start, end, step)
    d = dtype_for("range", out, dtype) or dtypes.get_default_dtype()
    native = _native("range", d, device)
    if d.category < FLOATING:  # start, end and step are truncated first
        start, end, step = int(start), int(end), int(step)
        if not step:
            raise ValueError(f"step must be nonzero: it is cut off to 0 for {d}")
    count = int((end - start) / step) + 1
    values = (start + np.arange(count, dtype=np.int64) * step).astype(native)
    return result("range", out, values, requires_grad, device, keeps_shape=True)


def _check_range(op: str, start: Any, end: Any, step: Any) -> None:
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: {op}({start}, {end}, {step})")


@profiled
@each_example
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """`steps` values from `start` to `end`, evenly spaced, ends included.

    Args:
        start: the first value: a number, or a tensor without dimensions.
        end: the last value.
        steps: the number of values.

    Raises:
        RuntimeError: for a negative number of steps.

    Example::

        >>> import gradpack as torch
        >>> torch.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    if type(start) in _REAL and type(end) in _REAL and steps > 1:
        spec = usual(out, dtype, device, requires_grad)
        if spec is not None and spec.dtype.category == FLOATING:
            ends = number_for(start, spec.dtype), number_for(end, spec.dtype)
            array = converted(_evenly(*ends, steps), spec.native)
            return alias(array, spec, array.shape)
    return _spaced("linspace", start, end, steps, None, out, dtype, device, requires_grad)


def _spaced(
    op: str, start: Any, end: Any, steps: int, base: Any, out: Any, dtype: dtype | None, device: Any, grad: bool
) -> Tensor:
    """Evenly spaced values, or `base` to their powers."""
    dtype, first, last = _bounds(op, start, end, out, dtype)
    native = _native(op, dtype, device)
    if base is None and native.kind == "b" and steps > 1:
        raise not_implemented_for("linspace_cpu", dtypes.bool_)
    if native.kind in "iu":
        values = _whole_steps(first, last, steps, native)
    else:
        first, last = _ends(first, last, steps, dtype)
        values = _evenly(first, last, steps)
    if base is not None:
        with quiet():
            values = np.power(float(base) if native.kind in "iu" else base, values)
    return result(op, out, converted(values, native), grad, device, keeps_shape=True)


def _ends(first: Any, last: Any, steps: int, d: dtype | None) -> tuple[Any, Any]:
    """Convert the ends of evenly spaced values to numbers of their dtype."""
    d = d or dtypes.get_default_dtype()
    return (number_for(first, d), number_for(last, d)) if steps > 1 else (first, last)


def _evenly(first: Any, last: Any, steps: int) -> Any:
    """`numpy.linspace`, in a fifth of its overhead."""
    if type(first) not in (int, float) or type(last) not in (int, float) or steps < 2:
        return np.linspace(first, last, steps)
    step = (last - first) / (steps - 1)
    if not step:
        return np.linspace(first, last, steps)
    if not math.isfinite(step):
        with quiet():
            return _from_both_ends(first, last, step, np.arange(float(steps)))
    values = np.arange(float(steps))
    values *= step
    if first or step < 0:  # zeros are positive already
        values += first
    values[-1] = last
    return values


def _bounds(op: str, start: Any, end: Any, out: Any, d: dtype | None) -> tuple[dtype | None, Any, Any]:
    """The dtype of evenly spaced values, and their ends as numbers."""
    for label, value in (("start", start), ("end", end)):
        if not isinstance(value, Tensor | int | float | builtins.complex | np.generic | np.ndarray):
            raise TypeError(f"{op}(): argument '{label}' must be Number, not {type(value).__name__}")
    ranks = [(label, v.ndim) for label, v in (("start", start), ("end", end)) if isinstance(v, Tensor)]
    if any(rank for _, rank in ranks):
        found = " and ".join(f"{label} with {rank} dimension(s)" for label, rank in ranks)
        raise RuntimeError(f"{op} only supports 0-dimensional start and end tensors, but got {found}.")
    first, last = _number(start), _number(end)
    d = dtype_for(op, out, d)
    if isinstance(first, builtins.complex) or isinstance(last, builtins.complex):
        inferred = dtypes.default_complex()
        if d is not None and not d.is_complex:
            raise RuntimeError(
                f"torch.{op}(): inferred dtype {cpp_name(inferred)} can't be safely cast to passed dtype "
                f"{scalar_type(d)}"
            )
        return d or inferred, first, last
    return d, first, last


def _whole(value: Any, native: Any) -> int:
    """Convert a number to an integer of a dtype; negative ones wrap around in an unsigned dtype."""
    most = np.iinfo(native).max
    least = -most if native.kind == "u" and isinstance(value, int) else np.iinfo(native).min
    if not least <= value <= most:
        raise does_not_fit(value, DTYPE[native])
    return int(np.asarray(int(value)).astype(native))


def _whole_steps(first: Any, last: Any, steps: int, native: Any) -> Any:
    """Evenly spaced values computed from the nearer end, as in torch, so that truncation gives the same integers.

    Both ends are converted to integers first.
    """
    first, last = _whole(first, native), _whole(last, native)
    if steps == 1:
        return np.array([first])
    place = np.arange(steps).astype(np.longdouble)  # wide, so that product and sum are rounded once, as by FMA
    return _from_both_ends(first, last, (last - first) / max(steps - 1, 1), place).astype(np.float64)


def _from_both_ends(first: Any, last: Any, step: Any, place: Any) -> Any:
    steps = place.shape[0]
    return np.where(place < steps // 2, first + step * place, last - step * (steps - 1 - place))


@profiled
@each_example
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """`base` to the powers of `linspace(start, end, steps)`.

    Args:
        start, end: the exponents of the first and the last value: numbers, or tensors without dimensions.
        steps: the number of values.
        base: the base of the powers.

    Raises:
        RuntimeError: for a negative number of steps.

    Example::

        >>> import gradpack as torch
        >>> torch.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
        >>> torch.logspace(0, 3, 4, base=2)
        tensor([1., 2., 4., 8.])
    """
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return _spaced("logspace", start, end, steps, base, out, dtype, device, requires_grad)
