"""Types of arguments and results of the standard's functions."""

from __future__ import annotations

from typing import NamedTuple

from ..base.devices import device
from ..base.dtypes import dtype
from ..core.tensor import Tensor

Shape = int | tuple[int, ...]
Axes = int | tuple[int, ...]
Where = device | str | None


class FloatLimits(NamedTuple):
    """The result of `finfo`."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


class IntLimits(NamedTuple):
    """The result of `iinfo`."""

    bits: int
    max: int
    min: int
    dtype: dtype


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Tensor
    counts: Tensor
