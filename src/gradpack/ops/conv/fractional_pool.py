"""Maxima over windows at random places: fractional max pooling (arXiv 1412.6071)."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base import late
from ...base.errors import dim_out_of_range
from ...core.tensor import Tensor
from ...declare.annotations import Array, Sizes
from ...declare.decorators import general
from .max_pool import _flat_pick, _flat_place
from .pool_kernels import picked_flat
from .sliding import offsets
from .spatial import check_tensor, repeated


def _starts(samples: Any, size: int, count: int, kernel: int) -> Any:
    """Where `count` windows begin, for each random number: at uneven distances, the last at the end."""
    places = np.zeros((*samples.shape, count), np.int64)
    if count > 1:
        alpha = samples.dtype.type((size - kernel) / (count - 1))
        nr = np.arange(count - 1, dtype=samples.dtype)
        first = np.trunc(samples[..., None] * alpha)
        places[..., : count - 1] = (np.trunc((nr + samples[..., None]) * alpha) - first).astype(np.int64)
    if count:
        places[..., count - 1] = size - kernel
    return places


def _maxima(input: Any, samples: Any, kernel: Any, output_size: Any) -> tuple[Any, Any]:
    ndim = len(kernel)
    size = input.shape[len(input.shape) - ndim :]
    lead = input.shape[: len(input.shape) - ndim]
    samples = np.reshape(samples, (*lead, ndim))
    base: Any = np.zeros((*lead, *(1,) * ndim), np.int64)
    pitches = [prod(size[i + 1 :]) for i in range(ndim)]
    for i in range(ndim):  # of two numbers, torch takes the first for the width
        which = ndim - 1 - i if ndim == 2 else i
        starts = _starts(samples[..., which], size[i], output_size[i], kernel[i])
        base = base + np.reshape(starts, (*lead, *(1,) * i, output_size[i], *(1,) * (ndim - 1 - i))) * pitches[i]
    best: Any = None
    for offset in offsets(kernel):
        index = base + sum(o * p for o, p in zip(offset, pitches, strict=True))
        seen = picked_flat(input, index, ndim)
        if best is None:
            best, found = seen, index
            continue
        better = (seen > best) | (seen != seen)  # noqa: PLR0124 - NaN counts as the largest
        best, found = np.where(better, seen, best), np.where(better, index, found)
    return best, found


def _declared(ndim: int) -> Any:
    def function(input: Array, samples: Array, kernel: Sizes, output_size: Array) -> Any:
        return _maxima(input, samples, kernel, tuple(output_size))

    function.__doc__ = f"Maxima over windows at random places in {ndim} dimensions, and their indices."
    return general(
        input=lambda g, indices, input_shape, kernel: _flat_place(g, indices, input_shape, len(kernel)),
        jvp=lambda input_t, indices, kernel: _flat_pick(input_t, indices, len(kernel)),
        results=("values", "indices"),
        differentiable=1,
        dtypes="f",
        name=f"_fractional_max_pool{ndim}d",
        node=f"FractionalMaxPool{ndim}DBackward0",
        flat=True,
    )(function)


_POOLS = {2: _declared(2), 3: _declared(3)}
_NAMES = {2: ("height", "width"), 3: ("time", "height", "width")}


def fractional_max(
    ndim: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> Any:
    """Values and indices of fractional max pooling.

    Raises:
        ValueError: without a size or a ratio.
        RuntimeError: for windows that do not fit.
    """
    op = f"fractional_max_pool{ndim}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{op} requires specifying either an output_size or an output_ratio")
    check_tensor(op, input=input)
    if input.ndim <= ndim:
        raise dim_out_of_range(-ndim - 1, input.ndim)
    if input.ndim > ndim + 2:
        raise RuntimeError(f"{op}(): Expected {ndim + 1}D or {ndim + 2}D tensor, but got: {list(input._shape)}")
    for name, value in (("kernel_size", kernel_size), ("output_size", output_size)):
        if isinstance(value, list | tuple) and len(value) != ndim:
            words = "two" if ndim == 2 else "three"
            raise RuntimeError(f"{op}: {name} must either be a single int, or a tuple of {words} ints, not {value}")
    kernel = repeated(op, "kernel_size", kernel_size, ndim)
    size = input._shape[input.ndim - ndim :]
    if output_size is None:
        ratio = output_ratio if isinstance(output_ratio, list | tuple) else (output_ratio,) * ndim
        if len(ratio) != ndim:
            raise ValueError(f"{op} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = tuple(int(n * r) for n, r in zip(size, ratio, strict=True))
    wanted = repeated(op, "output_size", output_size, ndim)
    for name, n, k, m in zip(_NAMES[ndim], size, kernel, wanted, strict=True):
        if m + k - (ndim == 2) > n:
            raise RuntimeError(f"{op}(): pool {name} {k} too large relative to input {name} {n}")
    if not all(input._shape[1:]):
        raise RuntimeError(
            f"{op}(): Expected input to have non-zero size for non-batch dimensions, but got {list(input._shape)}"
        )
    lead = (1, *input._shape[:1]) if input.ndim == ndim + 1 else input._shape[:2]
    if samples is None:
        samples = late.rand((*lead, ndim), dtype=input.dtype, device=input.device)
    elif samples.ndim != 3 or samples._shape[0] < lead[0] or samples._shape[1:] != (lead[1], ndim):
        raise RuntimeError(
            f"Expect _random_samples.size() to be {[*lead, ndim]}, or more than {lead[0]} in the first dimension, for "
            f"{op}(), but got {list(samples._shape)}"
        )
    return tuple(_POOLS[ndim](input, samples.detach()[: lead[0]], kernel, wanted))
