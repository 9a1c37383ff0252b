"""Arrays in the order of memory that a `memory_format` asks for, and memory read as another dtype."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ...base.errors import scalar_type
from ...base.memory_formats import order_of
from ...core.tensor import Tensor, alias
from ...declare.batching.batch_tensor import BatchedData, is_batched, of_all_examples
from ...declare.batching.errors import NO_FORMAT
from ...kernels.dispatch import accelerated
from ..pointwise.blockwise import is_numpy


def laid_out(array: Any, wanted: Any) -> Any:
    """A copy in a memory format; None and `preserve_format` keep the order of strides."""
    name = getattr(wanted, "name", None)
    if name in (None, "preserve_format"):
        return np.array(array)
    order = order_of(wanted, array.ndim)
    return row_major(array) if order is None else _copied_in(array, order)


@accelerated
def row_major(array: Any) -> Any:
    """Return a row-major copy."""
    return np.array(array, order="C")


@lru_cache(1024)
def has_strides(shape: tuple[int, ...], strides: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    """Return whether some strides make an array of other sizes of one of these, without a copy."""
    blocks: list[tuple[int, int]] = []  # dimensions that follow one another in memory, as one
    for n, s in zip(shape, strides, strict=True):
        if blocks and blocks[-1][1] == n * s:
            blocks[-1] = blocks[-1][0] * n, s
        elif n != 1:
            blocks.append((n, s))
    left = [n for n in sizes if n != 1]
    for n, _ in reversed(blocks):
        found = 1
        while left and found < n:
            found *= left.pop()
        if found != n:
            return False
    return True


def _copied_in(array: Any, order: tuple[int, ...]) -> Any:
    """A copy whose dimensions lie in memory in an order."""
    back = tuple(order.index(i) for i in range(array.ndim))
    return np.transpose(row_major(np.transpose(array, order)), back)


def is_laid_out(array: Any, wanted: Any) -> bool:
    """Whether an array is in a memory format, without gaps."""
    name = getattr(wanted, "name", None)
    if name in (None, "contiguous_format", "preserve_format"):
        return bool(array.flags.c_contiguous)
    if type(array) is BatchedData:
        raise RuntimeError(NO_FORMAT)
    if array.ndim != {"channels_last": 4, "channels_last_3d": 5}.get(name):
        return False
    return bool(np.transpose(array, order_of(wanted, array.ndim)).flags.c_contiguous)


def counts_as(array: Any, wanted: Any) -> bool:
    """Whether `to` regards an array as being in a memory format: any that is not channels last counts as contiguous."""
    last = wanted.name.startswith("channels_last")
    if last and type(array) is BatchedData:
        raise RuntimeError(NO_FORMAT)
    return is_kept(wanted) or not hasattr(array, "strides") or _channels_are_last(array) == last


def like(array: Any) -> dict[str, Any]:
    """The `order` option for `numpy.zeros_like` etc. to give torch's strides; none for other array libraries."""
    return {"order": order_like(array)} if is_numpy(array) else {}


def order_like(array: Any) -> Literal["C", "K"]:
    """NumPy's `order` for a copy of an array: "K" (keep), but "C" if a stride is 0 (expanded)."""
    return "C" if 0 in getattr(array, "strides", ()) else "K"


def rows_or_channels_last(array: Any) -> Any:
    """Return a contiguous array, or `array` itself if it is in a channels-last format."""
    if not is_numpy(array) or array.flags.c_contiguous:
        return array
    order = _CHANNELS_LAST.get(array.ndim)
    if order is not None and np.transpose(array, order).flags.c_contiguous:
        return array
    return row_major(array)


def channels_as_in(array: Any, input: Any) -> Any:
    """Return `array` in the channels-last format if `input` is in it, else unchanged."""
    if not is_numpy(input) or input.flags.c_contiguous or not _channels_are_last(input) or not is_numpy(array):
        return array
    return _copied_in(array, _CHANNELS_LAST[input.ndim])


def _channels_are_last(array: Any) -> bool:
    """Whether the strides of a 4-dim or 5-dim array are those of channels last, maybe with gaps."""
    order = _CHANNELS_LAST.get(array.ndim)
    if order is None or not array.strides[1]:  # as in torch, not those of expanded channels
        return False
    least = 0
    for i in reversed(order):
        n, step = array.shape[i], array.strides[i]
        if n == 1 and i != 1:
            continue  # NumPy sets any stride for size 1; as in torch, only that of the channels counts
        if not n or step < least:
            return False
        least = step * n
    return True


_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def in_format(array: Any, wanted: Any) -> Any:
    """Convert a freshly made array to a memory format, without a copy if it is in it."""
    return array if wanted is None or is_kept(wanted) or is_laid_out(array, wanted) else laid_out(array, wanted)


def as_beside(array: Any, other: Any, wanted: Any) -> Any:
    """Convert a freshly made array to a memory format; by default to the strides of `other`."""
    if wanted is not None and not is_kept(wanted):
        return in_format(array, wanted)
    if not is_numpy(array) or not is_numpy(other) or other.flags.c_contiguous:
        return array
    made = np.empty_like(other, dtype=array.dtype, order=order_like(other))
    made[...] = array
    return made


def is_kept(wanted: Any) -> bool:
    return getattr(wanted, "name", None) == "preserve_format"


def reinterpreted(self: Tensor, d: Any) -> Tensor:
    """The same bits as another dtype. Not differentiable, even where it is the same dtype, as in torch."""
    spec = self._spec.backend.spec_for(d, self._spec.device)
    if is_batched(self) and (self._shape or d.itemsize == self._spec.dtype.itemsize):
        return of_all_examples(reinterpreted, self, d)
    _check_sizes(self, self._spec.dtype, spec.dtype)
    data = self._data.view(spec.native)
    out: Tensor = alias(data, spec, tuple(data.shape))
    out._counter = self._counter
    return out


def _check_sizes(tensor: Tensor, old: Any, new: Any) -> None:
    """Raise if a view as a dtype of another itemsize does not fit the strides, sizes or offset."""
    if old.itemsize == new.itemsize:
        return
    ratio = new.itemsize // old.itemsize  # 0 if the new elements are smaller
    to = f"to view {scalar_type(old)} as {scalar_type(new)} (different element sizes)"
    if not tensor.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {to}")
    strides = tensor.stride()
    if strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {to}, but got {strides[-1]}")
    if not ratio:
        return
    found = {"self.size(-1)": tensor._shape[-1], "self.storage_offset()": tensor.storage_offset()}
    found |= {f"self.stride({i})": s for i, s in enumerate(strides[:-1])}
    for what, value in found.items():
        if value % ratio:
            raise RuntimeError(f"{what} must be divisible by {ratio} {to}, but got {value}")
