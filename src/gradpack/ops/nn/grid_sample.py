"""Images and volumes read at any places: `grid_sample`."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...backends.numpy import as_intp
from ...base import late
from ...base.callers import depth_of_user
from ...base.dtypes import float32
from ...base.errors import not_implemented_for, scalar_type
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array, Sizes
from ...declare.batching.vmap_fallback import of_images
from ...declare.decorators import bilinear, elementwise, general, nondifferentiable
from ...kernels.dispatch import accelerated
from ..conv.spatial import check_tensor
from . import small_grids as small
from .resample import cubic_weights

FUNCTIONS = "grid_sampler grid_sampler_2d grid_sampler_3d"

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")
_products = partial(bilinear, broadcasts=False, dtypes="fc")


# -- sums of a few elements of an image for each place --


@accelerated
def read_at(images: Any, weight: Any, index: Any) -> Any:
    """`out[n, c, p]`, the sum over t of `weight[t, n, p] * images[n, c, index[t, n, p]]`."""
    batch, channels = images.shape[:2]
    out = np.empty((batch, channels, index.shape[2]), np.result_type(images.dtype, weight.dtype))
    for n in range(batch):
        seen = np.take(images[n], as_intp(index[:, n]), axis=1)
        out[n] = np.einsum("ckp,kp->cp", seen, weight[:, n])
    return out


@accelerated
def add_at(given: Any, weight: Any, index: Any, count: int) -> Any:
    """Images of `count` places, with `weight[t, n, p] * given[n, c, p]` added at `[n, c, index[t, n, p]]`."""
    batch, channels = given.shape[:2]
    out = np.zeros((batch, channels, count), np.result_type(given.dtype, weight.dtype))
    starts = np.arange(channels)[:, None, None] * count
    for n in range(batch):
        parts = np.expand_dims(given[n], 1) * weight[:, n]
        where = np.reshape(index[:, n] + starts, (-1,))
        if parts.dtype.kind == "f":
            sums = np.bincount(as_intp(where), np.reshape(parts, (-1,)), channels * count)
            out[n] = np.reshape(sums, (channels, count))
        else:
            np.add.at(np.reshape(out[n], (-1,)), where, np.reshape(parts, (-1,)))
    return out


@accelerated
def products_at(images: Any, given: Any, index: Any) -> Any:
    """`out[t, n, p]`, the sum over c of `given[n, c, p] * images[n, c, index[t, n, p]]`."""
    out = np.zeros(index.shape, np.result_type(images.dtype, given.dtype))
    for n in range(images.shape[0]):
        out[:, n] = np.einsum("ckp,cp->kp", np.take(images[n], as_intp(index[:, n]), axis=1), given[n])
    return out


def _flat(images: Any) -> Any:
    return np.reshape(images, (*images.shape[:2], prod(images.shape[2:])))


@_products(
    input=lambda g, input_shape, index, weight: _spread_at(g, weight, index, input_shape[2:]),
    weight=lambda g, input, index: _products_at(g, input, index),
    node="GridSampler2DBackward0",
)
def _read_at(input: Array, weight: Array, index: Array) -> Any:
    """For each place the sum over taps of weight (taps, batch, places) times the element of `input`
    (batch, channels, *space) at `index` (the same shape) into its flattened space.
    """
    return read_at(_flat(input), weight, index)


@_products(
    input=lambda g, weight, index: _read_at(g, weight, index),
    weight=lambda g, input, index: _products_at(input, g, index),
    node="GridSampler2DBackwardBackward0",
)
def _spread_at(input: Array, weight: Array, index: Array, size: Sizes) -> Any:
    """Images of spatial size `size`, with `input` (batch, channels, places) times the weights added at `index`."""
    return np.reshape(add_at(input, weight, index, prod(size)), (*input.shape[:2], *size))


@_products(
    output=lambda g, input, index: _read_at(input, g, index),
    input=lambda g, output, index, input_shape: _spread_at(output, g, index, input_shape[2:]),
    node="GridSampler2DBackwardBackward0",
)
def _products_at(output: Array, input: Array, index: Array) -> Any:
    """For each tap and place the sum over channels of `output` (batch, channels, places) times `input` at `index`."""
    return products_at(_flat(input), output, index)


# -- where to read --


def _moved(x: Any, size: int, padding: str, align: bool, grid: bool, sloped: bool = False) -> tuple[Any, Any]:
    """Places along a dimension from coordinates in [-1, 1] (or from places), brought inside; their slope if wanted."""
    slope: Any = 1.0
    if grid:
        slope = (size - 1) / 2 if align else size / 2
        x = (x + 1) / 2 * (size - 1) if align else ((x + 1) * size - 1) / 2
    slope = np.full(x.shape, slope, x.dtype) if sloped else None
    if padding == "reflection":
        low, high = (0.0, 2.0 * (size - 1)) if align else (-1.0, 2.0 * size - 1)
        if low == high:
            x, slope = np.zeros_like(x), np.zeros_like(x)
        else:
            span = (high - low) / 2
            off = x - low / 2
            slope = np.where(off < 0, -slope, slope) if sloped else None
            off = np.abs(off)
            rest, flips = np.fmod(off, span), np.floor(off / span)
            even = np.fmod(flips, 2) == 0
            x = np.where(even, rest + low / 2, span - rest + low / 2)
            slope = np.where(even, slope, -slope) if sloped else None
    if padding != "zeros":
        slope = np.where((x > 0) & (x < size - 1), slope, np.zeros_like(slope)) if sloped else None
        x = np.clip(np.where(x == x, x, np.zeros_like(x)), 0, size - 1)  # noqa: PLR0124 - only NaN differs from itself
    else:
        x = np.where(x == x, x, np.full_like(x, -100.0))  # noqa: PLR0124
    return x, slope


@nondifferentiable(promote=("input",), dtypes="f")
def _slope_of(input: Array, size: int, padding: str = "border", align: bool = True, grid: bool = True) -> Any:
    """The derivative of `_place`, constant between jumps."""
    return _moved(input, size, padding, align, grid, True)[1]


@elementwise(
    input=lambda g, input, size, padding, align, grid: g * _slope_of(input, size, padding, align, grid), dtypes="f"
)
def _place(input: Array, size: int, padding: str = "border", align: bool = True, grid: bool = True) -> Any:
    """The place along a dimension that a coordinate means."""
    return _moved(input, size, padding, align, grid)[0]


def _inside(index: Any, size: int) -> tuple[Any, Any]:
    """Indices brought inside, and which of them were there."""
    here = np.fmax(np.fmin(index, size - 1), 0)  # NaN is nowhere
    return here.astype(np.int64), here == index


def _taps(x: Tensor, size: int, mode: str, padding: str, align: bool) -> list[tuple[Any, Any]]:
    """For each tap along a dimension, indices and weights (a Tensor, or an array that no gradient follows)."""
    source = _place(x, size, "zeros" if mode == "bicubic" else padding, align, True)
    here = source._data.astype(np.float64) if source._spec.dtype.low else source._data
    if mode == "nearest":
        index, valid = _inside(np.rint(here), size)
        return [(index, valid)]
    first = np.floor(here)
    part = source - wrap(first.astype(source._data.dtype))
    linear = mode == "bilinear"
    made: list[tuple[Any, Any]] = []
    for k, weight in ((0, 1 - part), (1, part)) if linear else enumerate(cubic_weights(part), -1):
        place = first + k
        if not linear and padding != "zeros":
            place = np.trunc(_moved(place, size, padding, align, False)[0])
        index, valid = _inside(place, size)
        made.append((index, weight if valid.all() else weight * wrap(valid.astype(here.dtype)).to(weight.dtype)))
    return made


def _sample(op: str, input: Any, grid: Any, mode: str, padding: str, align: bool) -> Any:
    check_tensor(op, input=input, grid=grid)
    _check(op, input, grid, mode)
    if input._spec.dtype.low:  # computed in single precision, and rounded once
        return _sample(op, input.to(float32), grid.to(float32), mode, padding, align).to(input.dtype)
    if mode != "bicubic" and small.takes(input, grid) and padding != "reflection":
        return _grid_sampled(input, grid, _MODES.index(mode), _PADDINGS.index(padding), align)
    return _composed(input, grid, mode, padding, align)


def _composed(input: Any, grid: Any, mode: str, padding: str, align: bool) -> Any:
    space = input._shape[2:]
    ndim = len(space)
    batch, places = grid._shape[0], prod(grid._shape[1:-1])
    flat = late.reshape(grid, (batch, places, ndim))
    axes = [
        _taps(flat[:, :, ndim - 1 - i], space[i], mode, padding, align) for i in range(ndim)
    ]  # the last coordinate of the grid is that of the first dimension
    indices, weights = [], []
    for combination in product(*axes):
        index, weight = combination[0]
        for i, (other, factor) in enumerate(combination[1:], 1):
            index = index * space[i] + other
            weight = weight & factor if mode == "nearest" else weight * factor
        indices.append(index)
        weights.append(wrap(weight.astype(input._data.dtype)) if mode == "nearest" else weight)
    weight = late.stack(weights)
    if mode == "nearest" and grid.requires_grad:  # whose gradient is zero, but there
        weight = weight + late.sum(late.sign(flat), -1) * 0.0
    out = _read_at(input, weight, wrap(np.stack(indices)))
    return late.reshape(out, (batch, input._shape[1], *grid._shape[1:-1]))


def _meaning(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    return _composed(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


@general(
    inputs=("input", "grid"),
    joint_vjp=small.gradients,
    decomposition=_meaning,
    name="_grid_sampled",
    node="GridSampler2DBackward0",
    dtypes="f",
    broadcasts=False,
    saved_as="input grid interpolation_mode padding_mode align_corners",
)
def _grid_sampled(input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """Small images read at places with linear weights (mode 0), or those of the nearest element (1)."""
    return small.sampled(input, grid, interpolation_mode, padding_mode, align_corners)


def _check(op: str, input: Tensor, grid: Tensor, mode: str) -> None:
    if input.dtype is not grid.dtype:
        kinds = [scalar_type(t.dtype) for t in (input, grid)]
        raise RuntimeError(
            f"expected scalar type {kinds[0]} but found {kinds[1]}: {op}() expected input and grid to have same "
            f"dtype, but input has {input.dtype} and grid has {grid.dtype}"
        )
    if not input.is_floating_point():
        raise not_implemented_for(op, input.dtype)
    sizes = f"but got input with sizes {list(input._shape)} and grid with sizes {list(grid._shape)}"
    if input.ndim and grid.ndim and input._shape[0] != grid._shape[0]:
        raise RuntimeError(f"{op}(): expected grid and input to have same batch size, {sizes}")
    if grid.ndim and grid._shape[-1] != input.ndim - 2:
        raise RuntimeError(f"{op}(): expected grid to have size {input.ndim - 2} in last dimension, {sizes}")
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(f"{op}(): expected 4D or 5D input and grid with same number of dimensions, {sizes}")
    for i, n in enumerate(input._shape[2:], 2):
        if n <= 0:
            raise RuntimeError(
                f"{op}(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input._shape)} with dimension {i} being empty"
            )
    if mode == "bicubic" and input.ndim == 5:
        raise RuntimeError(f"{op}(): bicubic interpolation only supports 4D input")


@of_images
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """`grid_sample`, with numbers for its modes.

    Args:
        input: shape (batch, channels, *space), of two or three dimensions of space.
        grid: shape (batch, *places, dimensions of space): x, y (and z) of each place, from -1 to 1.
        interpolation_mode: 0 is bilinear, 1 nearest, 2 bicubic.
        padding_mode: what lies outside: 0 is zeros, 1 the border, 2 a reflection.
        align_corners: whether -1 and 1 are the centres of the outermost elements rather than their edges.

    Raises:
        RuntimeError: for other numbers, or if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[[[1.0, 3.0]]]])
        >>> torch.grid_sampler(x, torch.zeros(1, 1, 1, 2), 0, 0, True)
        tensor([[[[2.]]]])
        >>> torch.grid_sampler(x, torch.tensor([[[[0.2, 0.0]]]]), 1, 0, True)
        tensor([[[[3.]]]])
    """
    for name, number in (("interpolation_mode", interpolation_mode), ("padding_mode", padding_mode)):
        if number not in (0, 1, 2):
            raise RuntimeError(f"grid_sampler(): {name} is 0, 1 or 2, and got {number}")
    return _sample("grid_sampler", input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


@of_images
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """Images (batch, channels, *space) read at the places that a grid names.

    Args:
        grid: shape (batch, *places, number of spatial dimensions); x, y (and z) from -1 to 1.
        mode: "bilinear", "nearest", or "bicubic" (of images only).
        padding_mode: what lies outside: "zeros", the "border", or a "reflection".
        align_corners: are -1 and 1 the centres of the outermost elements rather than their edges?

    Raises:
        ValueError: for other modes.
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[[[1.0, 3.0]]]])
        >>> torch.nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=True)
        tensor([[[[2.]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warn_of_default()
        align_corners = False
    return _sample("grid_sampler", input, grid, mode, padding_mode, align_corners)


def warn_of_default() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        stacklevel=depth_of_user(),
    )
