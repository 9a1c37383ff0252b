"""Strides: views by steps through the storage, windows along a dimension, and copies in row-major order."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..declare.kinds import linear
from ..tensor.tensor import Tensor

FUNCTIONS = "as_strided"
METHODS = "as_strided contiguous unfold"


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view with sizes, strides and offset given in elements of the storage.

    Raises:
        RuntimeError: if that leaves the storage.

    Example::

        >>> import gradpack as torch
        >>> torch.as_strided(torch.arange(4), (2, 2), (1, 1))
        tensor([[0, 1],
                [1, 2]])
    """
    offset = input.storage_offset() if storage_offset is None else storage_offset
    size, stride = tuple(size), tuple(stride)
    if not _is_whole_storage(input._data):
        return _gathered(input, size, stride, offset)
    return _as_strided(input, size, stride, offset)


def _storage_of(array: Any) -> Any:
    """All elements of the memory that an array is a view of, in order."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.ravel(order="K")


def _is_whole_storage(array: Any) -> bool:
    return bool(array.flags.c_contiguous) and _storage_of(array).size == array.size


def _gathered(input: Tensor, size: Any, stride: Any, offset: int) -> Tensor:
    """The elements of `as_strided` of a tensor that does not fill its storage in order: a copy."""
    from .create import from_numpy

    whole = _storage_of(input._data)
    own = _window(np.arange(whole.size), input._shape, input.stride(), input.storage_offset())
    wanted = _window(np.arange(whole.size), size, stride, offset)
    place = np.full(whole.size, -1)
    place[np.reshape(own, (-1,))] = np.arange(own.size)
    index = place[wanted]
    if np.any(index < 0):
        raise RuntimeError(
            f"as_strided(): sizes {list(size)} and strides {list(stride)} reach elements of the storage that the input "
            f"of shape {list(input._shape)} and strides {list(input.stride())} does not contain; use its base"
        )
    return reshape(input, (-1,))[from_numpy(np.ascontiguousarray(index))]


def _window(flat: Any, size: Any, stride: Any, offset: int) -> Any:
    need = offset + builtins.sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1 if all(size) else 0
    if need > flat.shape[0] or offset < 0:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} are out of bounds for "
            f"storage of {flat.shape[0]} elements"
        )
    return np.lib.stride_tricks.as_strided(flat[offset:], tuple(size), tuple(s * flat.strides[0] for s in stride))


@linear(
    input=lambda g, input_shape, size, stride, storage_offset: as_strided_scatter_add(
        g, input_shape, size, stride, storage_offset
    ),
    view=True,
    structural=True,
    node="AsStridedBackward0",
)
def _as_strided(input: Any, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    """`as_strided` of a tensor that fills its storage in order."""
    return _window(np.reshape(input, (-1,)), tuple(size), tuple(stride), storage_offset)


@linear(
    input=lambda g, size, stride, storage_offset: _as_strided(g, size, stride, storage_offset),
    structural=True,
    node="AsStridedBackward1",
)
def as_strided_scatter_add(input: Any, shape: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """Zeros of `shape` with `input` added where `as_strided` would have read."""
    count = 1
    for n in shape:
        count *= n
    index = np.lib.stride_tricks.as_strided(
        np.arange(count)[storage_offset or 0 :], tuple(size), tuple(s * 8 for s in stride)
    )
    out = np.zeros(count, input.dtype)
    np.add.at(out, index, input)
    return np.reshape(out, tuple(shape))


def _method_contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if it is row-major without gaps, else a copy that is."""
    return self if self._data.flags.c_contiguous else _contiguous(self)


@linear(input=lambda g: g, structural=True, node="CloneBackward0")
def _contiguous(input: Any) -> Any:
    """A row-major copy."""
    return np.array(input, order="C")


@linear(
    input=lambda g, input_shape, dimension, size, step: _unfold_backward(g, input_shape, dimension, size, step),
    view=True,
    structural=True,
)
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """All windows of `size` along a dimension, `step` apart, as a last dimension. A view.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(4).unfold(0, 2, 1)
        tensor([[0, 1],
                [1, 2],
                [2, 3]])
    """
    d = wrap_dim(dimension, len(input.shape))
    length = input.shape[d] if len(input.shape) else 1
    if size < 0 or step <= 0:
        raise RuntimeError(f"size is {size} but must be >= 0" if size < 0 else f"step is {step} but must be > 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {length} but size is {size}")
    if not len(input.shape):
        return np.reshape(input, (1,))[:size]
    windows = np.lib.stride_tricks.sliding_window_view(input, size, axis=d)
    return windows[(slice(None),) * d + (slice(None, None, step),)]


@linear(
    input=lambda g, dimension, size, step: unfold(g, dimension, size, step),
    structural=True,
    node="UnfoldBackwardBackward0",
)
def _unfold_backward(input: Any, shape: Any, dimension: int, size: int, step: int) -> Any:
    """Zeros of `shape` with the windows added back."""
    out = np.zeros(tuple(shape), input.dtype)
    if not len(shape):
        return np.reshape(np.sum(input), ()) if size else out
    d = wrap_dim(dimension, len(shape))
    count = input.shape[d]
    for k in builtins.range(size):
        place = (slice(None),) * d + (slice(k, k + (count - 1) * step + 1, step),)
        if count:
            out[place] += input[..., k]
    return out


from .shape import reshape, wrap_dim  # noqa: E402 - what follows is named late, by formulas too
