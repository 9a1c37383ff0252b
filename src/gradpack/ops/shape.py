"""Shape: the same elements in another arrangement. Most results are views."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..base.errors import dim_out_of_range
from ..declare.kinds import linear
from ..tensor.tensor import Tensor

FUNCTIONS = (
    "reshape permute transpose swapaxes swapdims t adjoint movedim moveaxis squeeze unsqueeze flatten ravel unflatten "
    "broadcast_to broadcast_tensors broadcast_shapes atleast_1d atleast_2d atleast_3d as_strided flip fliplr flipud "
    "roll rot90 repeat_interleave tile clone detach"
)
METHODS = (
    "permute transpose swapaxes swapdims t adjoint movedim moveaxis squeeze unsqueeze flatten ravel unflatten "
    "broadcast_to expand reshape view view_as reshape_as expand_as as_strided flip fliplr flipud roll rot90 repeat "
    "repeat_interleave tile clone contiguous unfold"
)
INPLACE = ""


def wrap_dim(dim: Any, ndim: int) -> int:
    """A dimension counted from the front."""
    low, high = (-1, 1) if ndim == 0 else (-ndim, ndim)
    if not hasattr(dim, "__index__"):
        raise TypeError(f"a dimension must be int, not {type(dim).__name__}")
    dim = dim.__index__()
    if not low <= dim < high:
        raise dim_out_of_range(dim, ndim)
    return dim + (ndim or 1) if dim < 0 else dim


def wrap_dims(dims: Any, ndim: int) -> tuple[int, ...]:
    """Several dimensions counted from the front, none of them twice."""
    out = tuple(wrap_dim(d, ndim) for d in dims)
    if len(set(out)) != len(out):
        twice = next(d for d in out if out.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return out


def _ints(values: tuple[Any, ...]) -> tuple[int, ...]:
    """`f(2, 3)` and `f((2, 3))` alike."""
    if (len(values) == 1 and not hasattr(values[0], "__index__")) or (
        len(values) == 1 and isinstance(values[0], Tensor) and values[0].ndim
    ):
        values = tuple(values[0])
    for v in values:
        if not hasattr(v, "__index__"):
            raise TypeError(f"a shape must be a tuple of ints, but found element of type {type(v).__name__}")
    return tuple(v if type(v) is int else v.__index__() for v in values)


def infer(shape: tuple[int, ...], old: tuple[int, ...]) -> tuple[int, ...]:
    """A shape with its one -1 worked out."""
    count = 1
    for n in old:
        count *= n
    known, unknown = 1, -1
    for i, n in enumerate(shape):
        if n == -1:
            if unknown >= 0:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        else:
            known *= n
    if unknown >= 0:
        if known == 0 and count == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        if known == 0 or count % known:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}: the input is {list(old)}")
        return (*shape[:unknown], count // known, *shape[unknown + 1 :])
    if known != count:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}: the input is {list(old)}")
    return shape


@linear(input=lambda g, input_shape: reshape(g, input_shape), view="maybe", structural=True, node="ViewBackward0")
def reshape(input: Any, shape: Any) -> Any:
    """The same elements in another shape; one size may be -1. A view where the strides allow.

    Raises:
        RuntimeError: if the number of elements differs.

    Example::

        >>> import gradpack as torch
        >>> torch.reshape(torch.arange(4), (2, -1))
        tensor([[0, 1],
                [2, 3]])
    """
    return np.reshape(input, infer(tuple(shape), input.shape))


def _method_reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape: `x.reshape(2, 3)` or `x.reshape((2, 3))`."""
    return reshape(self, _ints(shape))


def _method_view(self: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """A view of another shape, or of another dtype of the same bits.

    Raises:
        RuntimeError: if the strides do not allow a view.
    """
    from ..base.dtypes import dtype as dtype_type

    if dtype is not None or (shape and isinstance(shape[0], dtype_type)):
        return _reinterpret(self, dtype if dtype is not None else shape[0])
    sizes = infer(_ints(shape), self._shape)
    out = reshape(self, sizes)
    if out._view is None and self.numel() and self._spec.backend.aliasing and out is not self:
        raise RuntimeError(
            f"view size is not compatible with input tensor's size and stride (at least one dimension spans across "
            f"two contiguous subspaces): {list(self._shape)} with strides {self.stride()} cannot be viewed as "
            f"{list(sizes)}. Use .reshape(...) instead."
        )
    return out


def _reinterpret(self: Tensor, d: Any) -> Tensor:
    from ..tensor.tensor import alias

    spec = self._spec.backend.spec_for(d, self._spec.device)
    if spec is self._spec:
        return reshape(self, self._shape)
    data = self._data.view(spec.native)
    out: Tensor = alias(data, spec, tuple(data.shape))
    out._counter = self._counter
    return out


def _method_view_as(self: Tensor, other: Tensor) -> Tensor:
    """View this tensor in the shape of `other`."""
    return _method_view(self, other._shape)


def _method_reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Reshape this tensor to the shape of `other`."""
    return reshape(self, other._shape)


@linear(input=lambda g, input_shape: sum_to_size(g, input_shape), view=True, structural=True)
def expand(input: Any, size: Any) -> Any:
    """Broadcast to a shape without copying; -1 keeps a size.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[1], [2]]).expand(2, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
    """
    size = tuple(size)
    extra = len(size) - len(input.shape)
    if extra < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(input.shape)})"
        )
    full = []
    for i, n in enumerate(size):
        old = input.shape[i - extra] if i >= extra else 1
        if n == -1:
            if i < extra:
                raise RuntimeError(
                    "expand(): The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
                    f"dimension {i}"
                )
            n = old
        elif old not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(input.shape)}"
            )
        full.append(n)
    return np.broadcast_to(input, tuple(full))


def _method_expand(self: Tensor, *size: Any, implicit: bool = False) -> Tensor:
    """Broadcast to a shape without copying; -1 keeps a size."""
    return expand(self, _ints(size))


def _method_expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expand this tensor to the shape of `other`."""
    return expand(self, other._shape)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """Broadcast to a shape without copying.

    Example::

        >>> import gradpack as torch
        >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return expand(input, tuple(size))


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that several shapes broadcast to.

    Example::

        >>> import gradpack as torch
        >>> torch.broadcast_shapes((2, 1), (3,))
        gradpack.Size([2, 3])
    """
    from ..base.size import Size

    sizes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    try:
        return Size(np.broadcast_shapes(*sizes))
    except ValueError:
        raise RuntimeError(
            "Shape mismatch: objects cannot be broadcast to a single shape: " + ", ".join(str(list(s)) for s in sizes)
        ) from None


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors, each expanded to their common shape.

    Example::

        >>> import gradpack as torch
        >>> [t.shape for t in torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))]
        [gradpack.Size([2, 3]), gradpack.Size([2, 3])]
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    shape = broadcast_shapes(*[t._shape for t in tensors])
    return tuple(expand(t, tuple(shape)) for t in tensors)


@linear(input=lambda g, dims: permute(g, _inverse(dims)), view=True, structural=True)
def permute(input: Any, dims: Any) -> Any:
    """Reorder the dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.permute(torch.zeros(2, 3, 4), (2, 0, 1)).shape
        gradpack.Size([4, 2, 3])
    """
    if len(dims) != len(input.shape):
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {len(input.shape)} is not equal to len(dims) = {len(dims)}"
        )
    return np.transpose(input, wrap_dims(dims, len(input.shape)))


def _inverse(dims: Any) -> tuple[int, ...]:
    dims = wrap_dims(dims, len(dims))
    return tuple(sorted(builtins.range(len(dims)), key=dims.__getitem__))


def _method_permute(self: Tensor, *dims: Any) -> Tensor:
    """Reorder the dimensions: `x.permute(1, 0)` or `x.permute((1, 0))`."""
    return permute(self, _ints(dims))


@linear(input=lambda g, dim0, dim1: transpose(g, dim0, dim1), view=True, structural=True)
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Exchange two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.transpose(torch.zeros(2, 3), 0, 1).shape
        gradpack.Size([3, 2])
    """
    n = len(input.shape)
    a, b = wrap_dim(dim0, n), wrap_dim(dim1, n)
    return np.swapaxes(input, a, b) if n else input[...]


@linear(input=lambda g: t(g), view=True, structural=True, node="TBackward0")
def t(input: Any) -> Any:
    """Transpose a matrix; a tensor of fewer dimensions stays as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.t(torch.zeros(2, 3)).shape
        gradpack.Size([3, 2])
    """
    if len(input.shape) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(input.shape)}D")
    return np.transpose(input)


def adjoint(input: Tensor) -> Tensor:
    """Transpose the last two dimensions, and conjugate.

    Example::

        >>> import gradpack as torch
        >>> torch.adjoint(torch.tensor([[1j, 0j]])).shape
        gradpack.Size([2, 1])
    """
    if input.ndim < 2:
        raise RuntimeError(
            f"tensor.adjoint() is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor."
        )
    return transpose(input, -2, -1).conj()


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other places.

    Example::

        >>> import gradpack as torch
        >>> torch.movedim(torch.zeros(2, 3, 4), 0, -1).shape
        gradpack.Size([3, 4, 2])
    """
    n = input.ndim
    sources = wrap_dims((source,) if isinstance(source, int) else source, n)
    targets = wrap_dims((destination,) if isinstance(destination, int) else destination, n)
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should contain the same "
            f"number of dims as destination ({list(targets)} dims)"
        )
    order = [d for d in builtins.range(n) if d not in sources]
    for target, d in sorted(zip(targets, sources, strict=True)):
        order.insert(target, d)
    return permute(input, tuple(order))


@linear(input=lambda g, input_shape: reshape(g, input_shape), view=True, structural=True)
def squeeze(input: Any, dim: Any = None) -> Any:
    """Drop dimensions of size 1: all, or those named.

    Example::

        >>> import gradpack as torch
        >>> torch.squeeze(torch.zeros(1, 2, 1)).shape
        gradpack.Size([2])
    """
    n = len(input.shape)
    dims = tuple(builtins.range(n)) if dim is None else wrap_dims((dim,) if hasattr(dim, "__index__") else dim, n)
    return np.reshape(input, tuple(s for i, s in enumerate(input.shape) if s != 1 or i not in dims))


@linear(input=lambda g, input_shape: reshape(g, input_shape), view=True, structural=True)
def unsqueeze(input: Any, dim: int) -> Any:
    """Insert a dimension of size 1.

    Example::

        >>> import gradpack as torch
        >>> torch.unsqueeze(torch.zeros(3), 0).shape
        gradpack.Size([1, 3])
    """
    place = wrap_dim(dim, len(input.shape) + 1)
    return np.expand_dims(input, place)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join a range of dimensions into one.

    Example::

        >>> import gradpack as torch
        >>> torch.flatten(torch.zeros(2, 3, 4), 1).shape
        gradpack.Size([2, 12])
    """
    n = input.ndim
    first, last = wrap_dim(start_dim, n), wrap_dim(end_dim, n)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if n == 0:
        return reshape(input, (1,))
    if first == last:
        return input
    count = 1
    for s in input._shape[first : last + 1]:
        count *= s
    return reshape(input, (*input._shape[:first], count, *input._shape[last + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """A one-dimensional tensor of all elements.

    Example::

        >>> import gradpack as torch
        >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 2, 3, 4])
    """
    return reshape(input, (-1,)) if input.numel() else reshape(input, (0,))


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Split one dimension into several.

    Example::

        >>> import gradpack as torch
        >>> torch.unflatten(torch.zeros(2, 12), 1, (3, -1)).shape
        gradpack.Size([2, 3, 4])
    """
    d = wrap_dim(dim, input.ndim)
    sizes = tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    inner = infer(sizes, (input._shape[d],))
    return reshape(input, (*input._shape[:d], *inner, *input._shape[d + 1 :]))


def atleast_1d(*tensors: Any) -> Any:
    """Tensors of at least one dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_1d(torch.tensor(1))
        tensor([1])
    """
    return _at_least(tensors, lambda x: reshape(x, (1,)) if x.ndim < 1 else x)


def atleast_2d(*tensors: Any) -> Any:
    """Tensors of at least two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_2d(torch.tensor([1]))
        tensor([[1]])
    """
    return _at_least(tensors, lambda x: x if x.ndim > 1 else reshape(x, (1, 1)) if x.ndim < 1 else unsqueeze(x, 0))


def atleast_3d(*tensors: Any) -> Any:
    """Tensors of at least three dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_3d(torch.tensor([1]))
        tensor([[[1]]])
    """
    return _at_least(tensors, lambda x: x if x.ndim > 2 else unsqueeze(atleast_2d(x), -1))


def _at_least(tensors: Any, change: Any) -> Any:
    if len(tensors) == 1:
        return change(tensors[0]) if isinstance(tensors[0], Tensor) else tuple(map(change, tensors[0]))
    return tuple(map(change, tensors))


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


@linear(input=lambda g, dims: flip(g, dims), structural=True)
def flip(input: Any, dims: Any) -> Any:
    """Reverse the order along dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.flip(torch.tensor([1, 2, 3]), (0,))
        tensor([3, 2, 1])
    """
    dims = wrap_dims((dims,) if hasattr(dims, "__index__") else dims, len(input.shape))
    return np.array(np.flip(input, axis=dims)) if len(input.shape) else np.array(input)


def _method_flip(self: Tensor, *dims: Any) -> Tensor:
    """Reverse the order along dimensions."""
    return flip(self, _ints(dims))


def fliplr(input: Tensor) -> Tensor:
    """Reverse the columns.

    Example::

        >>> import gradpack as torch
        >>> torch.fliplr(torch.tensor([[1, 2]]))
        tensor([[2, 1]])
    """
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, (1,))


def flipud(input: Tensor) -> Tensor:
    """Reverse the rows.

    Example::

        >>> import gradpack as torch
        >>> torch.flipud(torch.tensor([1, 2]))
        tensor([2, 1])
    """
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, (0,))


@linear(input=lambda g, shifts, dims: roll(g, _negated(shifts), dims), structural=True)
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Shift elements along dimensions, those that fall off coming in at the other end.

    Example::

        >>> import gradpack as torch
        >>> torch.roll(torch.tensor([1, 2, 3]), 1)
        tensor([3, 1, 2])
    """
    if dims is None or (not hasattr(dims, "__index__") and not len(dims)):
        return np.roll(input, shifts if hasattr(shifts, "__index__") else shifts[0])
    many = hasattr(shifts, "__index__") != hasattr(dims, "__index__") or (
        not hasattr(shifts, "__index__") and len(shifts) != len(dims)
    )
    if many and not (
        (hasattr(dims, "__index__") and len(shifts) == 1) or (hasattr(shifts, "__index__") and len(dims) == 1)
    ):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {shifts}, dims: {dims}")
    return np.roll(input, shifts, dims if hasattr(dims, "__index__") else tuple(dims))


def _negated(shifts: Any) -> Any:
    return -shifts if hasattr(shifts, "__index__") else tuple(-s for s in shifts)


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Rotate by 90 degrees `k` times, from the first of `dims` towards the second.

    Example::

        >>> import gradpack as torch
        >>> torch.rot90(torch.tensor([[1, 2]]))
        tensor([[2],
                [1]])
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    a, b = wrap_dims(dims, input.ndim)
    k %= 4
    if k == 1:
        return transpose(flip(input, (b,)), a, b)
    if k == 2:
        return flip(input, (a, b))
    return flip(transpose(input, a, b), (b,)) if k == 3 else clone(input)


@linear(input=lambda g, input_shape, repeats: _fold(g, input_shape, repeats), structural=True)
def repeat(input: Any, repeats: Any) -> Any:
    """Repeat along each dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    if len(repeats) < len(input.shape):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
            f"{list(repeats)} for shape {list(input.shape)}"
        )
    return np.tile(input, tuple(repeats)) if len(repeats) else np.array(input)


def _fold(g: Any, shape: tuple[int, ...], repeats: Any) -> Any:
    """Sum the copies that `repeat` made."""
    full = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    pairs = [n for pair in zip(repeats, full, strict=True) for n in pair]
    if not pairs:
        return g
    total = sum(reshape(g, tuple(pairs)), tuple(builtins.range(0, len(pairs), 2)))
    return reshape(total, tuple(shape))


def _method_repeat(self: Tensor, *repeats: Any) -> Tensor:
    """Repeat along each dimension: `x.repeat(2, 1)`."""
    return repeat(self, _ints(repeats))


def tile(input: Tensor, dims: Any) -> Tensor:
    """Repeat along the last dimensions, as `numpy.tile` does.

    Example::

        >>> import gradpack as torch
        >>> torch.tile(torch.tensor([1, 2]), (2,))
        tensor([1, 2, 1, 2])
    """
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    return repeat(input, (1,) * (input.ndim - len(dims)) + dims)


def _method_tile(self: Tensor, *dims: Any) -> Tensor:
    """Repeat along the last dimensions."""
    return tile(self, _ints(dims))


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element, `repeats` times or as often as it says for each.

    Example::

        >>> import gradpack as torch
        >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
        tensor([1, 1, 2, 2])
    """
    from .create import arange, tensor
    from .index_dim import index_select

    if repeats is None:
        counts = input._data
        return tensor(np.repeat(np.arange(counts.shape[0]), counts))
    if dim is None:
        input, dim = ravel(input), 0
    d = wrap_dim(dim, input.ndim)
    if isinstance(repeats, Tensor):
        repeats = repeats._data
    if np.any(np.asarray(repeats) < 0):
        raise RuntimeError("repeats can not be negative")
    size = input._shape[d] if input.ndim else 1
    array = np.asarray(repeats)
    if array.ndim and array.shape[0] not in (1, size):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {array.shape[0]} and "
            f"input.size({d}) = {size}"
        )
    index = np.repeat(np.arange(size), array)
    return index_select(input, d, tensor(index) if len(index) else arange(0))


@linear(input=lambda g: g, structural=True)
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy with its own storage, in the graph.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(1, requires_grad=True)
        >>> torch.clone(x).grad_fn.name()
        'CloneBackward0'
    """
    return np.array(input)


def detach(input: Tensor) -> Tensor:
    """The same storage, out of the graph.

    Example::

        >>> import gradpack as torch
        >>> torch.detach(torch.ones(1, requires_grad=True)).requires_grad
        False
    """
    return input.detach()


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


def _reversed(self: Tensor) -> Tensor:
    """All dimensions in the opposite order."""
    if self.ndim not in (0, 2):
        import warnings

        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated: use "
            "`x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))`.",
            UserWarning,
            stacklevel=2,
        )
    return permute(self, tuple(builtins.range(self.ndim - 1, -1, -1)))


def _matrix_transposed(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    if self.ndim < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor.")
    return transpose(self, -2, -1)


def _matrix_adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, conjugated."""
    if self.ndim == 0:
        return self
    return adjoint(self)


OPERATORS = {
    "T": property(_reversed),
    "mT": property(_matrix_transposed),
    "H": property(_matrix_adjoint),
    "mH": property(adjoint),
}

swapaxes = swapdims = transpose
moveaxis = movedim

from .reduce import sum, sum_to_size  # noqa: E402 - adjoints name each other
