"""scatter_reduce: sum, mean, product, maximum and minimum of the elements scattered to the same place.

Sum and mean are linear and save the index only. The others save their operands.
"""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

import numpy as np

from ...backends import spec_of
from ...base import dtypes, late
from ...base.dtypes import INTEGRAL, bool_
from ...base.errors import _SCALAR_TYPES, not_a_tensor, not_implemented_for, refuse
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import each_example
from ...declare.decorators import general, nondifferentiable
from ...declare.dispatch.out_argument import put
from ...declare.inplace.inplace import inplace
from ...kernels.dispatch import accelerated
from ..shape.dims import wrap_dim
from .accumulate import flat_of, fresh, narrowed, set_flat, store, widened
from .places import check_bounds
from .scatter import add_places, places_in, set_value, source_for
from .writing import keep_apart, write_op

FUNCTIONS = "scatter_reduce index_reduce _unsafe_masked_index _unsafe_masked_index_put_accumulate"
METHODS = "scatter_reduce index_reduce"
INPLACE = "scatter_reduce_ index_reduce_"

_reduced = partial(general, node="ScatterReduceBackward0")


@write_op(
    input=lambda g, dim, index, mean, include_self: _per_place(g, dim, index, mean, include_self, True),
    src=lambda g, dim, index, mean, include_self: late.gather(
        _per_place(g, dim, index, mean, include_self, False), dim, index
    ),
    name="scatter_reduce",
    compares=True,
)
def _scatter_sum(
    input: Array, dim: int, index: Array, src: Array, mean: bool = False, include_self: bool = True
) -> Any:
    """The sum, or mean, of the elements of `src` that fall on each place, and of `input` if `include_self`."""
    if mean and input.dtype == bool:
        raise not_implemented_for("scatter_gather_tensor_cpu_reduce_mean", bool_)
    wide = widened(fresh(input))
    out = add_places(wide if include_self else set_value(wide, dim, index, 0), dim, index, src)
    if mean:
        hits = _hits(out, dim, index, include_self)
        out = out // hits if spec_of(out).dtype.category == INTEGRAL else out / hits
    return narrowed(out, input.dtype)


def _per_place(g: Any, dim: int, index: Any, mean: bool, include_self: bool, kept: bool) -> Any:
    """The gradient of a sum or mean by place: divided by the counts for a mean, and zero where `input` is replaced."""
    g = g / _hits(g, dim, index, include_self) if mean else g
    return g if include_self or not kept else late._scatter_value(g, dim, index, 0)


@nondifferentiable(data_movement=True, promote=("input",), name="scatter_hits")
def _hits(input: Array, dim: int, index: Array, include_self: bool = True) -> Any:
    """How many elements are reduced on each place of `input`, in its dtype; at least 1."""
    ones = np.ones(index.shape, dtype=np.int64)
    count = add_places(np.full(input.shape, int(include_self), dtype=np.int64), dim, index, ones)
    return np.astype(np.maximum(count, np.asarray(1)), input.dtype)


def _prod_input(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    if not include_self:
        return late._scatter_value(g, dim, index, 0)
    safe = late._masked_fill(input, late.eq(input, 0), 1)
    return g * _scatter_prod(safe, dim, index, src) / safe


def _prod_src(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    """The gradient of a product by `src`: `g * out / src`, and for a single zero `g` times the other elements."""
    zero = late.eq(src, 0)
    zeros_here = late.gather(late._scatter_add(late.zeros_as(g, g.shape), dim, index, indicator(zero, g)), dim, index)
    only = late.logical_and(zero, late.eq(zeros_here, 1))
    others = _scatter_prod(input, dim, index, late._masked_fill(src, only, 1), include_self)
    divided = late.gather(g * out, dim, index) / late._masked_fill(src, zero, 1)
    found = late.where(only, late.gather(g * others, dim, index), divided)
    if isinstance(found, Tensor) and found.requires_grad and found._spec.numpy and not MODE.get().levels:
        if (zero._data & (zeros_here._data > 1)).any():  # the formula's derivative is wrong with two zeros at a place
            found.register_hook(_refuse_twice)
    return found


@_reduced(input=_prod_input, src=_prod_src, name="scatter_prod", refuses="complex32", compares=True)
def _scatter_prod(input: Array, dim: int, index: Array, src: Array, include_self: bool = True) -> Any:
    """The product of the elements of `src` that fall on each place, and of `input` if `include_self`."""
    return put_products(fresh(input) if include_self else set_value(fresh(input), dim, index, 1), src, index, dim)


def put_products(out: Any, src: Any, index: Any, dim: int) -> Any:
    """`_scatter_prod`, into `out`."""
    flat = flat_of(out)
    np.multiply.at(flat, places_in("scatter_reduce", out.shape, dim, index), np.reshape(src, (-1,)))
    return store(out, flat)


def _refuse_twice(g: Any) -> Any:
    raise RuntimeError(
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self"
    )


def _extreme_parts(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    """Indicators of the extreme elements in `input` and in `src`, and the gradient divided by their number."""
    own, others = indicator(late.eq(input, out), g), indicator(late.eq(src, late.gather(out, dim, index)), g)
    if not include_self:
        own = late._scatter_value(own, dim, index, 0)
    return own, others, g / late._scatter_add(own, dim, index, others)


def _extreme_input(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    own, _, share = _extreme_parts(g, input, dim, index, src, include_self, out)
    found = own * share
    return found if include_self else late._scatter_value(found, dim, index, 0)  # also where only NaN came


def _extreme_src(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    _, others, share = _extreme_parts(g, input, dim, index, src, include_self, out)
    return others * late.gather(share, dim, index)


@_reduced(input=_extreme_input, src=_extreme_src, dtypes="bif", name="scatter_extreme", refuses="unsigned")
def _scatter_extreme(
    input: Array, dim: int, index: Array, src: Array, largest: bool = True, include_self: bool = True
) -> Any:
    """The largest or smallest of the elements of `src` that fall on each place, and of `input` if `include_self`."""
    return put_extremes(fresh(input), src, index, dim, largest, include_self)


@accelerated
def put_extremes(out: Any, src: Any, index: Any, dim: int, largest: bool, include_self: bool) -> Any:
    """`_scatter_extreme`, into `out`."""
    flat, values = flat_of(out), np.reshape(src, (-1,))
    places = places_in("scatter_reduce", out.shape, dim, index)
    if not include_self:
        flat = set_flat(flat, places, values)
    (np.maximum if largest else np.minimum).at(flat, places, values)
    return store(out, flat)


def indicator(mask: Any, like: Any) -> Any:
    """Ones where a mask holds, in the dtype of `like`."""
    if not isinstance(mask, Tensor) and not isinstance(like, Tensor):
        return np.astype(mask, like.dtype)
    return late._masked_fill(late.zeros_as(like, tuple(mask.shape)), mask, 1)


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True, out: Any = None
) -> Tensor:
    """Reduce the elements of `src` into `input` at `index` along `dim`.

    Args:
        reduce: "sum", "prod", "mean", "amax" or "amin". Of several equal extremes each gets a part of the gradient.
        include_self: include the elements of `input` in the reduction.

    Raises:
        RuntimeError: as `scatter_add`, and for another `reduce`.

    Example::

        >>> import gradpack as torch
        >>> i = torch.tensor([0, 0, 1])
        >>> torch.scatter_reduce(torch.zeros(2), 0, i, torch.tensor([1.0, 3.0, 5.0]), "mean", include_self=False)
        tensor([2., 5.])
    """
    op, args = _reduce_call("scatter_reduce", input, dim, index, src, reduce, include_self)
    return op(*args) if out is None else op(*args, out=out)


def _method_scatter_reduce_(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """In-place form of `scatter_reduce`."""
    op, args = _reduce_call("scatter_reduce_", self, dim, index, src, reduce, include_self)
    keep_apart(self, index, src)
    return inplace(op.op, "scatter_reduce_", list(args))


def _reduce_call(name: str, input: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> Any:
    source = source_for(name, input, dim, index, src)
    if reduce in ("sum", "mean"):
        return _scatter_sum, (input, dim, index, source, reduce == "mean", include_self)
    if reduce == "prod":
        return _scatter_prod, (input, dim, index, source, include_self)
    if reduce in ("amax", "amin"):
        return _scatter_extreme, (input, dim, index, source, reduce == "amax", include_self)
    raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")


# -- slices, and indexing under a mask --


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
    if shape:
        made: Tensor = op(*args) if out is None else op(*args, out=out)
        return made
    number: Tensor = late.reshape(op(*args), ())
    if out is None:
        return number
    put("index_reduce", out, number)
    result: Tensor = out
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
    check_bounds(index._data, d, shape[d] if shape else 1, error=IndexError)
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
