"""Detect indices that are one expanded vector: then `gather` and `scatter` can move slices instead of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL
from .scatter import check_bounds


def vector_along(array: Any, dim: int, index: Any) -> Any:
    """The vector that a large `index` is an expansion of along all dimensions but `dim`; None if it is not.

    Raises:
        RuntimeError: for an index out of bounds.
    """
    if not is_numpy(array) or not is_numpy(index) or index.size < SMALL or index.dtype != np.int64:
        return None
    ndim = array.ndim
    d = dim + ndim if dim < 0 else dim
    if ndim < 2 or index.ndim != ndim or not 0 <= d < ndim or not array.flags.c_contiguous:
        return None
    if any(k != d and (s or index.shape[k] != array.shape[k]) for k, s in enumerate(index.strides)):
        return None
    vector = index[(*(0,) * d, slice(None), *(0,) * (ndim - d - 1))]
    check_bounds(np.ascontiguousarray(vector), d, array.shape[d])
    return vector


def spread(g: Any, index: Any, shape: Any, dim: int, sparse: bool) -> Any:
    """The gradient of the input of `gather`: a dense or sparse tensor."""
    if sparse:
        from ..sparse.conversions import gather_sparse_backward

        return gather_sparse_backward(g, index, shape, dim)
    return late._gather_backward(g, index, shape, dim)
