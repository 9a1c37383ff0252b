"""Functions that make tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import dtypes
from ..base.dtypes import dtype
from ..core.tensor import Tensor
from ._lookup import ours
from ._promotion import result_type
from ._types import Shape, Where


def asarray(obj: Any, /, *, dtype: dtype | None = None, device: Where = None, copy: bool | None = None) -> Tensor:
    """Return a tensor of an array, numbers, nested sequences of them, or a buffer; of tensors, with their history.

    Args:
        copy: True for a copy, False to share memory or raise, None to copy only if needed.

    Raises:
        ValueError: if `copy` is False and a copy is needed.
    """
    if isinstance(obj, list | tuple) and any(isinstance(x, Tensor) for x in obj):
        parts = [asarray(x, device=device) for x in obj]
        obj, copy = stack(parts), None
    return ours("asarray", obj, dtype=dtype, device=device, copy=copy)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Return tensors of one shape along a new axis, of the dtype that their promotion gives."""
    return ours("stack", in_one_dtype(arrays), axis)


def in_one_dtype(arrays: Sequence[Tensor]) -> list[Tensor]:
    """Return tensors as they are, converted to one dtype."""
    d = result_type(*arrays)
    return [a.to(d) for a in arrays]


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: dtype | None = None, device: Where = None
) -> Tensor:
    """Return numbers at equal distances, from `start` up to and without `stop`; none if `stop` is not ahead."""
    start, stop = (0, start) if stop is None else (start, stop)
    if dtype is None:
        whole = all(isinstance(x, int) for x in (start, stop, step))
        dtype = dtypes.int64 if whole else dtypes.get_default_dtype()
    if step and (stop - start) * step <= 0:
        return ours("empty", 0, dtype=dtype, device=device)
    return ours("arange", start, stop, step, dtype=dtype, device=device)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: dtype | None = None,
    device: Where = None,
    endpoint: bool = True,
) -> Tensor:
    """Return `num` numbers at equal distances, from `start` to `stop`, which is the last one if `endpoint`."""
    made = ours("linspace", start, stop, num if endpoint else num + 1, dtype=dtype, device=device)
    return made if endpoint else made[:num]


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: dtype | None = None, device: Where = None
) -> Tensor:
    """Return a matrix with ones on diagonal `k` and zeros elsewhere."""
    made = zeros((n_rows, n_rows if n_cols is None else n_cols), dtype=dtype, device=device)
    if -made.shape[0] <= k <= made.shape[1]:
        made.diagonal(k).fill_(1)
    return made


def zeros(shape: Shape, *, dtype: dtype | None = None, device: Where = None) -> Tensor:
    """Return zeros of a shape."""
    return ours("zeros", shape, dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: dtype | None = None, device: Where = None) -> Tensor:
    """Return ones of a shape."""
    return ours("ones", shape, dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: dtype | None = None, device: Where = None) -> Tensor:
    """Return an uninitialised tensor of a shape."""
    return ours("empty", shape, dtype=dtype, device=device)


def full(shape: Shape, fill_value: complex, *, dtype: dtype | None = None, device: Where = None) -> Tensor:
    """Return a tensor of a shape whose elements are all one number."""
    return ours("full", (shape,) if isinstance(shape, int) else shape, fill_value, dtype=dtype, device=device)


def from_dlpack(x: Any, /, *, device: Where = None, copy: bool | None = None) -> Tensor:
    """Return a tensor of the memory of an object with `__dlpack__`."""
    return ours("from_dlpack", x, device=device, copy=copy)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Return the coordinates of a grid, one tensor for each of the vectors given."""
    return list(ours("meshgrid", *arrays, indexing=indexing)) if arrays else []


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return matrices with zeros above diagonal `k`."""
    return ours("tril", x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return matrices with zeros below diagonal `k`."""
    return ours("triu", x, k)
