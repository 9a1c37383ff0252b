"""Maxima over windows: `max_pool`, `adaptive_max_pool`, and `max_unpool`, which puts them back."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import BOOL, COMPLEX, int64
from ...base.errors import not_implemented_for
from ...core.tensor import Tensor
from ...declare.annotations import Array, Setting, Sizes
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import general, linear, nondifferentiable
from ..pointwise.relu_bits import keep_bits
from ..shape.memory_formats import channels_as_in
from .pool_kernels import (
    flat_places,
    greatest_with_codes,
    max_place,
    max_values,
    max_with_codes,
    picked_flat,
    placed_flat,
)
from .sliding import adaptive_parts, even_parts
from .small_windows import adaptive_maxima
from .spatial import adaptive_size, check_tensor, is_tracked, is_untracked, pool_geometry, repeated

FUNCTIONS = "max_pool1d max_pool2d max_pool3d max_pool1d_with_indices adaptive_max_pool1d"


# -- what formulas are made of --


@linear(input=lambda g, indices, input_shape, ndim: _flat_place(g, indices, input_shape, ndim), node="GatherBackward0")
def _flat_pick(input: Array, indices: Array, ndim: int) -> Any:
    """The elements at indices into the last `ndim` dimensions, flattened."""
    return picked_flat(input, indices, ndim)


@linear(input=lambda g, indices, ndim: _flat_pick(g, indices, ndim), node="ScatterAddBackward0")
def _flat_place(input: Array, indices: Array, size: Sizes, ndim: int) -> Any:
    """Zeros with elements added at indices into the last `ndim` dimensions, flattened."""
    return placed_flat(input, indices, tuple(size), ndim)


@linear(
    input=lambda g, code, input_shape, geometry: _max_scatter(g, code, input_shape, geometry),
    node="MaxPool2DWithIndicesBackwardBackward0",
)
def _max_gather(input: Array, code: Array, geometry: Setting) -> Any:
    """The elements at positions in windows."""
    ndim = len(geometry[0])
    places = flat_places(code, input.shape[len(input.shape) - ndim :], geometry)
    return picked_flat(input, places, ndim)


@linear(input=lambda g, code, geometry: _max_gather(g, code, geometry), node="MaxPool2DWithIndicesBackwardBackward0")
def _max_scatter(input: Array, code: Array, size: Sizes, geometry: Setting) -> Any:
    """Zeros with elements added at positions in windows."""
    return max_place(input, code, tuple(size)[len(size) - len(geometry[0]) :], geometry)


# -- max_pool --


def _declared(ndim: int) -> Any:
    def function(input: Array, geometry: Setting) -> Any:
        values, code = max_with_codes(input, geometry)
        return _laid_as(values, input, ndim), _laid_as(code, input, ndim)

    function.__doc__ = f"Maxima over windows in {ndim} dimensions, and their positions in the windows."
    return general(
        input=lambda g, code, input_shape, geometry: _max_scatter(g, code, input_shape, geometry),
        jvp=lambda input_t, code, geometry: _max_gather(input_t, code, geometry),
        results=("values", "code"),
        differentiable=1,
        dtypes="if",
        name=f"_max_pool{ndim}d",
        node=f"MaxPool{ndim}DWithIndicesBackward0",
        flat=True,
        saved_as="dilation=geometry[3] kernel_size=geometry[0] padding=geometry[2] stride=geometry[1]",
    )(function)


def _laid_as(array: Any, input: Any, ndim: int) -> Any:
    """`channels_as_in`, also for an unbatched volume."""
    if ndim == 3 and input.ndim == 4:
        return channels_as_in(array[None], input[None])[0]
    return channels_as_in(array, input)


_POOLS = {2: _declared(2), 3: _declared(3)}


@nondifferentiable(promote=("input",), dtypes="if")
def _max_pool_values(input: Array, geometry: Setting) -> Any:
    """Maxima over windows, where no gradient is wanted."""
    return _laid_as(max_values(input, geometry), input, len(geometry[0]))


@nondifferentiable(result="index", promote=(), dtypes="bifc")
def _pool_indices(code: Array, size: Sizes, geometry: Setting) -> Any:
    """Indices into the flattened spatial dimensions from positions in windows."""
    return _laid_as(flat_places(code, tuple(size), geometry), code, len(geometry[0]))


def _max_pool(
    ndim: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any, indices: bool
) -> Any:
    op = f"max_pool{ndim}d"
    label = f"{op}_with_indices" if indices and ndim == 1 else op
    geometry = pool_geometry(label, ndim, input, kernel_size, stride, padding, dilation, ceil_mode)
    if input._spec.dtype.category in (BOOL, COMPLEX):
        raise not_implemented_for(op, input._spec.dtype)
    flat = ndim == 1
    if flat and not indices and is_untracked(input):
        return _max_pool_values(input, geometry)
    if flat:
        input, geometry = late.unsqueeze(input, -2), tuple((0 if i == 2 else 1, *g) for i, g in enumerate(geometry))
    if not indices and not is_tracked(input):
        out = _max_pool_values(input, geometry)
        return late.squeeze(out, -2) if flat else out
    out, code = _POOLS[max(ndim, 2)](input, geometry)
    keep_bits(input)
    if not indices:
        return late.squeeze(out, -2) if flat else out
    places = _pool_indices(code, input._shape[input.ndim - len(geometry[0]) :], geometry)
    return (late.squeeze(out, -2), late.squeeze(places, -2)) if flat else (out, places)


def _no_indices(name: str, ndim: int) -> Callable[..., Any]:
    def call(
        input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
    ) -> Any:
        return _max_pool(ndim, input, kernel_size, stride, padding, dilation, ceil_mode, False)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"Maxima over windows in {ndim} dimension(s): see `torch.nn.functional.{name}`.\n\n"
        "Example::\n\n    >>> import gradpack as torch\n"
        f"    >>> torch.{name}(torch.ones({', '.join(['1', *['4'] * ndim])}), 2).shape\n"
        f"    gradpack.Size([{', '.join(['1', *['2'] * ndim])}])\n"
    )
    return call


max_pool1d, max_pool2d, max_pool3d = (_no_indices(f"max_pool{n}d", n) for n in (1, 2, 3))


def max_pool1d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """Maxima over windows along one dimension, and their indices.

    Example::

        >>> import gradpack as torch
        >>> torch.max_pool1d_with_indices(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


# -- adaptive_max_pool --


def _adaptive(ndim: int) -> Any:
    def function(input: Array, output_size: Array) -> Any:
        values, index = _adaptive_max(input, tuple(output_size))
        return (channels_as_in(values, input), channels_as_in(index, input)) if ndim == 2 else (values, index)

    function.__doc__ = f"Maxima over parts that divide {ndim} dimensions, and their indices."
    return general(
        input=lambda g, indices, input_shape, output_size: _flat_place(g, indices, input_shape, len(output_size)),
        jvp=lambda input_t, indices, output_size: _flat_pick(input_t, indices, len(output_size)),
        results=("values", "indices"),
        differentiable=1,
        dtypes="f",
        name=f"_adaptive_max_pool{ndim}d",
        node=f"AdaptiveMaxPool{ndim}DBackward0",
        flat=True,
    )(function)


def _adaptive_max(input: Any, output_size: Any) -> tuple[Any, Any]:
    ndim = len(output_size)
    size = input.shape[len(input.shape) - ndim :]
    if not all(output_size) or not input.size:
        shape = (*input.shape[: len(input.shape) - ndim], *output_size)
        return np.zeros(shape, input.dtype), np.zeros(shape, np.int64)
    even = [even_parts(n, m) for n, m in zip(size, output_size, strict=True)]
    if None not in even:
        kernel, stride = zip(*even, strict=True)
        geometry = (kernel, stride, (0,) * ndim, (1,) * ndim, output_size)
        values, code = max_with_codes(input, geometry)
        return values, flat_places(code, size, geometry)
    few = adaptive_maxima(input, output_size, -np.inf)
    if few is not None:
        return few
    tables = [adaptive_parts(n, m) for n, m in zip(size, output_size, strict=True)]
    nan = input.dtype.kind == "f" and bool(np.isnan(np.max(input)))
    values, code = greatest_with_codes(input, tables, nan)
    rest, index, pitch = code.astype(np.int64), np.zeros(code.shape, np.int64), 1
    for i in reversed(range(ndim)):
        table = np.stack(tables[i])
        rest, nr = np.divmod(rest, len(tables[i]))
        places = np.reshape(np.arange(output_size[i]), (-1,) + (1,) * (ndim - 1 - i))
        index += table[nr, places] * pitch
        pitch *= size[i]
    return values, index


_ADAPTIVE = {2: _adaptive(2), 3: _adaptive(3)}


def adaptive_max(ndim: int, input: Any, output_size: Any) -> Any:
    """Maxima over the parts that divide each dimension, and their indices."""
    output_size = adaptive_size(f"adaptive_max_pool{ndim}d", ndim, input, output_size)
    if ndim > 1:
        return tuple(_ADAPTIVE[ndim](input, output_size))
    out, indices = _ADAPTIVE[2](late.unsqueeze(input, -2), (1, *output_size))
    return late.squeeze(out, -2), late.squeeze(indices, -2)


def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Any:
    """Maxima over the parts that divide one dimension evenly, and their indices.

    Example::

        >>> import gradpack as torch
        >>> torch.adaptive_max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    return adaptive_max(1, input, output_size)


# -- back to the larger size --


@linear(
    input=lambda g, indices, output_size: _flat_pick(g, indices, len(output_size)),
    node="MaxUnpool2DBackward0",
    dtypes="f",
)
def _max_unpool(input: Array, indices: Array, output_size: Array) -> Any:
    """Zeros with the elements at their indices; of several at one index, the last."""
    ndim = len(output_size)
    lead = input.shape[: len(input.shape) - ndim]
    rows, inner = prod(lead), prod(output_size)
    out = np.zeros(rows * inner, input.dtype)
    if input.size:
        where = np.reshape(indices, (rows, -1)) + np.arange(rows)[:, None] * inner
        out[where.reshape(-1)] = np.reshape(input, (-1,))
    out = np.reshape(out, (*lead, *output_size))
    return channels_as_in(out, input) if ndim == 2 else out


def _unpool(ndim: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any) -> Any:
    op = f"max_unpool{ndim}d"
    kernel = repeated(op, "kernel_size", kernel_size, ndim)
    steps = kernel if stride is None else repeated(op, "stride", stride, ndim)
    pads = repeated(op, "padding", padding, ndim)
    check_tensor(op, input=input, indices=indices)
    if indices.dtype is not int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.name.capitalize()}")
    if input.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"Input to {op} should be a {ndim + 1}d or {ndim + 2}d Tensor, but got a tensor with "
            f"{input.ndim} dimensions."
        )
    if input._shape != indices._shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input._shape)}) but got indices "
            f"tensor with shape: {list(indices._shape)}"
        )
    size = _unpooled_size(input._shape[input.ndim - ndim :], kernel, steps, pads, output_size)
    if indices.numel() and not is_batched(indices):
        low, high = int(indices._data.min()), int(indices._data.max())
        if low < 0 or high >= prod(size):
            raise RuntimeError(
                f"Found an invalid max index: {low if low < 0 else high} (output volumes are of size "
                f"{'x'.join(map(str, size))})"
            )
    return _max_unpool(input, indices, size)


def _unpooled_size(size: Any, kernel: Any, stride: Any, padding: Any, output_size: Any) -> tuple[int, ...]:
    ndim = len(kernel)
    default = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(size, kernel, stride, padding, strict=True)]
    if output_size is None:
        return tuple(default)
    wanted = tuple(int(n) for n in output_size)
    if len(wanted) == ndim + 2:
        wanted = wanted[2:]
    if len(wanted) != ndim:
        raise ValueError(
            f"output_size should be a sequence containing {ndim} or {ndim + 2} elements, but it has a length of "
            f"'{len(wanted)}'"
        )
    for i in range(ndim):
        low, high = default[i] - stride[i], default[i] + stride[i]
        if not low < wanted[i] < high:
            raise ValueError(f'invalid output_size "{wanted}" (dim {i} must be between {low} and {high})')
    return wanted
