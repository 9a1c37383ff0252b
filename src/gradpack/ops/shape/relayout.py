"""In-place operations that give a tensor other sizes, strides or memory, and write no element."""

from __future__ import annotations

from math import prod
from typing import Any

from ...backends.memory_layout import memory_of, reach
from ...base import late
from ...base.memory_formats import FORMATS, order_of
from ...base.modes import MODE
from ...core.accumulate_grad import renew_leaf
from ...core.storage import UntypedStorage
from ...core.tensor import Tensor, alias
from ...declare.inplace.write_checks import check_history, refuse_inference, tensors_in
from ...declare.op import REGISTRY
from ...graph.node import AccumulateGrad, variant_of
from .dims import ints_of
from .strided import as_strided

METHODS = (  # these are methods only, as in torch
    "t_ transpose_ swapaxes_ swapdims_ squeeze_ unsqueeze_ is_set_to untyped_storage share_memory_ is_shared _view_func"
)
INPLACE = "as_strided_ resize_ resize_as_ set_ fill_diagonal_"


def _relaid(node: str, target: Tensor, change: Any) -> Tensor:
    """Apply the view operation `change` to `target` in-place, and record it under the name `node`."""
    refuse_inference(target)
    check_history(target)
    source = alias(target._data, target._spec, target._shape)
    source._edge = target._current_edge() if MODE.get().grad else None
    source._tangents = target._tangents
    made = change(source)
    edge = made._edge
    if edge is not None:
        edge.__class__ = variant_of(type(edge), node)
    _become(target, made)
    if MODE.get().grad and edge is not None:
        target._edge = edge
        if target._view is not None:
            target._view.version = target._counter[0]
    if target._tangents is not None:
        target._tangents = made._tangents
    return target


def _become(target: Tensor, made: Tensor) -> None:
    target._data, target._shape = made._data, made._shape
    target._relaid = True
    if type(target._edge) is AccumulateGrad:
        target._leaf_state.follow(target)
    if type(target._counter) is list:
        target._counter[0] += 1


def _method_t_(self: Tensor) -> Tensor:
    """In-place form of `t`."""
    return _relaid("TBackward1", self, REGISTRY["t"].public)


def _method_transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place form of `transpose`."""
    return _relaid("TransposeBackward1", self, lambda x: late.transpose(x, dim0, dim1))


_method_swapdims_ = _method_transpose_


def _method_swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """In-place form of `swapaxes`."""
    return _method_transpose_(self, axis0, axis1)


def _method_squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """In-place form of `squeeze`."""
    node = "SqueezeBackward3" if dim is None else "SqueezeBackward5" if type(dim) is tuple else "SqueezeBackward4"
    return _relaid(node, self, lambda x: late.squeeze(x, dim))


def _method_unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """In-place form of `unsqueeze`."""
    return _relaid("UnsqueezeBackward1", self, lambda x: late.unsqueeze(x, dim))


def _method_as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """In-place form of `as_strided`."""
    return _relaid("AsStridedBackward1", self, lambda x: as_strided(x, size, stride, storage_offset))


_MOST = 2**63 - 1


def _check_size(target: Tensor, shape: tuple[int, ...]) -> None:
    """Raise if a number of elements or bytes overflows 64 bits."""
    if prod(shape) > _MOST:
        raise RuntimeError("numel: integer multiplication overflow")
    if prod(max(n, 1) for n in shape) > _MOST:
        raise RuntimeError("Stride calculation overflowed")
    if prod(shape) * target._spec.dtype.itemsize > _MOST:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")


def _resized(target: Tensor, shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> Tensor:
    """`resize_` to a shape: contiguous, or with the dimensions in memory in the order `order`."""
    refuse_inference(target)
    if target.requires_grad and not MODE.get().inference:
        raise RuntimeError("cannot resize variables that require grad")
    if any(n < 0 for n in shape):
        raise RuntimeError(f"resize_(): sizes must not be negative, but got {list(shape)}")
    if shape == target._shape and order is None:
        return target
    _check_size(target, shape)
    memory = memory_of(target._data)
    strides = contiguous_strides(shape)
    first = target.storage_offset() if memory is not None else 0
    needed = first + reach(shape, strides)
    if memory is None or needed > memory.size:
        xp = target._spec.backend.xp
        old = xp.reshape(target._data, (-1,)) if memory is None else memory
        memory = xp.concatenate([old, xp.zeros(max(needed - old.size, 0), old.dtype)])
    array = memory[first : first + reach(shape, strides)]
    if order is None:
        array = array.reshape(shape)
    else:  # reshape in memory order, then permute back
        back = sorted(range(len(shape)), key=order.__getitem__)
        array = array.reshape([shape[d] for d in order]).transpose(back)
    _become(target, alias(array, target._spec, tuple(shape)))
    return target


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides, in elements."""
    strides: list[int] = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def _method_resize_(self: Tensor, *sizes: Any, size: Any = None, memory_format: Any = None) -> Tensor:
    """Change the shape in-place, contiguous; the storage grows if it does not suffice. New elements are zeros.

    Raises:
        RuntimeError: if the tensor requires grad.
    """
    shape = ints_of(sizes if size is None else (size,))
    return _resized(self, shape, order_of(memory_format, len(shape)))


def _method_resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Resize to the shape of another tensor, in place: see `resize_`.

    Args:
        the_template: the tensor whose shape is taken; its dtype does not matter.
        memory_format: the order of the dimensions in memory: contiguous unless given; `torch.preserve_format` for that
            of `the_template`.

    Raises:
        RuntimeError: if this tensor requires grad.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(6).resize_as_(torch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    order = order_of(memory_format, the_template.ndim)
    if memory_format is FORMATS["preserve_format"] and the_template.ndim > 1 and not the_template.is_contiguous():
        strides = the_template.stride()
        order = tuple(sorted(range(the_template.ndim), key=lambda d: -strides[d]))
    return _resized(self, the_template._shape, order)


def _method_set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Take over the storage, sizes and strides of another tensor; without one, become empty.

    `x.set_(tensor)`, `x.set_(tensor_or_storage, storage_offset, size, stride)`, `x.set_()`.

    Args:
        source: a tensor or a storage; None for nothing.
        storage_offset, size, stride: how to read the storage.
    """
    if not isinstance(source, Tensor | UntypedStorage) and hasattr(source, "untyped"):
        source = source.untyped()
    if not isinstance(source, Tensor | UntypedStorage | None):
        raise TypeError(f"set_(): argument 'source' must be a Tensor or a storage, not {type(source).__name__}")
    check_history(self, any(t.requires_grad for t in tensors_in([source])))
    refuse_inference(self)
    spec = self._spec
    if source is None:
        made = alias(spec.backend.asarray((), spec.dtype, spec.device), spec, (0,))
    elif isinstance(source, Tensor) and size is None:
        if source._spec is not spec:
            raise RuntimeError(
                f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}: convert it first"
            )
        made = alias(source._data, spec, source._shape)
    else:
        flat = source._flat(spec) if isinstance(source, UntypedStorage) else memory_of(source._data)
        if flat is None:
            raise RuntimeError("set_(): the source's memory is not one whole array: clone() it first")
        shape = (flat.size,) if size is None else tuple(size)
        strides = contiguous_strides(shape) if stride is None else tuple(stride)
        made = as_strided(alias(flat, spec, flat.shape), shape, strides, storage_offset)
    _become(self, made)
    if self._edge is not None and self.grad_fn is not None:
        if MODE.get().grad:
            self._edge = None
    elif self._edge is not None:  # graphs recorded before keep the old leaf
        renew_leaf(self)
    return self


def _method_fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal, in place.

    Args:
        fill_value: the number.
        wrap: in a matrix with more rows than columns, start the diagonal again after each block of `columns + 1` rows.

    Raises:
        RuntimeError: for fewer than two dimensions, or more of different sizes.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(5, 2).fill_diagonal_(7, wrap=True)
        tensor([[7., 0.],
                [0., 7.],
                [0., 0.],
                [7., 0.],
                [0., 7.]])
    """
    n = len(self._shape)
    if n < 2:
        raise RuntimeError("dimensions must larger than 1")
    if n > 2 and len(set(self._shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    rows, columns = self._shape[0], self._shape[1]
    for start in range(0, rows, columns + 1) if wrap and n == 2 else (0,):
        part = late.narrow(self, 0, start, rows - start)
        for _ in range(n - 1):
            part = late.diagonal(part)
        part.fill_(fill_value)
    return self


def _method_is_set_to(self: Tensor, tensor: Tensor) -> Any:
    """Whether both have the same storage, offset, sizes and strides."""
    return self._shape == tensor._shape and self.stride() == tensor.stride() and self.data_ptr() == tensor.data_ptr()


def _method_untyped_storage(self: Tensor) -> UntypedStorage:
    """The storage of the tensor, as bytes."""
    return UntypedStorage(self)


def _method_share_memory_(self: Tensor) -> Tensor:
    """Move the storage, with all its views, to memory shared between processes: a child that is forked afterwards, or
    gets the tensor through a queue of `multiprocessing`, reads and writes the same. Returns the tensor itself.
    """
    from ...core.shared_memory import share

    share([self])
    return self


def _method_is_shared(self: Tensor) -> Any:
    """Whether the storage is in shared memory: see `share_memory_`."""
    from ...core.shared_memory import is_shared

    return is_shared(self)


def _method__view_func(self: Tensor, new_base: Tensor) -> Tensor:
    """Replay the view operations that made this tensor from its base, on another base.

    Raises:
        RuntimeError: if the tensor is no view.
    """
    from ...core.views import chain_of

    if self._view is None:
        raise RuntimeError("_view_func() is only for views: this tensor has no base")
    made = new_base
    for step in chain_of(self):
        made = step.replayed(made)
    return made
