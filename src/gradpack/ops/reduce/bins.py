"""Counting in bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...backends import spec_of
from ...backends.numpy import as_int64, as_intp, quiet
from ...base import dtypes, late
from ...base.dtypes import BOOL, COMPLEX, FLOATING
from ...base.errors import _SCALAR_TYPES, not_a_tensor, not_implemented_for
from ...base.return_types import return_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import each_example
from ...declare.decorators import nondifferentiable
from ...declare.dispatch.out_argument import put
from ...declare.dispatch.refused_dtypes import refuse_unsigned
from ...kernels.dispatch import accelerated
from ..create.making import finish
from .kernels import SMALL, _array_type, float_kind

FUNCTIONS = "bincount histc histogram histogramdd"
METHODS = "bincount histc histogram"


# -- counting whole numbers --


@each_example
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each whole number occurs in a vector.

    Args:
        weights: one for each element, to be summed instead of counted.
        minlength: the least length of the result.

    Raises:
        RuntimeError: for negative numbers, other shapes, or a negative `minlength`.
        NotImplementedError: for a dtype that is not integer.

    Example::

        >>> import gradpack as torch
        >>> torch.bincount(torch.tensor([0, 2, 2]))
        tensor([1, 0, 2])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("bincount", "input", 1, input)
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, and bincount() got {minlength}")
    d = input._spec.dtype
    refuse_unsigned("bincount", d)
    if d.category in (BOOL, FLOATING, COMPLEX):
        raise not_implemented_for("bincount_cpu", d)
    if input.ndim != 1 or (input.numel() and bool(np.min(input._data) < 0)):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights._shape != input._shape:
        raise RuntimeError(
            f"weights should be 1-d and have the same length as input: {list(weights._shape)}, {list(input._shape)}"
        )
    if weights is None:
        return finish(as_int64(np.bincount(as_intp(input._data), minlength=minlength)), False)
    made = np.bincount(as_intp(input._data), weights._data.astype(np.float64), minlength)
    return finish(made.astype(np.float32) if weights._spec.dtype is dtypes.float32 else made, False)


# -- histograms --


def _edges(values: Any, low: float, high: float, op: str, more: float) -> tuple[float, float]:
    """The range of a histogram: (low, high), or that of the values if both are equal; widened by `more` if empty."""
    if low == high and values.size:
        low, high = float(np.min(values)), float(np.max(values))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"{op}: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{op}: max must be larger than min, got [{low}, {high}]")
    return (low - more, high + more) if low == high else (low, high)


def _bin_of(values: Any, edges: Any, uniform: bool, exact: bool = False) -> Any:
    """The bin number of each value, -1 if it is in none. The last bin includes its upper edge."""
    count = edges.shape[0] - 1
    first, last = edges[0], edges[-1]
    if uniform:
        with np.errstate(all="ignore"):
            place = np.nan_to_num((values - first) * count / (last - first), nan=-1.0, posinf=-1.0, neginf=-1.0)
        place = np.clip(place, -1, count).astype(np.int64)
        place = np.where(values == last, count - 1, np.minimum(place, count - 1))
        if exact:  # move by one bin where rounding put a value beyond an edge
            place = np.clip(place, 0, count - 1)
            place -= (values < edges[place]) & (place > 0)
            place += (values >= edges[place + 1]) & (place < count - 1)
    else:
        place = np.searchsorted(edges, values, side="right") - 1
        place = np.where(values == last, count - 1, place)
    return np.where((values >= first) & (values <= last), place, -1)


@nondifferentiable(promote=("input",), dtypes="f", data_movement=True)
def histc(input: Array, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements fall into each of some bins of equal width; those outside of all count nowhere.

    Args:
        min: where the first bin begins.
        max: where the last one ends; if both are equal, the range is that of the elements.

    Raises:
        RuntimeError: for no bins, or a range that is not finite or turned around.

    Example::

        >>> import gradpack as torch
        >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    if float_kind(input) != "f":
        raise not_implemented_for("histogram_cpu", spec_of(input).dtype)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    values = np.reshape(input, (-1,))
    low, high = _edges(values, min, max, "torch.histc", 1.0)
    few = type(values) is _array_type and 0 < values.size < SMALL and values.dtype.char in "fd"
    if few and min == max and (high - low) * bins < 1e38:
        first, last = values.dtype.type(low), values.dtype.type(high)  # between which all are
        place = ((values - first) * float(bins) / (last - first)).astype(np.intp)
        return np.bincount(np.minimum(place, bins - 1), minlength=bins).astype(values.dtype)
    edges = np.linspace(low, high, bins + 1).astype(input.dtype)
    return count_in_bins(values, edges)


@accelerated
def count_in_bins(values: Any, edges: Any) -> Any:
    """How many elements fall into each of the bins of equal width between edges."""
    place = _bin_of(values, edges, True)
    return np.bincount(as_intp(place[place >= 0]), minlength=len(edges) - 1).astype(values.dtype)


_Histogram, _HistogramDD = (return_type(name, ("hist", "bin_edges")) for name in ("histogram", "histogramdd"))


@each_example
def histogram(
    input: Tensor, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False, out: Any = None
) -> Any:
    """How many elements fall into each bin, and the edges of the bins, as a named tuple (hist, bin_edges).

    Args:
        bins: how many bins of equal width, or a vector of increasing edges.
        range: where the first bin begins and the last one ends; that of the elements unless given.
        weight: one for each element, to be summed instead of counted.
        density: divide by the width of the bins and the total, so that the integral is 1.

    Raises:
        RuntimeError: for shapes, dtypes or a range that do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0)).hist
        tensor([0., 2., 1., 0.])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("histogram", "input", 1, input)
    if not isinstance(bins, int | Tensor):
        raise TypeError(f"histogram(): argument 'bins' (position 2) must be int or Tensor, not {type(bins).__name__}")
    if range is not None and not isinstance(range, list | tuple):
        raise TypeError(f"histogram(): argument 'range' must be tuple of floats, not {type(range).__name__}")
    if isinstance(bins, Tensor) and range is not None:
        raise TypeError(
            "histogram() received an invalid combination of arguments: it takes either a range, or a tensor of edges "
            "as bins"
        )
    flat = late.reshape(input, (input.numel(), 1))
    weight = _flat_weight(weight, input._shape, flat._shape)
    made = _histogram("histogram", flat, [bins], range, weight, density)
    result = _Histogram(made[0], made[1][0])
    return result if out is None else _put_both("histogram", out, result)


def _flat_weight(weight: Tensor | None, wanted: Any, shape: Any) -> Tensor | None:
    """The weights of points as a vector; raises unless there is one for each point of an input of `shape`."""
    if weight is None:
        return None
    if weight._shape != wanted:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(shape)} and weight with shape "
            f"{list(weight._shape)}"
        )
    return late.reshape(weight, (weight.numel(),))


def _put_both(op: str, out: Any, result: Any) -> Any:
    if not isinstance(out, tuple | list) or len(out) != len(result):
        given = f"{len(out)} tensors" if isinstance(out, tuple | list) else type(out).__name__
        raise TypeError(f"{op}(): argument 'out' must be a tuple of {len(result)} tensors, not {given}")
    for target, value in zip(out, result, strict=True):
        put("bin_edges" if target is not out[0] else op, target, value)
    return type(result)(*out)


@each_example
def histogramdd(input: Tensor, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many points fall into each cell of a grid, and its edges, as a named tuple (hist, bin_edges).

    Args:
        input: points, shape (..., dimensions).
        bins: how many bins of equal width in each dimension, one int for all of them, or vectors of edges.
        range: where the bins begin and end: two numbers for each dimension.
        weight: one for each point, to be summed instead of counted.
        density: divide by the volume of the cells and the total.

    Example::

        >>> import gradpack as torch
        >>> torch.histogramdd(torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), bins=[2, 2]).hist
        tensor([[0., 1.],
                [1., 1.]])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("histogramdd", "input", 1, input)
    if input.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    size = input._shape[-1]
    each = list(bins) if isinstance(bins, Sequence) else [bins] * size
    if len(each) != size:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    count = input.numel() // size if size else 0
    weight = _flat_weight(weight, input._shape[:-1], input._shape)
    hist, edges = _histogram("histogramdd", late.reshape(input, (count, size)), each, range, weight, density)
    given = (own if isinstance(own, Tensor) else made for own, made in zip(each, edges, strict=True))
    return _HistogramDD(hist, tuple(given))


def _histogram(
    op: str, points: Tensor, bins: list[Any], given: Any, weight: Any, density: bool
) -> tuple[Tensor, tuple[Tensor, ...]]:
    d = points._spec.dtype
    if d not in (dtypes.float32, dtypes.float64):
        raise not_implemented_for("histogramdd", d)
    if weight is not None and weight._spec.dtype is not d:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({d.name}), and weight({weight._spec.dtype.name})"
        )
    if given is not None and len(given) != 2 * len(bins):
        raise RuntimeError(
            f"torch.histogramdd: for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} elements, "
            f"but got {len(given)}"
        )
    array = points._data
    edges: list[Any] = []
    place = np.zeros((array.shape[0],), dtype=np.int64)
    inside = np.ones((array.shape[0],), dtype=bool)
    for k, wanted in enumerate(bins):
        column = array[:, k]
        if isinstance(wanted, Tensor):
            edges.append(_given_edges(wanted, d, k))
        else:
            if wanted <= 0:
                raise RuntimeError(f"torch.{op}(): bins must be > 0, but got {wanted} for dimension {k}")
            low, high = (0.0, 0.0) if given is None else (float(given[2 * k]), float(given[2 * k + 1]))
            if given is None:
                low, high = _edges(column, low, high, f"torch.{op}", 0.5) if column.size else (0.0, 1.0)
            elif low > high:
                raise RuntimeError(f"torch.{op}: dimension {k}'s rightmost edge is smaller than its leftmost edge")
            elif low == high:
                low, high = low - 0.5, high + 0.5
            edges.append(np.linspace(low, high, wanted + 1).astype(array.dtype))
        found = _bin_of(column, edges[-1], not isinstance(wanted, Tensor), True)
        inside &= found >= 0
        place = place * (edges[-1].shape[0] - 1) + found
    shape = tuple(e.shape[0] - 1 for e in edges)
    weights = None if weight is None else weight._data[inside].astype(np.float64)
    hist = np.bincount(as_intp(place[inside]), weights, math.prod(shape)).reshape(shape).astype(np.float64)
    if density:
        with quiet():
            hist = hist / np.sum(hist)
            for k, e in enumerate(edges):
                hist = hist / np.diff(e).reshape((-1,) + (1,) * (len(shape) - k - 1))
    return finish(hist.astype(array.dtype), False), tuple(finish(e, False) for e in edges)


def _given_edges(bins: Tensor, d: Any, k: int) -> Any:
    if bins._spec.dtype is not d:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{_SCALAR_TYPES[d.name].lower()} and bins for dimension {k} with dtype "
            f"{_SCALAR_TYPES[bins._spec.dtype.name].lower()}"
        )
    if bins.ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {bins.ndim} dimensions in the bins "
            f"tensor for dimension {k}"
        )
    if not bins.numel():
        raise RuntimeError(f"torch.histogramdd: bins tensor should have at least 1 element, got none for dimension {k}")
    return bins._data.copy()
