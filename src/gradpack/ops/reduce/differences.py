"""Differences of neighbouring elements along a dimension."""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...core.tensor import Tensor
from ..index.index import narrow
from ..pointwise.arithmetic import sub
from ..pointwise.compare import ne
from ..shape.join import cat
from ..shape.shape import clone, wrap_dim
from .reduce import written

FUNCTIONS = "diff"
METHODS = FUNCTIONS


def diff(
    input: Tensor,
    n: int = 1,
    dim: Any = None,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Any = None,
    axis: Any = None,
) -> Tensor:
    """Each element minus the one before it, along a dimension, `n` times over. For bool, whether they differ.

    Args:
        dim: -1 by default.
        prepend: joined in front of `input` along `dim` first; of the same shape in all other dimensions.
        append: likewise, behind it.

    Raises:
        RuntimeError: for a 0-dim tensor, a negative `n`, and shapes that do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.diff(torch.tensor([1, 3, 2]))
        tensor([ 2, -1])
    """
    place = -1 if dim is None and axis is None else axis if dim is None else dim
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    d = wrap_dim(place, input.ndim)
    for more in (prepend, append):
        if more is not None:
            _check_joined(input, more, d)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}: diff() takes differences n times")
    joined = [x for x in (prepend, input, append) if x is not None]
    result = cat(joined, d) if len(joined) > 1 and n else input
    if not n:
        result = clone(result)
    for _ in range(min(n, result._shape[d])):
        size = result._shape[d] - 1
        after, before = narrow(result, d, 1, size), narrow(result, d, 0, size)
        result = ne(after, before) if result.dtype is dtypes.bool_ else sub(after, before)
    return written("diff", result, out, input)


def _check_joined(input: Tensor, more: Tensor, d: int) -> None:
    if more.ndim != input.ndim:
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input: "
            f"got {more.ndim} dimensions for {input.ndim}"
        )
    for i, (m, size) in enumerate(zip(more._shape, input._shape, strict=True)):
        if i != d and m != size:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({i}) = {size}, but got tensor.size({i}) = {m}"
            )
