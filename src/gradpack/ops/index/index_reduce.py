"""Reducing slices into a tensor, and indexing under a mask."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.errors import _SCALAR_TYPES, not_a_tensor, refuse
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.batching.vmap_fallback import each_example
from ...declare.dispatch.out_argument import put
from ...declare.inplace.inplace import inplace
from ..shape.shape import wrap_dim
from .scatter_reduce import _reduce_call

FUNCTIONS = "index_reduce _unsafe_masked_index _unsafe_masked_index_put_accumulate"
METHODS = "index_reduce"
INPLACE = "index_reduce_"


def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True, out: Any = None
) -> Tensor:
    """`input` with the slices of `source` reduced into its slices at a vector of indices along `dim`.

    Args:
        reduce: "prod", "mean", "amax" or "amin".
        include_self: include the elements of `input` in the reduction.

    Raises:
        RuntimeError: for another `reduce`, shapes that do not fit, or another dtype of `source`.
        IndexError: for an index out of bounds.

    Example::

        >>> import gradpack as torch
        >>> torch.index_reduce(torch.ones(2), 0, torch.tensor([0, 0]), torch.tensor([2.0, 3.0]), "prod")
        tensor([6., 1.])
    """
    return _index_reduce(input, dim, index, source, reduce, include_self, out)


@each_example
def _index_reduce(
    input: Tensor, dim: int, index: Any, source: Any, reduce: str, include_self: bool, out: Any
) -> Tensor:
    op, args, shape = _reduction("index_reduce", input, dim, index, source, reduce, include_self)
    if out is None:
        made: Tensor = op(*args)
        return made if shape else late.reshape(made, ())
    if not shape:
        put("index_reduce", out, late.reshape(op(*args), ()))
        whole: Tensor = out
        return whole
    result: Tensor = op(*args, out=out)
    return result


def _method_index_reduce_(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """In-place form of `index_reduce`."""
    if MODE.get().levels:
        whole: Tensor = self.copy_(index_reduce(self, dim, index, source, reduce, include_self=include_self))
        return whole
    op, args, shape = _reduction("index_reduce_", self, dim, index, source, reduce, include_self)
    if not shape:
        result: Tensor = self.copy_(late.reshape(op(late.clone(args[0]), *args[1:]), ()))
        return result
    return inplace(op.op, "index_reduce_", [self, *args[1:]])


def _reduction(name: str, input: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool) -> Any:
    """The operation of `scatter_reduce` equivalent to `index_reduce`, and its arguments."""
    for position, (label, value) in enumerate((("input", input), ("index", index), ("source", source)), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor(name, label, position + (position > 1), value)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    shape = input._shape
    d = wrap_dim(dim, len(shape))
    if index._spec.dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, not {index.dtype.name}")
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: Long")
    refuse("index_func_", input._spec.dtype, "bc")
    if source._spec.dtype is not input._spec.dtype:
        raise RuntimeError(
            f"index_reduce_(): self ({_SCALAR_TYPES[input.dtype.name]}) and source "
            f"({_SCALAR_TYPES[source.dtype.name]}) must have the same scalar type"
        )
    count = index.numel()
    given = source._shape
    if len(given) != len(shape) or given[:d] + given[d + 1 :] != shape[:d] + shape[d + 1 :]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shape)} source.shape = {list(given)}"
        )
    if (given[d] if given else 1) != count:
        raise RuntimeError(
            f"{name}(): Number of indices ({count}) should be equal to source.size(dim): "
            f"({given[d] if given else 1}), for dim: {d}"
        )
    size = shape[d] if shape else 1
    if count:
        for found in (int(np.min(index._data)), int(np.max(index._data))):
            if not 0 <= found < size:
                raise IndexError(f"index {found} is out of bounds for dimension {d} with size {size}")
    whole = given or (1,)
    places = late.expand(late.reshape(index, (1,) * d + (count,) + (1,) * (len(whole) - d - 1)), whole)
    if not shape:
        input, source = late.reshape(input, (1,)), late.reshape(source, (1,))
    op, args = _reduce_call(name, input, d, places, source, reduce, include_self)
    return op, args, shape


# -- indexing under a mask --


def _clamped(input: Tensor, indices: Any) -> tuple[Any, ...]:
    """Indices clamped to the bounds of the dimensions."""
    sizes = input._shape
    return tuple(
        builtins.slice(None)
        if i is None
        else late.clamp(i, -sizes[k], sizes[k] - 1)
        if i._spec.dtype is not dtypes.bool_
        else i
        for k, i in enumerate(indices)
    )


def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: Any) -> Tensor:
    """`input[indices]` where a mask holds, `fill` elsewhere, where indices may be out of bounds.

    Example::

        >>> import gradpack as torch
        >>> i = torch.tensor([1, 9])
        >>> torch._unsafe_masked_index(torch.tensor([5.0, 6.0]), i < 2, [i], 0.5)
        tensor([6.0000, 0.5000])
    """
    if not input.numel():
        return late.masked_fill(input[_clamped(input, indices)], late.logical_not(mask), fill)
    return late.masked_fill(input[_clamped(input, indices)], late.logical_not(mask), fill)


def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Any, values: Tensor) -> Tensor:
    """`input` with `values` added at `indices` where a mask holds.

    Example::

        >>> import gradpack as torch
        >>> i = torch.tensor([1, 9])
        >>> torch._unsafe_masked_index_put_accumulate(torch.zeros(2), i < 2, [i], torch.ones(2))
        tensor([0., 1.])
    """
    kept = late.masked_fill(values, late.logical_not(mask), 0)
    return late.index_put(input, _clamped(input, indices), kept, accumulate=True)
