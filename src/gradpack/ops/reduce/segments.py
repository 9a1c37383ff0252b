"""Reductions over segments of a dimension, of given lengths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.numpy import as_int64, as_intp
from ...base import dtypes, late
from ...base.errors import not_a_tensor, not_implemented_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import looking_at
from ...declare.decorators import general
from ..create.making import _into_out, beside
from ..index.scatter_reduce import indicator, put_extremes, put_products
from ..random.floats import host_of
from ..shape.dims import wrap_dim
from .reduce import written

FUNCTIONS = "segment_reduce _segment_reduce _softmax_backward_data"

_START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
_SAME = {"amax": "max", "amin": "min"}


@looking_at("lengths", "offsets")
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
    out: Any = None,
) -> Tensor:
    """Reduce segments of a dimension: the first `lengths[0]` elements, the next `lengths[1]` ones, and so on.

    Args:
        reduce: "sum", "mean", "prod", "max" or "min".
        lengths: the lengths of the segments along `axis`, its last dimension; the others are those of `data`.
        offsets: instead of `lengths`, the starts of the segments, and the end of the last one.
        axis: the dimension to reduce, the last one of `lengths`.
        unsafe: do not check that the lengths add up to the size of `data`.
        initial: the initial value of each reduction, the result of empty segments; by default 0, NaN, 1, -inf or inf.

    Raises:
        RuntimeError: for another reduction, or lengths that do not fit.
        NotImplementedError: for data that is not of a floating-point dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 3.0]), "sum", lengths=torch.tensor([2, 1]))
        tensor([3., 3.])
    """
    if not isinstance(data, Tensor):
        raise not_a_tensor("segment_reduce", "data", 1, data)
    kind = _SAME.get(reduce, reduce)
    if kind not in _START:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    sizes = _sizes(data, lengths, indices, offsets, axis, unsafe)
    if not data._spec.dtype.is_floating_point:
        raise not_implemented_for("_segment_reduce_cpu", data._spec.dtype)
    axis = sizes.ndim - 1
    return written("segment_reduce", _reduced(data, kind, sizes, axis, initial), out, data)


def _sizes(data: Tensor, lengths: Any, indices: Any, offsets: Any, axis: int, unsafe: bool) -> Any:
    """The lengths of the segments as an array of int64."""
    if not data.numel() and lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    axis = wrap_dim(axis, data.ndim)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    given = lengths if offsets is None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    name = "lengths" if offsets is None else "offsets"
    if given._spec.dtype not in (dtypes.int32, dtypes.int64):
        raise not_implemented_for(f"_segment_reduce_{name}_cpu_kernel1", given._spec.dtype)
    if data.ndim < given.ndim:
        raise RuntimeError(f"segment_reduce(): Expected data.dim() >= {name}.dim(), but got {data.ndim} < {given.ndim}")
    if axis != given.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if given._shape[:-1] != data._shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): {name} of shape {list(given._shape)} does not fit data of shape {list(data._shape)}"
        )
    array = host_of(given).astype(np.int64)
    sizes = np.diff(array, axis=-1) if offsets is not None else array
    if not unsafe:
        if sizes.size and np.min(sizes) < 0:
            raise RuntimeError("segment_reduce(): lengths contains negative value!")
        if offsets is None and not np.all(np.sum(sizes, axis=-1) == data._shape[axis]):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                "!unsafe."
            )
    return sizes


def _slopes(g: Any, data: Any, out: Any, index: Any, axis: int, kind: str, start: float) -> Any:
    """The gradient of `_of_segments`: extremes and NaN share it, whatever the initial value is."""

    def at(x: Any) -> Any:
        """Return for each element the value of its segment; 0 for elements of none."""
        return late.gather(late._cat([x, late.zeros_as(x, (*lead, 1, *rest))], axis), axis, index)

    def number(hit: Any) -> Any:
        """Return for each element how many of its segment are hit."""
        zeros = late.zeros_as(g, (*lead, g.shape[axis] + 1, *rest))
        return late.gather(late._scatter_add(zeros, axis, index, indicator(hit, g)), axis, index)

    lead, rest = tuple(g.shape[:axis]), tuple(g.shape[axis + 1 :])
    here, nan = at(g), late.isnan(data)
    if kind != "prod":
        hit = late.logical_or(nan, late.eq(data, at(out)))
        return late.where(hit, here / late.where(hit, number(hit), 1.0), 0.0)
    zero = late.eq(data, 0)
    special = late.logical_or(zero, nan)
    usual = late._masked_fill(data, special, 1)
    base = late.zeros_as(g, (*lead, g.shape[axis] + 1, *rest)) + start
    product = late.gather(late._scatter_prod(base, axis, index, usual), axis, index)
    product = late.where(late.gt(number(zero), indicator(zero, g)), product * 0.0, product)
    product = late.where(late.gt(number(nan), indicator(nan, g)), math.nan, product)  # of the others
    return here * late.where(special, product, at(out) / usual)


@general(
    data=lambda g, data, out, index, axis, kind, start: _slopes(g, data, out, index, axis, kind, start),
    promote=("data",),
    dtypes="f",
    compares=True,
    name="_of_segments",
    node="SegmentReduceBackward0",
)
def _of_segments(data: Array, index: Array, count: int, axis: int, kind: str, start: float) -> Any:
    """Products, maxima or minima of `count` segments, of which `index` has the number for each element, or `count`."""
    base = np.full((*data.shape[:axis], count + 1, *data.shape[axis + 1 :]), start, dtype=data.dtype)
    if kind == "prod":
        made = put_products(base, data, index, axis)
    else:
        made = put_extremes(base, data, index, axis, kind == "max", True)
    return made[(*(slice(None),) * axis, slice(count), ...)]


def _reduced(data: Tensor, kind: str, sizes: Any, axis: int, initial: Any) -> Tensor:
    shape, count = data._shape, sizes.shape[-1]
    n = shape[axis]
    rows = np.reshape(sizes, (-1, count))
    # For each element the number of its segment; elements after the last one go to an extra one, dropped below.
    rest_of_row = np.maximum(n - np.sum(rows, axis=-1, keepdims=True), 0)
    lengths = np.concatenate([rows, rest_of_row], axis=-1)
    number = as_int64(np.repeat(np.tile(np.arange(count + 1), rows.shape[0]), as_intp(np.reshape(lengths, (-1,)))))
    number = np.reshape(number, (rows.shape[0], -1))[:, :n]
    lead, rest = shape[:axis], shape[axis + 1 :]
    index = late.expand(late.reshape(beside(number, data), (*lead, n, *(1,) * len(rest))), shape)
    start = _START[kind] if initial is None else float(initial)
    if kind in ("prod", "max", "min"):
        return _of_segments(data, index, count, axis, kind, start)
    base = late.full((*lead, count + 1, *rest), start, dtype=data._spec.dtype, device=data.device)
    made = late.narrow(late.scatter_reduce(base, axis, index, data, "sum"), axis, 0, count)
    if kind != "mean":
        return made
    divisor = np.reshape(rows, (*sizes.shape, *(1,) * len(rest)))
    empty = beside(divisor == 0, data)
    made = made / beside(np.maximum(divisor, 1), data).to(data._spec.dtype)
    return late.where(empty, math.nan if initial is None else start, made)


def _segment_reduce(data: Tensor, reduce: str, **more: Any) -> Tensor:
    """`segment_reduce`.

    Example::

        >>> import gradpack as torch
        >>> torch._segment_reduce(torch.tensor([1.0, 2.0, 3.0]), "max", lengths=torch.tensor([2, 1]))
        tensor([2., 3.])
    """
    return segment_reduce(data, reduce, **more)


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any, *, grad_input: Any = None
) -> Tensor:
    """The gradient of a softmax, of whose result `output` it is computed.

    Example::

        >>> import gradpack as torch
        >>> torch._softmax_backward_data(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5]), 0, torch.float32)
        tensor([ 0.2500, -0.2500])
    """
    if output._spec.dtype.low:
        grad_output, output = grad_output.to(dtypes.float32), output.to(dtypes.float32)
    weighted = grad_output * output
    made: Tensor = weighted - output * late.sum(weighted, dim, True)
    if made._spec.dtype is not input_dtype:
        made = made.to(input_dtype)
    return _into_out(grad_input, made, "_softmax_backward_data")
