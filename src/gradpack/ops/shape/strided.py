"""Strides: views by steps through the storage, windows along a dimension, and copies in row-major order."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...backends.memory_layout import Window, memory_of, reach
from ...base.memory_formats import FORMATS, order_of
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array, Setting, Sizes
from ...declare.batching.batch_tensor import batched, is_batched
from ...declare.decorators import linear
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import _array_type
from .dims import wrap_dim
from .memory_formats import is_laid_out, laid_out, row_major
from .shape import _method_view, expand, reshape, view_op

FUNCTIONS = "as_strided"
METHODS = "as_strided contiguous unfold view_as reshape_as expand_as"


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view with sizes, strides and offset given in elements of the storage.

    Args:
        size: the shape.
        stride: by dimension, how many elements of the storage lie between neighbours.
        storage_offset: the position of the first element in the storage; None for that which `input` has.

    Raises:
        RuntimeError: if that leaves the storage.

    Example::

        >>> import gradpack as torch
        >>> torch.as_strided(torch.arange(4), (2, 2), (1, 1))
        tensor([[0, 1],
                [1, 2]])
    """
    if is_batched(input):
        return _of_all_examples(input, tuple(size), tuple(stride), storage_offset)
    own = input.storage_offset()
    offset = own if storage_offset is None else storage_offset
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    memory = memory_of(input._data)
    if memory is None:
        raise RuntimeError("as_strided(): the tensor's memory is not one whole array: clone() it first")
    if offset + reach(size, stride) > memory.size and 0 not in size:
        item = input.element_size()
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} "
            f"requiring a storage size of {(offset + reach(size, stride)) * item} are out of bounds for storage of "
            f"size {memory.nbytes}"
        )
    at = Window((input._shape, input.stride()), own, (size, stride), offset)
    return _as_strided(input, size, stride, offset, at)


def _of_all_examples(
    input: Tensor, size: tuple[int, ...], stride: tuple[int, ...], storage_offset: int | None
) -> Tensor:
    """`as_strided` under `vmap`: the strides apply within each example, from its first element."""
    if len(size) != len(stride):
        raise RuntimeError(
            "Tensor.as_strided(size, stride, ...): size and stride must have the same length! Got size "
            f"{list(size)} and stride {list(stride)}"
        )
    data = input._data
    base = input.storage_offset()
    offset = base if storage_offset is None else storage_offset
    high = base + reach(input._shape, input.stride())
    if 0 not in size and (offset < base or offset + reach(size, stride) > high):
        raise RuntimeError(
            f"result = tensor.as_strided({list(size)}, {list(stride)}, {offset}) can access memory outside of `tensor`."
            f" `result` can access some memory in range [{offset}, {offset + reach(size, stride)}], but `tensor` can "
            f"only access some memory in range [{base}, {high}]. This is not supported inside of vmap, please try to "
            "rewrite the `as_strided` call as a sequence of PyTorch view operations"
        )
    mode = MODE.get()
    try:
        MODE.set(mode.replace(levels=mode.levels[: mode.levels.index(data.level)]))
        whole = data.value
        made = as_strided(whole, (whole._shape[0], *size), (whole.stride(0), *stride), offset)
    finally:
        MODE.set(mode)
    return batched(made, data.level)


@view_op(
    input=lambda g, size, stride, storage_offset, at: _part_spread(g, at),
    jvp=lambda input_t, input, size, stride, storage_offset, at: _tangent(
        input_t, input, (size, stride, storage_offset, at)
    ),
    node="AsStridedBackward0",
    saved_as="size storage_offset stride",
)
def _as_strided(input: Array, size: Sizes, stride: Sizes, storage_offset: int, at: Setting) -> Any:
    """`as_strided`, and the layout of the result relative to that of the input."""
    memory = memory_of(input)
    repeated = 0 in stride  # overlapping elements: read-only
    if 0 in size:
        return np.zeros(size, input.dtype)
    return np.lib.stride_tricks.as_strided(
        memory[storage_offset:], size, tuple(s * memory.itemsize for s in stride), writeable=not repeated
    )


def _tangent(input_t: Any, input: Any, where: tuple[Any, ...]) -> Any:
    """The view of the tangent, if it has the layout of the primal; else a copy of the corresponding elements."""
    size, stride, offset, at = where
    memory = None if is_batched(input_t) else memory_of(input_t._data)
    if (
        memory is not None
        and offset + reach(size, stride) <= memory.size
        and input_t.stride() == input.stride()
        and input_t.storage_offset() == input.storage_offset()
    ):
        return _as_strided(input_t, *where)
    return _part_taken(input_t, at)


@linear(input=lambda g, at: _part_spread(g, at), data_movement=True, node="AsStridedBackward0")
def _part_taken(input: Array, at: Setting) -> Any:
    """The part of a tensor at the position that `at` describes, that of a view in its base."""
    return at.take(input)


@linear(input=lambda g, at: _part_taken(g, at), data_movement=True, node="AsStridedBackward1")
def _part_spread(input: Array, at: Setting) -> Any:
    """Zeros in the shape of the base, with `input` at the position of a view: the adjoint of `_part_taken`."""
    return at.spread(input)


def _method_contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if it is row-major without gaps (or in another memory format), else a copy that is.

    Args:
        memory_format: the order of the dimensions in memory: `torch.contiguous_format` unless given.

    Raises:
        RuntimeError: for a format of another number of dimensions.

    Example::

        >>> import gradpack as torch
        >>> x = torch.zeros(2, 3).T
        >>> x.stride(), x.contiguous().stride()
        ((1, 3), (2, 1))
    """
    if memory_format is None:
        return self if self._data.flags.c_contiguous else _contiguous(self)
    if not is_batched(self):
        order_of(memory_format, self.ndim)
    if is_laid_out(self._data, memory_format):
        return self
    if memory_format is FORMATS["preserve_format"]:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return _contiguous(self, memory_format)


@linear(input=lambda g: g, data_movement=True, node="CloneBackward0")
def _contiguous(input: Array, memory_format: Setting = None) -> Any:
    """A row-major copy, or one in another memory format."""
    return row_major(input) if memory_format is None else laid_out(input, memory_format)


def _method_view_as(self: Tensor, other: Tensor) -> Tensor:
    """View this tensor in the shape of `other`.

    Args:
        other: the tensor whose shape is taken.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(4).view_as(torch.zeros(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    return _method_view(self, other._shape)


def _method_reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Reshape this tensor to the shape of `other`.

    Args:
        other: the tensor whose shape is taken.
    """
    return reshape(self, other._shape)


def _method_expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expand this tensor to the shape of `other`.

    Args:
        other: the tensor whose shape is taken.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1, 2]).expand_as(torch.zeros(2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return expand(self, other._shape)


@view_op(input=lambda g, input_shape, dimension, size, step: _unfold_backward(g, input_shape, dimension, size, step))
def unfold(input: Array, dimension: int, size: int, step: int) -> Any:
    """All windows of `size` along a dimension, `step` apart, as a last dimension. A view.

    Args:
        dimension: the dimension that the windows lie along.
        size: the number of elements of a window.
        step: the distance between the starts of two windows.

    Raises:
        RuntimeError: if a window is larger than the dimension, `size` negative, or `step` not positive.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(5).unfold(0, 3, 2)
        tensor([[0, 1, 2],
                [2, 3, 4]])
    """
    d = wrap_dim(dimension, len(input.shape))
    length = input.shape[d] if len(input.shape) else 1
    if size < 0 or step <= 0:
        raise RuntimeError(f"size is {size} but must be >= 0" if size < 0 else f"step is {step} but must be > 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {length} but size is {size}")
    if not len(input.shape):
        return np.reshape(input, (1,))[:size]
    if is_numpy(input) and input.size and input.flags.c_contiguous and input.dtype.kind != "V":
        count = (length - size) // step + 1
        shape, strides = input.shape, input.strides
        shape = (*shape[:d], count, *shape[d + 1 :], size)
        strides = (*strides[:d], strides[d] * step, *strides[d + 1 :], strides[d])
        return _array_type(shape, input.dtype, input, 0, strides)
    windows = np.lib.stride_tricks.sliding_window_view(input, size, axis=d, writeable=True)
    return windows[(slice(None),) * d + (slice(None, None, step),)]


@linear(
    input=lambda g, dimension, size, step: unfold(g, dimension, size, step),
    data_movement=True,
    node="UnfoldBackwardBackward0",
)
def _unfold_backward(input: Array, shape: Sizes, dimension: int, size: int, step: int) -> Any:
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


@view_op(input=lambda g: g, name="_fw_primal", node="Identity")
def fw_primal(input: Array) -> Any:
    """The same elements, as a view without a tangent."""
    return input[...]
