"""A number for the bits of all elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import spec_of
from ...base.dtypes import FLOATING
from ...base.errors import refuse
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import nondifferentiable
from .dimensions import axes, numpy_names

FUNCTIONS = "hash_tensor"
METHODS = "hash_tensor"


@numpy_names
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0, out: Any = None) -> Tensor:
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
    promote=("input",), dtypes="bif", result=None, structural=True, name="hash_tensor", refuses="unsigned"
)
def _hash(input: Array, dim: Any = (), keepdim: bool = False) -> Any:
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
    wide = np.float64 if d.category == FLOATING else np.int64
    words: Any = np.ascontiguousarray(np.astype(input, wide)).view(np.uint64).reshape(input.shape)
    reduce: Any = np.bitwise_xor.reduce
    return reduce(words, axis=over, keepdims=keepdim)
