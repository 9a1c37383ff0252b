"""Averages over windows, `avg_pool`, and over even parts of each dimension, `adaptive_avg_pool`."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...base import late
from ...base.errors import refuse
from ...core.tensor import Tensor
from ...declare.annotations import Array, Setting, Sizes
from ...declare.decorators import linear
from ..nn.along import Taps, put_back, taken
from ..reduce.kernels import SMALL, _array_type
from ..reduce.reduce import written
from ..shape.memory_formats import channels_as_in
from .pool_kernels import sums, sums_back
from .sliding import adaptive_bounds
from .spatial import adaptive_size, is_int, is_untracked, pool_geometry, wrong_type

FUNCTIONS = "avg_pool1d adaptive_avg_pool1d"


def _counts(size: Any, geometry: Any, include: bool, divisor: int | None) -> Any:
    """Return the divisor of the sum over each window: one number, or an array."""
    if divisor is not None:
        return divisor
    counts = _counts_of_windows(tuple(size), geometry, include)
    return counts if isinstance(counts, int) else np.asarray(counts)


@lru_cache(maxsize=256)
def _counts_of_windows(size: tuple[int, ...], geometry: Any, include: bool) -> Any:
    total: Any = None
    for n, k, s, p, c in zip(size, geometry[0], geometry[1], geometry[2], geometry[4], strict=True):
        widths = _widths(n, k, s, p, c, include)  # these are NumPy's, whatever the input is
        total = widths if total is None else total[..., None] * widths
    if (total == total.reshape(-1)[0]).all():
        return int(total.reshape(-1)[0])
    return total


@lru_cache(maxsize=512)
def _widths(size: int, kernel: int, stride: int, padding: int, count: int, include: bool) -> Any:
    start = np.arange(count) * stride - padding
    stop = np.minimum(start + kernel, size + padding)
    return stop - start if include else np.minimum(stop, size) - np.maximum(start, 0)


def _divided(x: Any, by: Any) -> Any:
    if x.dtype.kind in "iu":
        return np.asarray(np.trunc(x / by), dtype=x.dtype)
    x /= by if isinstance(by, int) else by.astype(x.dtype)
    return x


@linear(
    input=lambda g, geometry, include, divisor: _averages(g, geometry, include, divisor),
    node="AvgPool2DBackwardBackward0",
    dtypes="f",
)
def _averages_back(input: Array, size: Sizes, geometry: Setting, include: bool = False, divisor: Array = None) -> Any:
    """The adjoint of averages over windows."""
    size = tuple(size)[len(size) - len(geometry[0]) :]
    if (matrix := _matrix_for(input, size, _matrix, geometry, include, divisor)) is not None:
        lead = input.shape[: len(input.shape) - len(size)]
        return input.reshape(-1, matrix.shape[1]).dot(matrix.T).reshape(*lead, *size)
    by = _counts(size, geometry, include, divisor)
    return sums_back(input / (by if isinstance(by, int) else by.astype(input.dtype)), size, geometry)


def _matrix_for(x: Any, size: Any, make: Any, *how: Any) -> Any:
    """For few elements the averages as a matrix, which is one product; None for others.

    Args:
        size: that of what is averaged.
        make: the function that makes the matrix, of the size, what follows here, and the dtype.
    """
    if type(x) is not _array_type or not 0 < x.size < SMALL or x.dtype.char not in "fd" or math.prod(size) > _NARROW:
        return None
    flat = x.reshape(-1)
    if not flat.dot(flat) < math.inf:  # zeros of the matrix times infinity would be NaN
        return None
    return make(size, *how, x.dtype)


@lru_cache(64)
def _matrix(size: tuple[int, ...], geometry: Any, include: bool, divisor: Any, native: Any) -> Any:
    n = math.prod(size)
    each = np.eye(n, dtype=native).reshape(n, *size)
    made = _divided(sums(each, geometry), _counts(size, geometry, include, divisor)).reshape(n, -1)
    made.flags.writeable = False
    return made


_NARROW = 64  # places, up to which the averages are a small matrix


def _declared(ndim: int) -> Any:
    def function(input: Array, geometry: Setting, include: bool = True, divisor: Array = None) -> Any:
        size = input.shape[len(input.shape) - len(geometry[0]) :]
        if (matrix := _matrix_for(input, size, _matrix, geometry, include, divisor)) is not None:
            lead = input.shape[: len(input.shape) - len(size)]
            made = input.reshape(-1, matrix.shape[0]).dot(matrix).reshape(*lead, *geometry[4])
        else:
            made = _divided(sums(input, geometry), _counts(size, geometry, include, divisor))
        return channels_as_in(made, input) if ndim == 2 else made

    function.__doc__ = f"Averages over windows in {'one or two' if ndim == 2 else 'three'} dimensions."
    settings = "kernel_size=geometry[0] padding=geometry[2] stride=geometry[1]"
    return linear(
        input=lambda g, input_shape, geometry, include, divisor: _averages_back(
            g, input_shape, geometry, include, divisor
        ),
        name="_averages" if ndim == 2 else "_averages3d",
        node=f"AvgPool{ndim}DBackward0",
        flat=True,
        dtypes="if",
        saved_as=f"{settings} count_include_pad=include divisor_override=divisor" if ndim == 2 else None,
    )(function)


_averages, _averages3d = _declared(2), _declared(3)


def _avg_pool(
    ndim: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any, include: Any, divisor: Any
) -> Any:
    op = f"avg_pool{ndim}d"
    if not isinstance(include, bool):
        raise wrong_type(op, "count_include_pad", include, "bool")
    if divisor is not None and not is_int(divisor):
        raise wrong_type(op, "divisor_override", divisor, "int")
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    geometry = pool_geometry(op, ndim, input, kernel_size, stride, padding, 1, ceil_mode)
    if ndim == 3:
        refuse("avg_pool3d_out_frame", input._spec.dtype, "buihc")
        return _averages3d(input, geometry, include, divisor)
    refuse("avg_pool2d", input._spec.dtype, "buic")
    if ndim == 2:
        return _averages(input, geometry, include, divisor)
    if is_untracked(input):
        return _averages(input, geometry, include, divisor)
    wide = tuple((0 if i == 2 else 1, *g) for i, g in enumerate(geometry))
    return late.squeeze(_averages(late.unsqueeze(input, -2), wide, include, divisor), -2)


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Averages over windows along the last dimension.

    Args:
        input: shape (batch, channels, length), or without batch.
        stride: that of the windows; None for their size.
        padding: zeros on both sides, at most half the window.
        ceil_mode: take a last window that only begins inside.
        count_include_pad: do the zeros of the padding count?

    Raises:
        RuntimeError: for windows that do not fit, and for an input of other dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        tensor([[2., 1.]])
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Any:
    """Averages over windows in the last two dimensions: see `avg_pool1d`.

    Args:
        divisor_override: divide each sum by this instead of the size of the window.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.avg_pool2d(torch.ones(1, 4, 4), 2, divisor_override=1)
        tensor([[[4., 4.],
                 [4., 4.]]])
    """
    made = _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return written("avg_pool2d", made, out, input)


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Any:
    """Averages over windows in the last three dimensions: see `avg_pool2d`.

    Args:
        input: shape (batch, channels, depth, height, width), or without batch.
        stride: the step between windows; None for their size.
        padding: zeros on both sides, at most half the window.
        divisor_override: divide each sum by this instead of the size of the window.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.avg_pool3d(torch.ones(1, 4, 4, 4), 2).shape
        gradpack.Size([1, 2, 2, 2])
    """
    made = _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return written("avg_pool3d", made, out, input)


# -- adaptive --


@lru_cache(maxsize=512)
def _parts(size: int, count: int) -> Taps:
    """The averages over `count` even parts of a dimension, as a map.

    A part that is shorter than others reads its first element again, for a share of its weight: weights of 0 would
    make infinite elements NaN.
    """
    start, stop = adaptive_bounds(size, count)
    width = stop - start
    steps = np.arange(int(width.max(initial=1)))[:, None]
    inside = steps < width
    first = 1 + len(steps) - width  # how often the first element is read
    share = np.where(inside & (steps > 0), 1, first)
    return Taps(start + np.where(inside, steps, 0), 1 / (np.maximum(width, 1) * share), size)


def _adaptive_of(input: Any, output_size: Any) -> Any:
    ndim = len(output_size)
    size = input.shape[len(input.shape) - ndim :]
    lead = input.shape[: len(input.shape) - ndim]
    if not input.size or not all(output_size):
        return np.zeros((*lead, *output_size), input.dtype)
    if all(n % m == 0 for n, m in zip(size, output_size, strict=True)):
        kernel = tuple(n // m for n, m in zip(size, output_size, strict=True))
        geometry = (kernel, kernel, (0,) * ndim, (1,) * ndim, tuple(output_size))
        return _divided(sums(input, geometry), _counts(size, geometry, True, None))
    if (matrix := _matrix_for(input, size, _adaptive_matrix, output_size)) is not None:
        return input.reshape(-1, matrix.shape[0]).dot(matrix).reshape(*lead, *output_size)
    return _averages_of_parts(input, size, output_size)


def _averages_of_parts(x: Any, size: Any, output_size: Any) -> Any:
    ndim = len(output_size)
    for i in reversed(range(ndim)):
        x = taken(x, _parts(size[i], output_size[i]), i - ndim)
    return x


@lru_cache(64)
def _adaptive_matrix(size: tuple[int, ...], output_size: tuple[int, ...], native: Any) -> Any:
    n = math.prod(size)
    made = _averages_of_parts(np.eye(n, dtype=native).reshape(n, *size), size, output_size).reshape(n, -1)
    made.flags.writeable = False
    return made


@linear(
    input=lambda g, output_size: _adaptive_averages(g, output_size),
    node="AdaptiveAvgPool2DBackwardBackward0",
    dtypes="f",
)
def _adaptive_back(input: Array, size: Sizes, output_size: Array) -> Any:
    """The adjoint of averages over parts."""
    ndim = len(output_size)
    if not input.size:
        return np.zeros(tuple(size), input.dtype)
    space = tuple(size)[len(size) - ndim :]
    if (matrix := _matrix_for(input, space, _adaptive_matrix, tuple(output_size))) is not None:
        return input.reshape(-1, matrix.shape[1]).dot(matrix.T).reshape(tuple(size))
    out = input
    for i in range(ndim):
        out = put_back(out, _parts(size[len(size) - ndim + i], output_size[i]), i - ndim)
    return out


def _adaptive(ndim: int) -> Any:
    def function(input: Array, output_size: Array) -> Any:
        made = _adaptive_of(input, tuple(output_size))
        return channels_as_in(made, input) if ndim == 2 else made

    function.__doc__ = f"Averages over even parts of {ndim} dimensions."
    return linear(
        input=lambda g, input_shape, output_size: _adaptive_back(g, input_shape, output_size),
        dtypes="f",
        name=f"_adaptive_avg_pool{ndim}d",
        node=f"AdaptiveAvgPool{ndim}DBackward0",
        flat=True,
    )(function)


_adaptive_averages, _adaptive_averages3d = _adaptive(2), _adaptive(3)


def _adaptive_avg(ndim: int, input: Any, output_size: Any) -> Any:
    size = adaptive_size(f"adaptive_avg_pool{ndim}d", ndim, input, output_size)
    if ndim == 1:
        wide = late.unsqueeze(input, -2)
        made = late.mean(wide, (-1, -2), True) if size == (1,) else _adaptive_averages(wide, (1, *size))
        return late.squeeze(made, -2)
    if all(n == 1 for n in size):
        return late.mean(input, tuple(range(-ndim, 0)), True)
    return (_adaptive_averages if ndim == 2 else _adaptive_averages3d)(input, size)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Any:
    """Averages over the parts that divide the last dimension evenly.

    Example::

        >>> import gradpack as torch
        >>> torch.adaptive_avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        tensor([[2., 1.]])
    """
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Any:
    """Averages over the parts that divide the last two dimensions; None in `output_size` keeps one as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 4, 4), (None, 2)).shape
        gradpack.Size([1, 4, 2])
    """
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Any:
    """Averages over the parts that divide the last three dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.adaptive_avg_pool3d(torch.ones(1, 4, 4, 4), 2).shape
        gradpack.Size([1, 2, 2, 2])
    """
    return _adaptive_avg(3, input, output_size)
