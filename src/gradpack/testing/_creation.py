"""Random tensors for tests: `torch.testing.make_tensor`."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..base.dtypes import FLOATING, bool_, dtype, float16, float32, float64, int64
from ..base.info import finfo, iinfo
from ..core.tensor import Tensor
from ..ops.pointwise.complex_parts import complex as complex_of
from ..ops.random.floats import rand
from ..ops.random.integers import randint

_RANGES = {"bool": (0, 2), "uint8": (0, 10)}  # of others, -9 to 9


def make_tensor(
    *shape: Any,
    dtype: dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of uniform random numbers from `low` up to, without, `high`.

    Args:
        shape: ints, or one sequence of them.
        low, high: -9 and 9 (10 for integers; 0 and 10 for uint8) by default; integers are those between them.
        noncontiguous: leave gaps in memory.
        exclude_zero: put the smallest positive number of the dtype in place of zeros.

    Raises:
        ValueError: for bounds in the wrong order, NaN or out of the range of the dtype, and gradients of integers.

    Example::

        >>> import gradpack as torch
        >>> torch.testing.make_tensor(2, 3, dtype=torch.float64, device="cpu").shape
        gradpack.Size([2, 3])
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
    kind = dtype.name if hasattr(dtype, "name") else ""
    if not kind:
        raise TypeError(f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor().")
    integral = dtype.category < FLOATING
    if requires_grad and integral:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}"
        )
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got noncontiguous="
            f"{noncontiguous} and memory_format={memory_format}"
        )
    low, high = _bounds(dtype, low, high)
    drawn = size if not noncontiguous or not size else (*size[:-1], 2 * size[-1])
    if dtype.is_complex:
        part = {4: float16, 8: float32}.get(dtype.itemsize, float64)
        made = complex_of(_uniform(drawn, part, low, high), _uniform(drawn, part, low, high)).to(dtype)
    elif integral:
        made = randint(low, high, drawn, dtype=int64).to(dtype)
    else:
        made = _uniform(drawn, dtype, low, high)
    made = made.to(device)
    if noncontiguous and size:
        made = made[..., ::2]
    if exclude_zero:
        made[made == 0] = 1 if integral else finfo(dtype).tiny
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    return made.requires_grad_() if requires_grad else made


def _bounds(kind: dtype, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the bounds of numbers of a dtype, from the first up to, without, the second."""
    integral = kind.category < FLOATING
    first, last = _RANGES.get(kind.name, (-9, 10) if integral else (-9.0, 9.0))
    low, high = first if low is None else low, last if high is None else high
    if any(isinstance(v, float) and math.isnan(v) for v in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low == high and not integral:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    limits = (0, 2) if kind is bool_ else (iinfo(kind).min, iinfo(kind).max + 1) if integral else _limits(kind)
    if high < limits[0] or low >= limits[1]:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {kind} only supports "
            f"[{limits[0]}, {limits[1]})"
        )
    low, high = max(low, limits[0]), min(high, limits[1])
    return (math.ceil(low), math.ceil(high)) if integral else (float(low), float(high))


def _limits(kind: dtype) -> tuple[float, float]:
    return finfo(kind).min, finfo(kind).max


def _uniform(size: Any, kind: dtype, low: float, high: float) -> Tensor:
    """Return uniform numbers of `[low, high)`; `low` in the place of those that rounding makes `high`."""
    share = rand(size, dtype=float64)
    made = (low * (1 - share) + high * share).clamp(low, high).to(kind)
    return made.masked_fill(made >= high, low) if low < high else made


__all__ = ["make_tensor"]
