"""Linear maps along single dimensions of an array: padding by index, resizing, averages over parts.

A map says for each of its results which elements it takes (its taps) and with which weights. It is
made once for a description that can be hashed, and kept. Its adjoint puts things back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.numpy import as_intp, product
from ...kernels.dispatch import accelerated
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import _add, _array_type

DENSE = 256  # elements along a dimension, up to which a product with a matrix along the last one is faster


class Taps:
    """A linear map from `size` elements to `index.shape[1]`.

    Attributes:
        index: (taps, results), the elements that are taken.
        weight: (taps, results), float64; None for ones.
        size: the number of elements that it takes from.
    """

    __slots__ = ("_back", "_matrices", "index", "size", "weight")

    def __init__(self, index: Any, weight: Any, size: int) -> None:
        self.index, self.weight, self.size = index, weight, size
        self._matrices: dict[Any, Any] = {}
        self._back: Taps | None = None

    def matrix(self, dtype: Any) -> Any:
        """The map as a matrix (results, size)."""
        found = self._matrices.get(dtype)
        if found is None:
            count = self.index.shape[1]
            whole = np.zeros((count, self.size))
            weight = np.ones(self.index.shape) if self.weight is None else self.weight
            np.add.at(whole, (np.broadcast_to(np.arange(count), self.index.shape), self.index), weight)
            found = self._matrices[dtype] = whole.astype(dtype)
        return found

    def parts(self, dtype: Any, dim: int) -> list[tuple[Any, Any]]:
        """For each tap the indices, and the weights in a dtype of NumPy's for a dimension counted from the end."""
        found = self._matrices.get((dtype, dim))
        if found is None:
            shape = (-1,) + (1,) * (-1 - dim)
            weights = [None] * len(self.index) if self.weight is None else self.weight.astype(dtype)
            pairs = zip(self.index, weights, strict=True)
            found = [(as_intp(i), w if w is None else w.reshape(shape)) for i, w in pairs]
            self._matrices[dtype, dim] = found
        return found

    def back(self) -> Taps:
        """The adjoint as a map of its own; elements that take less than others get taps of weight zero."""
        if self._back is None:
            order = np.argsort(self.index.reshape(-1), kind="stable")
            source = self.index.reshape(-1)[order]
            weight = np.ones(source.size) if self.weight is None else self.weight.reshape(-1)[order]
            counts = np.bincount(as_intp(source), minlength=self.size)
            starts = np.cumsum(counts) - counts
            depth = max(1, int(counts.max(initial=0)))
            index = np.zeros((depth, self.size), np.int64)
            factor = np.zeros((depth, self.size))
            rank = np.arange(source.size) - starts[source]
            index[rank, source] = order % self.index.shape[1]
            factor[rank, source] = weight
            if not np.any(factor != 1):
                factor = None  # type: ignore[assignment]
            self._back = Taps(index, factor, self.index.shape[1])
        return self._back


def taken(x: Any, taps: Taps, dim: int) -> Any:
    """Apply the map along a dimension (negative: counted from the end)."""
    if dim == -1 and taps.weight is not None and taps.size <= DENSE and x.dtype.kind in "fc" and x.size:
        if _is_finite(x):  # zeros in the matrix times infinity would be NaN
            return product(x, taps.matrix(x.dtype).T)
    return summed_taps(x, taps, dim)


@accelerated
def summed_taps(x: Any, taps: Taps, dim: int) -> Any:
    """`taken`, one tap after another."""
    index, weight, total = taps.index, taps.weight, None
    if type(x) is _array_type:
        for place, factor in taps.parts(x.dtype, dim):
            term = x.take(place, dim)
            if factor is not None:
                term *= factor
            total = term if total is None else np.add(total, term, total)
        return total
    shape = (-1,) + (1,) * (-1 - dim)
    for nr in range(index.shape[0]):
        term = np.take(x, as_intp(index[nr]), axis=dim)
        if weight is not None:
            term *= np.reshape(weight[nr], shape).astype(x.dtype)
        if total is None:
            total = term
        else:
            total += term
    return total


def _is_finite(x: Any) -> bool:
    """Whether the sum of all elements is finite: it is not if one of them is not."""
    return bool(np.isfinite(_add(x, None) if type(x) is _array_type else np.sum(x)))


def _put_apart(g: Any, taps: Taps, dim: int) -> Any:
    """`put_back` of a gradient that is not finite: it reaches no element that nothing was taken from."""
    moved = np.moveaxis(g, dim, 0)
    out = np.zeros((taps.size, *moved.shape[1:]), g.dtype)
    for nr in range(taps.index.shape[0]):
        part = moved
        if taps.weight is not None:
            part = moved * np.reshape(taps.weight[nr], (-1,) + (1,) * (g.ndim - 1)).astype(g.dtype)
        np.add.at(out, as_intp(taps.index[nr]), part)
    return np.ascontiguousarray(np.moveaxis(out, 0, dim))


def put_back(g: Any, taps: Taps, dim: int) -> Any:
    """Apply the adjoint of the map along a dimension."""
    looks = g.dtype.kind in "fc" and is_numpy(g)
    grows = looks and g.shape[dim] <= taps.size  # the smaller one of argument and result is looked at
    if looks and grows and not _is_finite(g):
        return _put_apart(g, taps, dim)
    made = _put_together(g, taps, dim)
    if looks and not grows and not _is_finite(made):
        return _put_apart(g, taps, dim)
    return made


def _put_together(g: Any, taps: Taps, dim: int) -> Any:
    """`put_back` where all is finite: weights of 0 would make NaN of infinite elements."""
    if dim == -1 and taps.size * taps.index.shape[1] <= DENSE * DENSE and g.dtype.kind in "fc" and g.size:
        if is_numpy(g) or _is_finite(g):
            return product(g, taps.matrix(g.dtype))
    back = taps.back()
    if back.index.shape[0] <= 16 or taps.weight is not None:
        return taken(g, back, dim)
    # few elements that are taken often: sums of runs
    place = g.ndim + dim
    flat = taps.index[0]
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    starts = np.flatnonzero(np.concatenate((np.ones(1, bool), ordered[1:] != ordered[:-1])))
    out = np.zeros((*g.shape[:place], taps.size, *g.shape[place + 1 :]), g.dtype)
    out[(slice(None),) * place + (ordered[starts],)] = np.add.reduceat(np.take(g, order, axis=dim), starts, axis=place)
    return out
