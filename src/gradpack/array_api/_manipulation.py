"""Functions that arrange elements: shapes, axes, joining, picking."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.tensor import Tensor
from ..ops.numpy_api import forms
from ._creation import in_one_dtype
from ._lookup import ours
from ._types import Axes


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Return tensors expanded to the shape that they broadcast to."""
    return list(ours("broadcast_tensors", *arrays)) if arrays else []


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor expanded to a shape."""
    return ours("broadcast_to", x, shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Return tensors one after another along an axis; flattened ones if it is None."""
    return forms.concatenate(in_one_dtype(arrays), axis)


def expand_dims(x: Tensor, /, axis: Axes) -> Tensor:
    """Return a tensor with new axes of size 1, at these places in the result.

    Raises:
        IndexError: if an axis is out of range.
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = x.ndim + len(axes)
    places = [check_axis(i, ndim) for i in axes]
    if len({*places}) < len(places):
        raise ValueError(f"expand_dims(): axis={axis} names one place twice")
    return forms.expand_dims(x, places)


def check_axis(axis: int, ndim: int) -> int:
    """Return an axis counted from the front.

    Raises:
        IndexError: if a tensor of so many dimensions does not have it.
    """
    if not -ndim <= axis < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {axis})")
    return axis % ndim


def flip(x: Tensor, /, *, axis: Axes | None = None) -> Tensor:
    """Return a tensor in reverse order along some axes, or all."""
    return forms.flip(x, axis)


def moveaxis(x: Tensor, source: Axes, destination: Axes, /) -> Tensor:
    """Return a tensor with some axes at other places."""
    return ours("movedim", x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Return a tensor with its axes in another order."""
    return ours("permute", x, axes)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Return a tensor with its last two axes swapped."""
    return x.mT


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return each element several times in a row, along an axis or of the flattened tensor."""
    return ours("repeat_interleave", x, repeats.long() if isinstance(repeats, Tensor) else repeats, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """Return a tensor of the same elements in another shape.

    Args:
        copy: True for a copy, False to share memory or raise, None to copy only if needed.

    Raises:
        ValueError: if `copy` is False and a copy is needed.
    """
    if copy is False:
        try:
            return x.view(shape)
        except RuntimeError as error:
            raise ValueError(f"reshape(copy=False): {error}") from error
    return ours("reshape", x.clone() if copy else x, shape)


def roll(x: Tensor, /, shift: Axes, *, axis: Axes | None = None) -> Tensor:
    """Return a tensor with its elements moved round along some axes, or of the flattened tensor."""
    if isinstance(shift, int) and isinstance(axis, tuple):
        shift = (shift,) * len(axis)
    return ours("roll", x, shift) if axis is None else ours("roll", x, shift, axis)


def squeeze(x: Tensor, /, axis: Axes) -> Tensor:
    """Return a tensor without some axes.

    Raises:
        ValueError: if one of them is not of size 1.
    """
    return forms.squeeze(x, axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """Return a tensor repeated along its last axes."""
    return ours("tile", x, repetitions)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the parts of a tensor along an axis, which they do not have; each may be written to, unlike `unbind`'s."""
    return tuple(ours("select", x, axis, i) for i in range(x.shape[axis]))


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return the parts of a tensor at some indices of an axis, which may be negative.

    Raises:
        ValueError: if no axis is given and there are several.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take(): axis is needed for a tensor of {x.ndim} dimensions")
        axis = 0
    return forms.take(x, _from_front(indices, x.shape[axis]), axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return elements at indices along an axis, which may be negative; the other axes broadcast."""
    return ours("take_along_dim", x, _from_front(indices, x.shape[axis]).long(), axis)


def _from_front(indices: Tensor, size: int) -> Tensor:
    return ours("where", indices < 0, indices + size, indices)
