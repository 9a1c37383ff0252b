"""Reshaping operations. Most results are views."""

from __future__ import annotations

import builtins
import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import dtype as dtype_type
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim, Setting, Sizes
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import linear
from ..reduce.kernels import broadcast, reshaped
from .dims import ints_of, wrap_dim, wrap_dims
from .memory_formats import has_strides, laid_out, order_like, reinterpreted, row_major

FUNCTIONS = "reshape squeeze unsqueeze flatten ravel unflatten clone detach"
METHODS = "squeeze unsqueeze flatten ravel unflatten expand reshape view clone"


# The kind of operations that give a view of their input.
view_op = partial(linear, view=True, data_movement=True)
_INTS = frozenset({int})
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
_LARGE = 1 << 16  # elements, from which on it takes longer to copy an array than to ask whether that is needed


def infer(shape: tuple[int, ...], old: tuple[int, ...]) -> tuple[int, ...]:
    """Replace the one -1 in a shape by the size inferred from the number of elements."""
    count = math.prod(old)
    if len(shape) == 1 and shape[0] == -1:
        return (count,)
    if shape and min(shape) >= 0 and math.prod(shape) == count:
        return shape
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


@linear(input=lambda g, input_shape: reshape(g, input_shape), view="maybe", data_movement=True, node="ViewBackward0")
def reshape(input: Array, shape: Sizes) -> Any:
    """The same elements in another shape, in the same order. A view where the strides allow, else a copy.

    Args:
        shape: the shape; one size may be -1: it follows from the others.

    Raises:
        RuntimeError: if the number of elements differs.

    Example::

        >>> import gradpack as torch
        >>> torch.reshape(torch.arange(4), (2, -1))
        tensor([[0, 1],
                [2, 3]])
    """
    return (
        np.reshape(input, infer(tuple(shape), input.shape))
        if type(input) is not _array_type or input.size < _LARGE
        else _large_reshaped(input, infer(tuple(shape), input.shape))
    )


def _large_reshaped(array: Any, sizes: Any) -> Any:
    """Return an array in another shape; copied, where that is needed, over all cores."""
    if array.flags.c_contiguous or has_strides(array.shape, array.strides, sizes):
        return array.reshape(sizes)
    return row_major(array).reshape(sizes)


def _sizes_of(op: str, sizes: tuple[Any, ...], named: Any) -> tuple[int, ...]:
    """Return the sizes that a method was given one by one, as one sequence, or by name."""
    if sizes and named is None and _INTS.issuperset(map(type, sizes)):
        return sizes
    if not sizes and named is None:
        raise TypeError(f"{op}() missing 1 required positional argument: '{'shape' if op == 'reshape' else 'size'}'")
    return ints_of(sizes if named is None else (named,), op)


def _method_reshape(self: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """The same elements in another shape. A view where the strides allow, else a copy.

    Args:
        sizes: the shape: ints, or one sequence of them, of which one may be -1.
        shape: the shape, by name.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(4).reshape(2, -1)
        tensor([[0, 1],
                [2, 3]])
    """
    return reshape(self, _sizes_of("reshape", sizes, shape))


def _method_view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """A view of another shape, or of another dtype of the same bits. It shares memory with this tensor.

    Args:
        shape: the shape: ints, or one sequence of them, of which one may be -1: it follows from the others. Or a dtype.
        size: the shape, by name.
        dtype: the dtype that the bits are read as. If its elements are larger or smaller, the last dimension shrinks or
            grows.

    Raises:
        RuntimeError: if the number of elements differs, or the strides do not allow a view: `reshape` copies then.

    Example::

        >>> import gradpack as torch
        >>> x = torch.arange(6)
        >>> y = x.view(2, -1)
        >>> y[0, 0] = 9
        >>> x, y
        (tensor([9, 1, 2, 3, 4, 5]), tensor([[9, 1, 2],
                [3, 4, 5]]))
        >>> torch.tensor([1.0]).view(torch.int32)
        tensor([1065353216], dtype=gradpack.int32)
    """
    if dtype is not None or (shape and isinstance(shape[0], dtype_type)):
        return reinterpreted(self, dtype if dtype is not None else shape[0])
    if not shape or size is not None or not _INTS.issuperset(map(type, shape)):
        shape = _sizes_of("view", shape, size)
    try:
        out = reshape(self, shape)
    except RuntimeError:
        infer(shape, self._shape)  # raises the error without the name of another function
        raise
    if out._view is not None and out._spec.numpy:
        return out
    made, given = out, self
    while is_batched(made) and is_batched(given):
        made, given = made._data.value, given._data.value
    if made._view is None and made.numel() and made._spec.backend.aliasing and made is not given:
        raise RuntimeError(
            f"view size is not compatible with input tensor's size and stride (at least one dimension spans across "
            f"two contiguous subspaces): {list(self._shape)} with strides {self.stride()} cannot be viewed as "
            f"{list(infer(shape, self._shape))}. Use .reshape(...) instead."
        )
    return out


@lru_cache(512)
def _expanded(size: tuple[int, ...], shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Return the sizes and strides of a contiguous array that is expanded; None if that is not the usual case."""
    new = len(size) - len(shape)
    size = (*size[:new], *(m if n == -1 else n for n, m in zip(size[new:], shape, strict=True))) if new >= 0 else ()
    if new < 0 or not size or min(size) < 0 or any(n not in (1, m) for n, m in zip(shape, size[new:], strict=True)):
        return None
    steps = [s if n == m else 0 for n, m, s in zip(shape, size[new:], strides, strict=True)]
    return (size, (*(0,) * new, *steps)) if 1 not in size[:new] else None


@view_op(input=lambda g, input_shape: late.sum_to_size(g, input_shape))
def expand(input: Array, size: Sizes) -> Any:
    """Broadcast to a shape without copying; -1 keeps a size.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[1], [2]]).expand(2, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
    """
    size = tuple(size)
    extra = len(size) - len(input.shape)
    is_usual = type(input) is _array_type and input.size and input.flags.c_contiguous and input.dtype.kind != "V"
    if is_usual and _INTS.issuperset(map(type, size)):  # 2.0 would be the same size for the cache
        made = _expanded(size, input.shape, input.strides)
        if made is not None:
            out = _array_type(made[0], input.dtype, input, 0, made[1])
            out.flags.writeable = False
            return out
    if extra < 0:
        raise RuntimeError(
            f"expand(): the number of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(input.shape)}): {list(input.shape)} does not expand to {list(size)}"
        )
    full = []
    for i in range(len(size) - 1, -1, -1):  # the last one that does not fit is told
        n = size[i]
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
    return broadcast(input, tuple(full[::-1]))


def _method_expand(self: Tensor, *sizes: Any, size: Any = None, implicit: bool = False) -> Tensor:
    """A view of this tensor broadcast to a shape: dimensions of size 1 repeat, without copying.

    Elements of the result share memory: `clone` it before writing into it.

    Args:
        sizes: the shape: ints, or one sequence of them, with as many dimensions as the tensor has or more. -1 keeps the
            size of a dimension.
        size: the shape, by name.
        implicit: of no effect: for programs that say how the call came about.

    Raises:
        RuntimeError: if a size differs from that of a dimension whose size is not 1, or there are fewer sizes than
            dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[1], [2]]).expand(-1, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
    """
    return expand(self, _sizes_of("expand", sizes, size))


def _overload_of_squeeze(node: Any) -> str:
    dim = getattr(node, "dim", None)
    return f"SqueezeBackward{0 if dim is None else 1 if hasattr(dim, '__index__') else 2}"


# The formulas name `dim` so that the nodes have `_saved_dim`.
@view_op(
    input=lambda g, input_shape, dim: reshape(g, input_shape),
    axis=True,
    overloads=_overload_of_squeeze,
    saved_as={"SqueezeBackward0": "self_sym_sizes=input.shape", "": "dim self_sym_sizes=input.shape"},
)
def squeeze(input: Array, dim: Dim = None) -> Any:
    """A view without dimensions of size 1.

    Args:
        dim: the dimension, or dimensions, to drop if they have size 1; None for all.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.squeeze(torch.zeros(1, 2, 1)).shape
        gradpack.Size([2])
        >>> torch.squeeze(torch.zeros(1, 2, 1), 0).shape
        gradpack.Size([2, 1])
    """
    n = len(input.shape)
    if type(dim) is int and 0 <= dim < n:
        return reshaped(input, input.shape[:dim] + input.shape[dim + 1 :] if input.shape[dim] == 1 else input.shape)
    dims = tuple(builtins.range(n)) if dim is None else wrap_dims((dim,) if hasattr(dim, "__index__") else dim, n)
    return reshaped(input, tuple([s for i, s in enumerate(input.shape) if s != 1 or i not in dims]))


@view_op(input=lambda g, input_shape, dim: reshape(g, input_shape), axis=True, saved_as="dim")
def unsqueeze(input: Array, dim: int) -> Any:
    """A view with one more dimension, of size 1.

    Args:
        dim: where it is in the result: 0 for the first, -1 for the last.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.unsqueeze(torch.zeros(3), 0).shape
        gradpack.Size([1, 3])
        >>> torch.unsqueeze(torch.tensor([1, 2]), -1)
        tensor([[1],
                [2]])
    """
    place = wrap_dim(dim, len(input.shape) + 1)
    return reshaped(input, (*input.shape[:place], 1, *input.shape[place:]))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join a range of dimensions into one. A view where the strides allow, else a copy.

    Args:
        start_dim: the first dimension of the range.
        end_dim: the last one, which is part of it.

    Raises:
        RuntimeError: if `start_dim` comes after `end_dim`.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.flatten(torch.zeros(2, 3, 4), 1).shape
        gradpack.Size([2, 12])
        >>> torch.flatten(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 2, 3, 4])
    """
    n = input.ndim
    first, last = wrap_dim(start_dim, n), wrap_dim(end_dim, n)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if n == 0:
        return reshape(input, (1,))
    if first == last:
        return input
    count = math.prod(input._shape[first : last + 1])
    return reshape(input, (*input._shape[:first], count, *input._shape[last + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """A one-dimensional tensor of all elements.

    Example::

        >>> import gradpack as torch
        >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 2, 3, 4])
    """
    return (reshape(input, (-1,)) if input.numel() else reshape(input, (0,))).contiguous()


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
    if not input.ndim:
        raise RuntimeError("unflatten(): a tensor without dimensions has none to split: reshape() makes some")
    try:
        inner = infer(sizes, (input._shape[d],))
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({input._shape[d]}) in "
            f"the input tensor of shape {list(input._shape)}"
        ) from None
    return reshape(input, (*input._shape[:d], *inner, *input._shape[d + 1 :]))


@linear(input=lambda g: g, data_movement=True)
def clone(input: Array, *, memory_format: Setting = None) -> Any:
    """A copy with its own storage; differentiable.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(1, requires_grad=True)
        >>> torch.clone(x).grad_fn.name()
        'CloneBackward0'
    """
    return np.array(input, order=order_like(input)) if memory_format is None else laid_out(input, memory_format)


def detach(input: Tensor) -> Tensor:
    """A view of the same storage, detached from the graph.

    Example::

        >>> import gradpack as torch
        >>> torch.detach(torch.ones(1, requires_grad=True)).requires_grad
        False
    """
    return input.detach()
