"""Joining tensors: cat, stack, hstack, block_diag, meshgrid and the like; and `atleast_1d` to `atleast_3d`."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from ...backends import backend_of
from ...base import late
from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import linear
from ...declare.generate.profiling import profiled
from ...kernels.dispatch import LARGE, accelerated
from ..index.subscript import FULL
from ..reduce.kernels import _array_type, reshaped
from .dims import wrap_dim
from .memory_formats import rows_or_channels_last
from .shape import reshape, unsqueeze

FUNCTIONS = (
    "cat concat concatenate stack block_diag meshgrid atleast_1d atleast_2d atleast_3d hstack vstack row_stack "
    "dstack column_stack"
)

_joining = partial(linear, lists=("tensors",), data_movement=True)

# -- joining --


@_joining(
    tensors=lambda g, tensors_shape, dim: _parts(g, tensors_shape, dim), name="cat", autocast="widest", overlap="apart"
)
def _cat(tensors: Array, dim: int = 0) -> Any:
    """Concatenate arrays along a dimension."""
    try:
        first = tensors[0]  # torch's error messages and exceptions only if this fails
        made = np.concatenate(tensors, axis=dim) if first.size < LARGE else joined(first, tensors, dim)
    except Exception:
        given = _joinable(tensors, dim)
        made = np.concatenate(given, axis=dim if len(given) > 1 or given[0].shape != (0,) else 0)
    return rows_or_channels_last(made)


@accelerated
def joined(first: Any, tensors: Any, dim: int) -> Any:
    """Return arrays, of which `first` is the first one, joined along a dimension."""
    return np.concatenate(tensors, axis=dim)


def _joinable(tensors: Any, dim: int) -> list[Any]:
    """The tensors to join, without those of shape (0,), which torch ignores; raises if the others do not fit."""
    for nr, t in enumerate(tensors):
        if not len(t.shape):
            raise RuntimeError(f"zero-dimensional tensor (at position {nr}) cannot be concatenated (cat())")
    joined = [t for t in tensors if tuple(t.shape) != (0,)]
    if not joined:  # all of shape (0,), for any `dim`
        return list(tensors[:1])
    shape = joined[0].shape
    d = wrap_dim(dim, len(shape))
    for nr, t in enumerate(tensors):
        if tuple(t.shape) == (0,):
            continue
        if len(t.shape) != len(shape):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(shape)} and {len(t.shape)} (cat())"
            )
        wrong = [k for k in range(len(shape)) if k != d and t.shape[k] != shape[k]]
        if wrong:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {d}. Expected size {shape[wrong[0]]} but got size "
                f"{t.shape[wrong[0]]} for tensor number {nr} in the list. (cat())"
            )
    return joined


def _parts(g: Any, shapes: Any, dim: int) -> list[Any]:
    """Slice a joined tensor into parts of the shapes of the original tensors: the adjoint of `cat`."""
    d = wrap_dim(dim, len(g.shape))
    found = []
    start = 0
    for shape in shapes:
        if tuple(shape) == (0,) and len(g.shape) != 1:
            found.append(late.zeros_as(g, (0,)))
            continue
        found.append(late._slice(g, (*(FULL,) * d, slice(start, start + shape[d]), ...)))
        start += shape[d]
    return found


def _sequence(op: str, tensors: Any) -> list[Any]:
    if isinstance(tensors, Tensor) or not isinstance(tensors, list | tuple):
        raise TypeError(
            f"{op}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if any(isinstance(t, Tensor) for t in tensors):
        for nr, t in enumerate(tensors):
            if not isinstance(t, Tensor):
                raise TypeError(f"expected Tensor as element {nr} in argument 0, but got {type(t).__name__} ({op}())")
    elif tensors and backend_of(type(tensors[0])) is None:
        raise TypeError(f"expected Tensor as element 0 in argument 0, but got {type(tensors[0]).__name__} ({op}())")
    return list(tensors)


def cat(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Any = None) -> Tensor:
    """Join tensors along a dimension that they have; sizes agree in all others.

    The result has the promoted dtype of all. Empty vectors are left out, as in torch.

    Args:
        tensors: the tensors, one or more.
        dim: the dimension along which they are joined; negative ones count from the last.

    Raises:
        ValueError: for no tensors.
        RuntimeError: for tensors of no dimension, of different ranks or sizes.
        IndexError: if `dim` is out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.cat((torch.zeros(2, 1), torch.ones(2, 2)), dim=1)
        tensor([[0., 1., 1.],
                [0., 1., 1.]])
    """
    if (type(tensors) is not tuple and type(tensors) is not list) or not tensors:
        tensors = _sequence("cat", tensors)
        if not tensors:
            raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if axis is not None:
        dim = axis
    return _cat(tensors, dim) if out is None else _cat(tensors, dim, out=out)


concat = concatenate = cat


@_joining(
    tensors=lambda g, tensors_shape, dim: [late.select(g, dim, i) for i in range(len(tensors_shape))],
    name="stack",
    contiguous=True,
    autocast="widest",
)
def _stack(tensors: Array, dim: int = 0) -> Any:
    """Arrays of one shape along a new dimension."""
    shape = tensors[0].shape
    for nr, t in enumerate(tensors):
        if t.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(t.shape)} at "
                f"entry {nr}"
            )
    d = wrap_dim(dim, len(shape) + 1) if dim != 0 else 0
    if d == 0:  # twice as fast as np.stack, which adds a dimension to each
        return reshaped(np.concatenate(tensors, axis=None), (len(tensors), *shape))
    if type(tensors[0]) is _array_type:  # the same without its overhead
        place = (FULL,) * d + (None,)
        return np.concatenate([t[place] for t in tensors], axis=d)
    return np.stack(tensors, axis=d)


def stack(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Any = None) -> Tensor:
    """Join tensors of one shape along a new dimension.

    Args:
        tensors: the tensors, one or more, of the same shape.
        dim: where the new dimension is in the result: 0 for the first, -1 for the last.

    Raises:
        RuntimeError: for no tensors, or tensors of different shapes.
        IndexError: if `dim` is out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.stack((torch.tensor([1, 2]), torch.tensor([3, 4])), dim=1)
        tensor([[1, 3],
                [2, 4]])
    """
    if (type(tensors) is not tuple and type(tensors) is not list) or not tensors:
        tensors = _some("stack", tensors)
    if axis is not None:
        dim = axis
    return _stack(tensors, dim) if out is None else _stack(tensors, dim, out=out)


def _some(op: str, tensors: Any) -> list[Any]:
    tensors = _sequence(op, tensors)
    if not tensors:
        raise RuntimeError(f"{op} expects a non-empty TensorList")
    return tensors


@_joining(tensors=lambda g, tensors_shape: _blocks(g, tensors_shape), name="block_diag")
def _block_diag(tensors: Array) -> Any:
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
    shapes = [_matrix_shape(t.shape) for t in tensors]
    for nr, t in enumerate(tensors):
        if len(t.shape) > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {nr} has "
                f"{len(t.shape)} dimensions"
            )
    height, width = (sum([s[k] for s in shapes]) for k in (0, 1))
    out = np.zeros((height, width), dtype=tensors[0].dtype)
    row = column = 0
    for t, (m, n) in zip(tensors, shapes, strict=True):
        out[row : row + m, column : column + n] = np.reshape(t, (m, n))
        row, column = row + m, column + n
    return out


def _matrix_shape(shape: Any) -> tuple[int, int]:
    return (1,) * (2 - len(shape)) + tuple(shape) if len(shape) < 2 else tuple(shape)


def _blocks(g: Any, shapes: Any) -> list[Any]:
    found = []
    row = column = 0
    for shape in shapes:
        m, n = _matrix_shape(shape)
        found.append(late.reshape(late._slice(g, (slice(row, row + m), slice(column, column + n))), tuple(shape)))
        row, column = row + m, column + n
    return found


def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the given ones along its diagonal; a vector counts as a row, a number as a 1x1 matrix.

    Example::

        >>> import gradpack as torch
        >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    for nr, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {nr} in argument 0, but got {type(t).__name__} (block_diag())")
    return _block_diag(list(tensors)) if tensors else late.zeros(1, 0)


@profiled
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of a grid: each vector expanded along the dimensions of the others.

    Args:
        indexing: "ij" (matrix order, the default) or "xy" (the first two dimensions exchanged).

    Raises:
        RuntimeError: for tensors of more than one dimension or of different dtypes, or another `indexing`.

    Example::

        >>> import gradpack as torch
        >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[1]
        tensor([[3, 4],
                [3, 4]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warnings.warn(
            "meshgrid: in an upcoming release of torch, it will be required to pass the indexing argument.",
            UserWarning,
            stacklevel=depth_of_user(),
        )
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in tensors:
        if t.ndim > 1:
            raise RuntimeError(f"meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(t._shape)}")
        if t._spec.dtype is not tensors[0]._spec.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if t._spec.device != tensors[0]._spec.device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    sizes = tuple(t.numel() for t in tensors)
    n = len(sizes)
    grids = [late.expand(late.reshape(t, (1,) * d + (-1,) + (1,) * (n - 1 - d)), sizes) for d, t in enumerate(tensors)]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


# -- by the name of a direction --


@profiled
def atleast_1d(*tensors: Any) -> Any:
    """Tensors of at least one dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_1d(torch.tensor(1))
        tensor([1])
    """
    return _at_least(tensors, lambda x: reshape(x, (1,)) if x.ndim < 1 else x)


@profiled
def atleast_2d(*tensors: Any) -> Any:
    """Tensors of at least two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_2d(torch.tensor([1]))
        tensor([[1]])
    """
    return _at_least(tensors, lambda x: x if x.ndim > 1 else reshape(x, (1, 1)) if x.ndim < 1 else unsqueeze(x, 0))


@profiled
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


def hstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join along the second dimension, vectors along their only one.

    Example::

        >>> import gradpack as torch
        >>> torch.hstack((torch.tensor([1]), torch.tensor([2, 3])))
        tensor([1, 2, 3])
    """
    parts = [atleast_1d(t) for t in _some("hstack", tensors)]
    return cat(parts, 0 if parts[0].ndim == 1 else 1, out=out)


def vstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join as rows.

    Example::

        >>> import gradpack as torch
        >>> torch.vstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
        tensor([[1, 2],
                [3, 4]])
    """
    return cat([atleast_2d(t) for t in _some("vstack", tensors)], 0, out=out)


row_stack = vstack


def dstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join along the third dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4]))).shape
        gradpack.Size([1, 2, 2])
    """
    return cat([atleast_3d(t) for t in _some("dstack", tensors)], 2, out=out)


def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join along the second dimension, vectors as columns.

    Example::

        >>> import gradpack as torch
        >>> torch.column_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
        tensor([[1, 3],
                [2, 4]])
    """
    parts = [reshape(t, (t.numel(), 1)) if t.ndim < 2 else t for t in _some("column_stack", tensors)]
    return cat(parts, 1, out=out)
