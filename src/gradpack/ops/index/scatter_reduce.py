"""scatter_reduce: sum, mean, product, maximum and minimum of the elements scattered to the same place.

Sum and mean are linear and save the index only. The others save their operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import spec_of
from ...base import late
from ...base.dtypes import INTEGRAL, bool_
from ...base.errors import not_implemented_for
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general, linear, nondifferentiable
from ...declare.inplace.inplace import inplace
from ...kernels.dispatch import accelerated
from .accumulate import flat_of, fresh, narrowed, set_flat, store, widened
from .scatter import add_places, places_in, set_value, source_for
from .writing import keep_apart

FUNCTIONS = METHODS = "scatter_reduce"
INPLACE = "scatter_reduce_"


@linear(
    input=lambda g, dim, index, mean, include_self: _per_place(g, dim, index, mean, include_self, True),
    src=lambda g, dim, index, mean, include_self: late.gather(
        _per_place(g, dim, index, mean, include_self, False), dim, index
    ),
    promote=("input",),
    structural=True,
    name="scatter_reduce",
    refuses="unsigned",
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


@nondifferentiable(structural=True, promote=("input",), name="scatter_hits")
def _hits(input: Array, dim: int, index: Array, include_self: bool = True) -> Any:
    """How many elements are reduced on each place of `input`, in its dtype; at least 1."""
    ones = np.ones(index.shape, dtype=np.int64)
    count = add_places(np.full(input.shape, int(include_self), dtype=np.int64), dim, index, ones)
    return np.astype(np.maximum(count, np.asarray(1)), input.dtype)


@general(
    input=lambda g, input, dim, index, src, include_self: _prod_input(g, input, dim, index, src, include_self),
    src=lambda g, input, dim, index, src, include_self, out: _prod_src(g, input, dim, index, src, include_self, out),
    name="scatter_prod",
    node="ScatterReduceBackward0",
    refuses="complex32",
    compares=True,
)
def _scatter_prod(input: Array, dim: int, index: Array, src: Array, include_self: bool = True) -> Any:
    """The product of the elements of `src` that fall on each place, and of `input` if `include_self`."""
    out = fresh(input) if include_self else set_value(fresh(input), dim, index, 1)
    flat = flat_of(out)
    np.multiply.at(flat, places_in("scatter_reduce", input.shape, dim, index), np.reshape(src, (-1,)))
    return store(out, flat)


def _prod_input(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    if not include_self:
        return late._scatter_value(g, dim, index, 0)
    safe = late._masked_fill(input, late.eq(input, 0), 1)
    return g * _scatter_prod(safe, dim, index, src) / safe


def _prod_src(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    """The gradient of a product by `src`: `g * out / src`, and for a single zero `g` times the other elements."""
    zero = late.eq(src, 0)
    zeros_here = late.gather(late._scatter_add(late.zeros_as(g, g.shape), dim, index, _indicator(zero, g)), dim, index)
    only = late.logical_and(zero, late.eq(zeros_here, 1))
    others = _scatter_prod(input, dim, index, late._masked_fill(src, only, 1), include_self)
    divided = late.gather(g * out, dim, index) / late._masked_fill(src, zero, 1)
    found = late.where(only, late.gather(g * others, dim, index), divided)
    if isinstance(found, Tensor) and found.requires_grad and found._spec.numpy and not MODE.get().levels:
        if (zero._data & (zeros_here._data > 1)).any():  # the formula's derivative is wrong with two zeros at a place
            found.register_hook(_refuse_twice)
    return found


def _refuse_twice(g: Any) -> Any:
    raise RuntimeError(
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same "
        "position in self"
    )


@general(
    input=lambda g, input, dim, index, src, include_self, out: _extreme_input(
        g, input, dim, index, src, include_self, out
    ),
    src=lambda g, input, dim, index, src, include_self, out: _extreme_src(g, input, dim, index, src, include_self, out),
    dtypes="bif",
    name="scatter_extreme",
    node="ScatterReduceBackward0",
    refuses="unsigned",
)
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


def _extreme_parts(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    """Indicators of the extreme elements in `input` and in `src`, and the gradient divided by their number."""
    own, others = _indicator(late.eq(input, out), g), _indicator(late.eq(src, late.gather(out, dim, index)), g)
    if not include_self:
        own = late._scatter_value(own, dim, index, 0)
    return own, others, g / late._scatter_add(own, dim, index, others)


def _extreme_input(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    own, _, share = _extreme_parts(g, input, dim, index, src, include_self, out)
    return own * share


def _extreme_src(g: Any, input: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    _, others, share = _extreme_parts(g, input, dim, index, src, include_self, out)
    return others * late.gather(share, dim, index)


def _indicator(mask: Any, like: Any) -> Any:
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
