"""Logical reductions: any, all, how many; and the exclusive or of all bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import spec_of
from ...backends.numpy import as_int64
from ...base import dtypes, late
from ...base.errors import refuse
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim
from ...declare.decorators import nondifferentiable
from .dimensions import axes, numpy_names
from .kernels import _array_type
from .reduce import checked

FUNCTIONS = METHODS = "any all count_nonzero hash_tensor"

_and: Any = np.logical_and.reduce
_or: Any = np.logical_or.reduce


@nondifferentiable(result="bool", data_movement=True, name="any", promote=("input",), contiguous=True)
def _any(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """Whether any element is not zero."""
    if dim is not None and not hasattr(dim, "__index__") and not len(dim):
        return np.asarray(input != 0)
    over = axes(dim, len(input.shape))
    if type(input) is _array_type:
        return _or(input, over, None, None, keepdim)
    return np.any(input, axis=over, keepdims=keepdim)


@nondifferentiable(result="bool", data_movement=True, name="all", promote=("input",), contiguous=True)
def _all(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """Whether all elements are not zero."""
    if dim is not None and not hasattr(dim, "__index__") and not len(dim):
        return np.asarray(input != 0)
    over = axes(dim, len(input.shape))
    if type(input) is _array_type:
        return _and(input, over, None, None, keepdim)
    return np.all(input, axis=over, keepdims=keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether any element is not zero: of all, or over some dimensions. NaN is not zero.

    The result is bool, and uint8 for uint8. `dim=()` reduces nothing.

    Args:
        dim: an int or a tuple of ints; None for all dimensions.
        keepdim: keep the dimensions reduced, with size 1.

    Example::

        >>> import gradpack as torch
        >>> torch.any(torch.tensor([[0, 1], [0, 0]]), 1)
        tensor([ True, False])
    """
    return _truth(_any, input, dim, keepdim, out)


def all(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Whether all elements are not zero: of all, or over some dimensions. True where there are none.

    The result is bool, and uint8 for uint8. `dim=()` reduces nothing.

    Args:
        dim: an int or a tuple of ints; None for all dimensions.
        keepdim: keep the dimensions reduced, with size 1.

    Example::

        >>> import gradpack as torch
        >>> torch.all(torch.tensor([[0, 1], [1, 1]]), 1)
        tensor([False,  True])
    """
    return _truth(_all, input, dim, keepdim, out)


def _truth(call: Any, input: Any, dim: Any, keepdim: Any, out: Any) -> Any:
    dim = checked(call.op.name, dim, keepdim)
    if out is not None:
        return call(input, dim, keepdim, out=out)
    found = call(input, dim, keepdim)
    return late._to_copy(found, dtypes.uint8) if isinstance(input, Tensor) and input.dtype is dtypes.uint8 else found


@numpy_names
@nondifferentiable(result="index", promote=("input",), contiguous=True, int64="bool")
def count_nonzero(input: Array, dim: Dim = None) -> Any:
    """How many elements are not zero: of all, or over some dimensions.

    Args:
        dim: an int or a tuple of ints; None for all dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.count_nonzero(torch.tensor([[0, 1], [2, 3]]), 0)
        tensor([1, 2])
    """
    return as_int64(np.count_nonzero(input, axis=axes(dim, len(input.shape))))


# -- bits --


@numpy_names
def hash_tensor(input: Tensor, dim: Any = None, *, keepdim: bool = False, mode: int = 0, out: Any = None) -> Tensor:
    """The bits of all elements, or of those along dimensions, combined by exclusive or: a tensor of uint64.

    Elements are widened to float64 or int64 first.

    Args:
        mode: 0, the only one there is.

    Raises:
        RuntimeError: for another mode, or for a tensor without elements and no dimension.
        IndexError: for a dimension out of range, or without elements.

    Example::

        >>> import gradpack as torch
        >>> torch.hash_tensor(torch.tensor([[1, 2, 3], [4, 5, 6]]), 1)
        tensor([0, 7], dtype=gradpack.uint64)
    """
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    return _hash(input, dim, keepdim, out=out)


@nondifferentiable(
    promote=("input",), dtypes="bif", result=None, data_movement=True, name="hash_tensor", refuses="unsigned"
)
def _hash(input: Array, dim: Any = None, keepdim: bool = False) -> Any:
    """The bits of all elements, or of those along dimensions, combined by exclusive or."""
    d = spec_of(input).dtype
    refuse("hash_tensor", d, "c")
    over: Any = axes(dim, input.ndim)
    if not input.size:
        if over is None:
            raise RuntimeError(
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            )
        for place in over if isinstance(over, tuple) else (over,):
            if not input.shape[place]:
                raise IndexError(f"hash_tensor: Expected reduction dim {place} to have non-zero size.")
    wide = np.float64 if d.category == dtypes.FLOATING else np.int64
    words: Any = np.ascontiguousarray(np.astype(input, wide)).view(np.uint64).reshape(input.shape)
    reduce: Any = np.bitwise_xor.reduce
    return reduce(words, axis=over, keepdims=keepdim)
