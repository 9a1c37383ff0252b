"""The same elements reversed, rolled, rotated or repeated: copies."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...backends.numpy import as_int64, as_intp
from ...base import dtypes, late
from ...base.errors import not_implemented_for
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim, Sizes
from ...declare.batching.vmap_fallback import each_example, looking_at
from ...declare.decorators import linear
from ..create.making import beside
from ..index.subscript import FULL
from ..pointwise.blockwise import is_numpy
from ..random.floats import host_of
from ..reduce.dimensions import numpy_names
from .dims import ints_of, wrap_dim, wrap_dims
from .memory_formats import order_like

FUNCTIONS = "flip fliplr flipud roll rot90 repeat_interleave tile"
METHODS = "flip fliplr flipud roll rot90 repeat repeat_interleave tile"


@linear(input=lambda g, dims: flip(g, dims), data_movement=True)
def flip(input: Array, dims: Dim) -> Any:
    """Reverse the order along dimensions.

    Args:
        dims: the dimensions, as a sequence.

    Example::

        >>> import gradpack as torch
        >>> torch.flip(torch.tensor([1, 2, 3]), (0,))
        tensor([3, 2, 1])
    """
    if isinstance(dims, int):
        raise TypeError(f"flip(): argument 'dims' (position 2) must be tuple of ints, not int: ({dims},)")
    dims = wrap_dims((dims,) if hasattr(dims, "__index__") else dims, len(input.shape))
    if not len(input.shape):
        return np.array(input)
    if is_numpy(input):
        turned = input[tuple([_TURNED if d in dims else FULL for d in builtins.range(input.ndim)])]
        return turned.copy(order_like(input))
    return np.array(np.flip(input, axis=dims), order=order_like(input))


_TURNED = slice(None, None, -1)


def _method_flip(self: Tensor, *places: Any, dims: Any = None) -> Tensor:
    """Reverse the order of the elements along dimensions. A copy, unlike a slice with a negative step in NumPy.

    Args:
        places: the dimensions: ints, or one sequence of them.
        dims: the dimensions, by name.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[1, 2], [3, 4]]).flip(0, 1)
        tensor([[4, 3],
                [2, 1]])
    """
    if not places and dims is None:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    return flip(self, ints_of(places, "flip") if dims is None else dims)


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


@linear(
    input=lambda g, shifts, dims: roll(g, _negated(shifts), dims),
    data_movement=True,
    contiguous=True,
    saved_as="dims=(dims) shifts=(shifts)",
)
def roll(input: Array, shifts: Sizes, dims: Dim = None) -> Any:
    """Shift elements along dimensions; elements shifted beyond the end re-enter at the beginning.

    Args:
        shifts: by how many places, to the right: an int, or one for each of `dims`.
        dims: the dimensions; None for the flattened tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.roll(torch.tensor([1, 2, 3]), 1)
        tensor([3, 1, 2])
    """
    if not hasattr(shifts, "__index__") and not len(shifts):
        raise RuntimeError("`shifts` required")
    if type(shifts) is int and is_numpy(input) and input.size and _fits(dims, input.ndim):
        return _rolled(input, shifts, dims)
    if dims is None or (not hasattr(dims, "__index__") and not len(dims)):
        return np.roll(input, shifts if hasattr(shifts, "__index__") else shifts[0])
    many = hasattr(shifts, "__index__") != hasattr(dims, "__index__") or (
        not hasattr(shifts, "__index__") and len(shifts) != len(dims)
    )
    if many and not (
        (hasattr(dims, "__index__") and len(shifts) == 1) or (hasattr(shifts, "__index__") and len(dims) == 1)
    ):
        counts = [1 if hasattr(v, "__index__") else len(v) for v in (shifts, dims)]
        raise RuntimeError(f"shifts and dimensions must align. shifts: {counts[0]}, dims:{counts[1]}")
    if not input.shape:
        first = dims if hasattr(dims, "__index__") else dims[0]
        raise IndexError(f"Dimension specified as {first} but tensor has no dimensions")
    return np.roll(input, shifts, dims if hasattr(dims, "__index__") else tuple(dims))


def _fits(dim: Any, ndim: int) -> bool:
    return dim is None or (type(dim) is int and -ndim <= dim < ndim)


def _rolled(array: Any, shift: int, dim: int | None) -> Any:
    """Return `numpy.roll` by one number, along one dimension or (None) all as one, in a third of its overhead."""
    if dim is None:
        return _rolled(array.reshape(-1), shift, 0).reshape(array.shape)
    shift %= array.shape[dim]
    before = (FULL,) * (dim % array.ndim)
    return np.concatenate((array[(*before, slice(-shift, None))], array[(*before, slice(-shift))]), dim)


def _negated(shifts: Any) -> Any:
    return -shifts if hasattr(shifts, "__index__") else tuple(-s for s in shifts)


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Rotate by 90 degrees in a plane, from the first of `dims` towards the second.

    Args:
        k: how many times; negative ones rotate the other way.
        dims: the two dimensions of the plane.

    Example::

        >>> import gradpack as torch
        >>> torch.rot90(torch.tensor([[1, 2]]))
        tensor([[2],
                [1]])
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == input.ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    a, b = wrap_dims(dims, input.ndim)
    k %= 4
    if k == 1:
        return late.transpose(flip(input, (b,)), a, b)
    if k == 2:
        return flip(input, (a, b))
    return flip(late.transpose(input, a, b), (b,)) if k == 3 else late.clone(input)


@linear(input=lambda g, input_shape, repeats: _fold(g, input_shape, repeats), data_movement=True, contiguous=True)
def repeat(input: Array, repeats: Sizes) -> Any:
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
    if any(n < 0 for n in repeats):
        sizes = (1,) * (len(repeats) - len(input.shape)) + tuple(input.shape)
        made = [n * size for n, size in zip(repeats, sizes, strict=True)]
        least = next(n for n in made if n < 0) if any(n < 0 for n in made) else min(repeats)
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {least}: {made}, in repeat({list(repeats)})"
        )
    return np.tile(input, tuple(repeats)) if len(repeats) else np.array(input)


def _fold(g: Any, shape: tuple[int, ...], repeats: Any) -> Any:
    """Sum over the copies that `repeat` made: its adjoint."""
    full = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    pairs = [n for pair in zip(repeats, full, strict=True) for n in pair]
    if not pairs:
        return g
    total = late.sum(late.reshape(g, tuple(pairs)), tuple(builtins.range(0, len(pairs), 2)))
    return late.reshape(total, tuple(shape))


def _method_repeat(self: Tensor, *times: Any, repeats: Any = None) -> Tensor:
    """Repeat along each dimension: a copy of the tensor, several times. `expand` repeats without copying.

    Args:
        times: how often, for each dimension: ints, or one sequence of them. More of them than there are dimensions add
            dimensions in front.
        repeats: the same, by name.

    Raises:
        RuntimeError: for fewer of them than there are dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    if not times and repeats is None:
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    return repeat(self, ints_of(times if repeats is None else (repeats,), "repeat"))


def tile(input: Tensor, dims: Any) -> Tensor:
    """Repeat along the last dimensions, as `numpy.tile` does.

    Args:
        dims: how often, for each of the last dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.tile(torch.tensor([1, 2]), (2,))
        tensor([1, 2, 1, 2])
    """
    if isinstance(dims, int):
        raise TypeError(f"tile(): argument 'dims' (position 2) must be tuple of ints, not int: ({dims},)")
    dims = tuple(dims)
    return repeat(input, (1,) * (input.ndim - len(dims)) + dims)


def _method_tile(self: Tensor, *times: Any, dims: Any = None) -> Tensor:
    """Repeat along the last dimensions, as `numpy.tile` does.

    Args:
        times: how often, for each of the last dimensions: ints, or one sequence of them.
        dims: the same, by name.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[1], [2]]).tile(3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
    """
    return tile(self, ints_of(times if dims is None else (dims,), "tile"))


@numpy_names
@looking_at("repeats")
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element, one copy after the other: `repeats` times, or as often as it says for each.

    Args:
        repeats: how often: an int, or a vector of ints with one for each element along `dim`. With nothing else given,
            a vector of counts becomes the indices that it repeats.
        dim: the dimension; None for the flattened tensor.
        output_size: the size of the result along `dim`, if it is known: it is checked.

    Example::

        >>> import gradpack as torch
        >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
        tensor([1, 1, 2, 2])
        >>> torch.repeat_interleave(torch.tensor([[1, 2], [3, 4]]), torch.tensor([1, 2]), dim=0)
        tensor([[1, 2],
                [3, 4],
                [3, 4]])
    """
    from ..index.index_dim import index_select

    if repeats is None:
        if input.ndim != 1:
            raise RuntimeError(f"repeat_interleave only accept 1D vector as repeat, but got shape {list(input._shape)}")
        _check_repeats(input)
        return _counted(input)
    if dim is None:
        input, dim = input if input.ndim == 1 else late.ravel(input), 0
    elif not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions: repeat_interleave() got a number")
    d = wrap_dim(dim, input.ndim)
    if isinstance(repeats, Tensor):
        if repeats.ndim > 1:
            raise RuntimeError(f"repeats must be 0-dim or 1-dim tensor, but got shape {list(repeats._shape)}")
        _check_repeats(repeats)
        repeats = host_of(repeats)
    if repeats < 0 if type(repeats) is int else np.any(np.asarray(repeats) < 0):
        raise RuntimeError("repeat_interleave(): repeats can not be negative")
    size = input._shape[d] if input.ndim else 1
    if isinstance(repeats, int) and input.ndim:
        if output_size is not None and output_size != size * repeats:
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {size * repeats} but got {output_size}"
            )
        shape = input._shape
        spread = late.expand(late.unsqueeze(input, d + 1), (*shape[: d + 1], repeats, *shape[d + 1 :]))
        made: Tensor = late.reshape(_written_out(spread), (*shape[:d], size * repeats, *shape[d + 1 :]))
        return made
    array = np.asarray(repeats)
    if array.ndim and array.shape[0] not in (1, size):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {array.shape[0]} and "
            f"input.size({d}) = {size}"
        )
    places = as_int64(np.repeat(np.arange(size), as_intp(array)))
    if output_size is not None and output_size != places.shape[0]:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {places.shape[0]} but got {output_size}")
    return index_select(input, d, beside(places, input))


@linear(input=lambda g: g, node="CloneBackward0", data_movement=True)
def _written_out(input: Array) -> Any:
    """`clone` for tensors expanded along their last dimension: a copy in memory, made in a few long steps."""
    if not is_numpy(input) or not input.ndim or not 1 < input.shape[-1] < 16 or input.strides[-1]:
        return np.array(input, order="C")
    out = np.empty(input.shape, input.dtype)
    for k in range(input.shape[-1]):
        out[..., k] = input[..., 0]
    return out


def _check_repeats(repeats: Tensor) -> None:
    if repeats._spec.dtype not in (dtypes.int32, dtypes.int64):
        raise not_implemented_for("repeat_interleave_cpu", repeats._spec.dtype)


@each_example
def _counted(counts: Tensor) -> Tensor:
    """Each index k, repeated `counts[k]` times."""
    array = host_of(counts)
    if np.any(array < 0):
        raise RuntimeError("repeat_interleave(): repeats can not be negative")
    return beside(as_int64(np.repeat(np.arange(counts._shape[0]), as_intp(array))), counts)
