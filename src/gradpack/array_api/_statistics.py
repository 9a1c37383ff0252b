"""Functions that sum, compare and order elements along axes."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..base import dtypes
from ..base.dtypes import dtype
from ..core.tensor import Tensor
from ..ops.numpy_api import forms
from ._lookup import ours
from ._manipulation import check_axis, concat
from ._types import Axes, UniqueAll, UniqueCounts, UniqueInverse

# -- reductions: our functions take `()` for all axes, the standard for none --


def _kept(x: Tensor, axis: Axes | None, keepdims: bool, reduced: Tensor) -> Tensor:
    """Return what a reduction over all axes gave, with axes of size 1 if they are to be kept."""
    return reduced.reshape((1,) * x.ndim) if axis is None and keepdims else reduced


def sum(x: Tensor, /, *, axis: Axes | None = None, dtype: dtype | None = None, keepdims: bool = False) -> Tensor:
    """Return the sum over some axes, or all; of integers as int64."""
    if axis == ():
        return x.to(dtype or _summed(x))
    return ours("sum", x, axis, keepdims, dtype=dtype)


def prod(x: Tensor, /, *, axis: Axes | None = None, dtype: dtype | None = None, keepdims: bool = False) -> Tensor:
    """Return the product over some axes, or all; of integers as int64."""
    if axis == () or not x.ndim:
        return x.to(dtype or _summed(x))
    return forms.prod(x, axis, dtype or _summed(x), keepdims)


def _summed(x: Tensor) -> dtype:
    """Return the dtype of a sum."""
    return x.dtype if x.is_floating_point() or x.is_complex() else dtypes.int64


def mean(x: Tensor, /, *, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """Return the mean over some axes, or all."""
    return x.clone() if axis == () else ours("mean", x, axis, keepdims)


def var(x: Tensor, /, *, axis: Axes | None = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return the variance over some axes, or all: squared distances from the mean, divided by `n - correction`."""
    return _spread("var", x, axis, correction, keepdims)


def std(x: Tensor, /, *, axis: Axes | None = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return the standard deviation over some axes, or all: the root of `var`."""
    return _spread("std", x, axis, correction, keepdims)


def _spread(name: str, x: Tensor, axis: Axes | None, correction: float, keepdims: bool) -> Tensor:
    return x * 0 if axis == () else ours(name, x, axis, correction=correction, keepdim=keepdims)


def max(x: Tensor, /, *, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """Return the largest element over some axes, or all."""
    return x.clone() if axis == () else ours("amax", x, axis, keepdims)


def min(x: Tensor, /, *, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """Return the smallest element over some axes, or all."""
    return x.clone() if axis == () else ours("amin", x, axis, keepdims)


def all(x: Tensor, /, *, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """Return whether all elements over some axes are true."""
    return x.bool() if axis == () else ours("all", x.bool(), axis, keepdims)


def any(x: Tensor, /, *, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """Return whether an element over some axes is true."""
    return x.bool() if axis == () else ours("any", x.bool(), axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """Return how many elements over some axes are not zero."""
    return sum(x != 0, axis=axis, keepdims=keepdims)


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the first largest element along an axis, or in the flattened tensor."""
    return _kept(x, axis, keepdims, ours("argmax", x, axis, keepdims))


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the first smallest element along an axis, or in the flattened tensor."""
    return _kept(x, axis, keepdims, ours("argmin", x, axis, keepdims))


# -- along one axis --


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Tensor:
    """Return the sums of the first elements along an axis; the first one is 0 if `include_initial`."""
    return _cumulative("cumsum", 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Tensor:
    """Return the products of the first elements along an axis; the first one is 1 if `include_initial`."""
    return _cumulative("cumprod", 1, x, axis, dtype, include_initial)


def _cumulative(name: str, initial: int, x: Tensor, axis: int | None, dtype: Any, include_initial: bool) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"cumulative_{name[3:]}(): axis is needed for a tensor of {x.ndim} dimensions")
        axis = 0
    axis = check_axis(axis, x.ndim)
    made = ours(name, x, axis, dtype=dtype)
    if not include_initial:
        return made
    first = made.new_full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), initial)
    return concat([first, made], axis=axis)


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Return the differences of neighbours along an axis, `n` times."""
    return ours("diff", x, n, axis, prepend, append)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return a tensor sorted along an axis."""
    values: Tensor = forms.found("sort")(x, axis, descending, stable=stable).values
    return values


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the indices that sort a tensor along an axis."""
    return ours("argsort", x, axis, descending, stable=stable)


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Return the indices at which inserting the values `x2` keeps `x1` sorted."""
    return ours("searchsorted", x1, x2, side=side, sorter=sorter)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Return the indices of the elements that are not zero, one tensor for each axis.

    Raises:
        ValueError: for a tensor of no dimensions.
    """
    if not x.ndim:
        raise ValueError("nonzero(): the tensor has no dimensions; reshape it to (1,) first")
    return forms.nonzero(x)


# -- sets: NaN differs from itself --


def unique_all(x: Tensor, /) -> UniqueAll:
    """Return the sorted distinct values, where each is first, where each element went, and how often each occurs."""
    flat = x.reshape(-1)
    stable = partial(argsort, stable=True)
    order = stable(flat.imag if flat.is_complex() else flat)
    if flat.is_complex():
        order = order[stable(flat.real[order])]
    ordered = flat[order]
    is_first = ours("ones_like", ordered, dtype=dtypes.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    starts = forms.nonzero(is_first)[0]
    ends = ours("cat", (starts, starts.new_tensor([flat.numel()])))[1:]
    inverse = ours("empty_like", order)
    inverse[order] = ours("cumsum", is_first, 0) - 1
    indices = order[starts]
    return UniqueAll(flat[indices], indices, inverse.reshape(x.shape), ends - starts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Return the sorted distinct values, and how often each occurs."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Return the sorted distinct values, and where among them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """Return the sorted distinct values."""
    return unique_all(x).values
