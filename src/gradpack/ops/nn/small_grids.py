"""Reading of images at few places, in few steps: what `grid_sample` of small arrays costs is calls, not arithmetic."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...backends.numpy import as_intp
from ...base.modes import MODE
from ...core.tensor import Tensor
from ..reduce.kernels import _add, _array_type

FEW = 4096  # elements of the image, and of the grid


def takes(input: Tensor, grid: Tensor) -> bool:
    """Return whether images of two dimensions and a grid are small arrays of NumPy's, in no unusual mode."""
    if MODE.get().leaves_fast_path or not type(input._data) is type(grid._data) is _array_type or input._data.ndim != 4:
        return False
    return 0 < input._data.size <= FEW and 0 < grid._data.size <= FEW and input._shape[1] * grid._data.size <= 4 * FEW


@lru_cache(256)
def _constants(shape: tuple[int, ...], native: Any) -> tuple[Any, ...]:
    """The sizes of space, the last first, and those minus 1; 0 and 1; and where each image begins."""
    sizes = np.array(shape[:1:-1], native)
    steps = np.arange(2, dtype=native).reshape(2, 1, 1, 1)
    images = np.arange(prod(shape[:2])).reshape(*shape[:2], 1) * prod(shape[2:])
    return sizes, sizes - 1, steps, as_intp(images)


def _taps(x: Any, grid: Any, mode: int, padding: int, align: bool) -> tuple[Any, Any, Any, Any, Any]:
    """Where the taps of each place lie, and their weights.

    Returns:
        the place in the flattened images, (taps, batch, channels, places); the weights, (taps, batch, places); for the
        gradient of the grid those along each dimension and which are inside, (2, batch, places, dimensions); and which
        places the border moved, or None.
    """
    sizes, last, steps, images = _constants(x.shape, x.dtype)
    at = grid.reshape(grid.shape[0], prod(grid.shape[1:-1]), 2) + 1
    at = at / 2 * last if align else (at * sizes - 1) / 2
    moved = None
    if padding:
        moved = at
        at = np.fmin(np.fmax(at, 0), last)  # NaN is 0
    else:
        at = np.where(np.isnan(at), -100, at)
    first = np.rint(at) if mode else np.floor(at)
    place = first[None] if mode else first + steps
    here = np.fmax(place, 0)
    np.fmin(here, last, here)
    valid = here == place
    if mode:
        parts = valid.astype(x.dtype)
    else:
        after = at - first
        parts = np.concatenate(((1 - after)[None], after[None]))
        parts *= valid
    index = here.astype(np.intp)
    taps = (len(index) ** 2, *at.shape[:2])
    total = (index[..., 1][:, None] * x.shape[3] + index[..., 0]).reshape(taps)
    weight = (parts[..., 1][:, None] * parts[..., 0]).reshape(taps)
    return total[:, :, None] + images, weight, parts, valid, moved


def sampled(input: Any, grid: Any, mode: int, padding: int, align: bool) -> Any:
    """Return the elements of images at the places of a grid."""
    index, weight, *_ = _taps(input, grid, mode, padding, align)
    seen = input.reshape(-1).take(index)
    seen *= weight[:, :, None]
    return _add(seen, 0).reshape(*input.shape[:2], *grid.shape[1:-1])


def gradients(
    g: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool, needs: Any
) -> Any:
    """Return the gradients of the images and of the grid."""
    index, weight, parts, valid, moved = _taps(input, grid, interpolation_mode, padding_mode, align_corners)
    g = g.reshape(*g.shape[:2], prod(g.shape[2:]))
    images = places = None
    if needs[0]:
        given = g * weight[:, :, None]
        images = np.bincount(index.reshape(-1), given.reshape(-1), input.size)
        images = images.reshape(input.shape).astype(input.dtype)
    if needs[1] and interpolation_mode:
        places = np.zeros(grid.shape, grid.dtype)
    elif needs[1]:
        products = input.reshape(-1).take(index)
        products *= g
        places = _of_grid(_add(products, 2), parts, valid)
        sizes, last = _constants(input.shape, input.dtype)[:2]
        places *= (last if align_corners else sizes) / 2
        if moved is not None:
            places = np.where((moved > 0) & (moved < last), places, 0)
        places = places.reshape(grid.shape)
    return images, places


def _of_grid(products: Any, parts: Any, valid: Any) -> Any:
    """The gradients of places from those of the weights of all taps: those of second taps minus those of first ones."""
    products = products.reshape(2, 2, *parts.shape[1:3])  # along columns and along rows
    across = _add(products * parts[..., 1][:, None], 0) * valid[..., 0]
    down = _add(products * parts[..., 0], 1) * valid[..., 1]
    return np.concatenate(((across[1] - across[0])[..., None], (down[1] - down[0])[..., None]), axis=-1)
