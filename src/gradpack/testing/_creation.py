"""Random tensors for tests: `torch.testing.make_tensor`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.dtypes import DTYPES, FLOATING, dtype
from ..base.info import finfo
from ..core.tensor import Tensor
from ..ops.pointwise.complex_parts import complex as complex_of
from ..ops.random.floats import rand

_RANGES = {"bool": (0, 2), "uint8": (0, 10), "float": (-9.0, 9.0)}  # others: (-9, 10)


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
        low, high: -9 and 9 (10 for integers; 0 and 10 for uint8) by default.
        noncontiguous: leave gaps in memory.
        exclude_zero: put the smallest positive number of the dtype in place of zeros.

    Raises:
        ValueError: for bounds in the wrong order, NaN, and gradients of integers.

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
    first, last = _RANGES.get(kind, (-9, 10) if integral else _RANGES["float"])
    low, high = first if low is None else low, last if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    wide = {"float64": "float64", "complex128": "float64"}.get(kind, "float32")
    drawn = size if not noncontiguous or not size else (*size[:-1], 2 * size[-1])
    numbers = low + (high - low) * rand(drawn, dtype=DTYPES[wide])
    if dtype.is_complex:
        numbers = complex_of(numbers, low + (high - low) * rand(drawn, dtype=DTYPES[wide]))
    made = (numbers.floor() if integral else numbers).to(dtype)
    if not integral and not dtype.is_complex:
        made = made.clamp(max=float(np.nextafter(np.float32(high), np.float32(low)))) if not dtype.low else made
    if noncontiguous and size:
        made = made[..., ::2]
    if exclude_zero:
        made[made == 0] = 1 if integral else finfo(dtype).tiny
    if memory_format is not None:
        made = made.contiguous(memory_format=memory_format)
    return made.requires_grad_() if requires_grad else made


__all__ = ["make_tensor"]
