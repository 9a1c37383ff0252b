"""Products over dimensions, whose gradients are exact where elements are zero."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import general
from .dimensions import axis, restored
from .kernels import _array_type, multiply_up
from .reduce import checked, in_dtype

FUNCTIONS = "prod"
METHODS = FUNCTIONS


_product = partial(general, result="sum", autocast="float32", refuses="complex32", compares=True, overlap="read_first")


@_product(input=lambda g, input: g * late.reshape(_others(late.reshape(input, (-1,)), 0), input.shape), name="prod")
def _prod(input: Array) -> Any:
    """The product of all elements."""
    return multiply_up(input)


@_product(
    input=lambda g, input, dim, keepdim: restored(g, input.shape, dim, keepdim) * _others(input, dim),
    node="ProdBackward1",
    contiguous=True,
)
def _prod_dim(input: Array, dim: int, keepdim: bool = False) -> Any:
    """The products along a dimension."""
    place = axis(dim, len(input.shape))
    return multiply_up(input, place if len(input.shape) else None, keepdim)


def _others(x: Any, dim: int) -> Any:
    """For each element, the product of all others along a dimension. By division if there is no zero."""
    if type(x) is _array_type and x.ndim and x.size:
        product = multiply_up(x, axis(dim, x.ndim), True)
        if np.all(np.abs(product) >= np.finfo(x.dtype).tiny) and np.all(np.isfinite(product)):
            return product / x
    before = late.shifted(late.cumprod(x, dim), dim, 1, 1)
    return before * late.flip(late.shifted(late.cumprod(late.flip(x, (dim,)), dim), dim, 1, 1), (dim,))


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The product of all elements, or along a dimension.

    The gradient is exact where elements are zero, to any order.

    Args:
        dim: an int.
        dtype: convert `input` to this dtype before. Integers and bool give int64 by default.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([2.0, 0.0, 3.0], requires_grad=True)
        >>> torch.prod(x).backward()
        >>> x.grad
        tensor([0., 6., 0.])
    """
    dim = checked("prod", dim, keepdim)
    if dim is not None and not hasattr(dim, "__index__"):
        raise TypeError(f"prod(): argument 'dim' must be int, not {type(dim).__name__}")
    dtype = out.dtype if dtype is None and out is not None else dtype
    if dtype is not None:
        return in_dtype(prod, "prod", input, dtype, out, dim, keepdim)
    if dim is not None:
        return _prod_dim(input, dim, keepdim)
    if keepdim:
        raise TypeError("prod(): keepdim needs a dim")
    return _prod(input)
