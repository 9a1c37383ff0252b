"""Bodies of operations for sparse operands, by the name of the operation.

An operation that has none here does not take sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...backends import NUMPY
from ...backends.coo import CooArray, multiply, unsupported
from ...backends.numpy import as_intp
from ...backends.sparse import SPARSE
from ...base.modes import RUN
from ...declare.op import REGISTRY

BODIES = SPARSE.kernels


def own(operation: Any) -> Any:
    """Register the body of an operation that is written for sparse arrays; returns the operation."""
    BODIES[operation.op.name] = operation.op.forward
    return operation


def of_sparse(kind: Callable[..., Any], **keywords: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare an operation, of one of the kinds of `decorators`, whose body is written for sparse arrays."""
    declare = kind(sparse=True, **keywords)
    return lambda function: own(declare(function))


# The same, of operations whose operands and results have dtypes of their own.
as_they_are = partial(of_sparse, promote=(), result=None)


def _body(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        BODIES[name] = function
        return function

    return note


# -- checks of what users give --

CHECKING = [False]  # whether indices are compared with sizes where nobody says


def check(indices: Any, entries: tuple[int, ...], size: tuple[int, ...], wanted: bool | None) -> None:
    """Raise if indices, values and size do not fit together."""
    if len(size) != indices.shape[0] + len(entries) - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{indices.shape[0]}, dense_dim = {len(entries) - 1}"
        )
    for row, n in enumerate(size[: indices.shape[0]]):
        if not indices.shape[1]:
            break
        low, high = int(indices[row].min()), int(indices[row].max())
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {row}")
        if high >= n:  # torch leaves this unchecked by default; what it makes of it reads memory of others
            raise RuntimeError(f"size is inconsistent with indices: for dim {row}, size is {n} but found index {high}")
    if tuple(size[indices.shape[0] :]) != tuple(entries[1:]):
        raise RuntimeError(
            f"values has incorrect size, expected {[entries[0], *size[indices.shape[0] :]]}, got {list(entries)}"
        )


def entries(array: Any, sparse_dim: int, every: bool = False) -> CooArray:
    """Return the elements, or dense blocks, that are not zero."""
    if isinstance(array, CooArray):
        return array
    there = array != 0
    if array.ndim > sparse_dim:
        there = np.any(there, axis=tuple(range(sparse_dim, array.ndim)))
    if every:
        there = np.ones(array.shape[:sparse_dim], bool)
    if not array.ndim:
        kept = 1 if every or there else 0
        return CooArray(np.zeros((0, kept), np.int64), np.broadcast_to(array, (kept,)).copy(), (), True)
    indices = np.stack(np.nonzero(there)).astype(np.int64)
    return CooArray(indices, array[tuple(indices)], array.shape, True)


# -- arithmetic --


def _scaled(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 else other * alpha


@_body("add")
def _add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    # Gradients add up in whatever order they arrive in.
    if isinstance(input, CooArray) and not isinstance(other, CooArray) and RUN.get() is None:
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    return input + _scaled(other, alpha)


@_body("sub")
def _sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _add(input, -_scaled(other, alpha))


@_body("div")
def _quotient(input: Any, other: Any) -> Any:
    return input / other if isinstance(input, CooArray) else CooArray.__truediv__(input, other)


@_body("_to_copy")
def _to_copy(input: CooArray, dtype: Any, memory_format: Any = None) -> Any:
    return SPARSE.cast(input, dtype) if input.dtype != SPARSE.native_of(dtype) else input.copy()


BODIES["mul"] = multiply
BODIES["neg"] = lambda input: -input
BODIES["alias"] = lambda input: input
BODIES["clone"] = lambda input, memory_format=None: input.copy()


@_body("_copied")
def _copied(input: Any, other: Any) -> Any:
    if not isinstance(other, CooArray) or not isinstance(input, CooArray):
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented!")
    return other.copy()


@_body("_zeroed")
@_body("zeros_like")
def nothing(like: CooArray) -> CooArray:
    """Return a sparse array of a shape, without entries."""
    return CooArray(like.indices[:, :0].copy(), like.values[:0].copy(), like.shape, True)


@_body("_sum")
@_body("sum")
def _sum(input: CooArray) -> Any:
    return np.asarray(NUMPY.body(REGISTRY["sum"])(input.values))


@_body("_sum_dim")
def _sum_dim(input: CooArray, dim: Any = None, keepdim: bool = False) -> Any:
    if keepdim:
        raise unsupported("sum with keepdim=True")
    return sum_over(input, dim)


def sum_over(input: CooArray, dim: Any) -> Any:
    """Sums over dimensions: dense where no sparse dimension is left."""
    n = input.ndim
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        dim = range(n)
    over = {d % n for d in ((dim,) if isinstance(dim, int) else dim)}
    count = input.sparse_dim
    dense = tuple(d - count + 1 for d in sorted(over) if d >= count)
    values = NUMPY.body(REGISTRY["_sum_dim"])(input.values, dense, False) if dense else input.values
    if values.dtype.kind in "biu":
        values = values.astype(np.int64)
    kept = [d for d in range(count) if d not in over]
    shape = tuple(s for d, s in enumerate(input.shape) if d not in over)
    if not kept:
        return np.asarray(NUMPY.body(REGISTRY["_sum_dim"])(values, (0,), False))
    made = CooArray(input.indices[kept], values, shape, input.coalesced and len(kept) == count)
    return made.coalesce()


# -- shape --


@_body("permute")
def _permute(input: CooArray, dims: Any) -> CooArray:
    if len(dims) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(dims)}"
        )
    return input.permute(tuple(d % input.ndim for d in dims))


@_body("transpose")
def _transpose(input: CooArray, dim0: int, dim1: int) -> CooArray:
    dims = list(range(input.ndim))
    for d in (dim0, dim1):
        if not -input.ndim <= d < input.ndim:
            raise np.exceptions.AxisError(d, input.ndim)
    dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return input.permute(tuple(dims))


@_body("t")
def _t(input: CooArray) -> CooArray:
    if input.sparse_dim > 2 or input.ndim > input.sparse_dim:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.sparse_dim} sparse and "
            f"{input.ndim - input.sparse_dim} dense dimensions"
        )
    return input.permute(tuple(reversed(range(input.ndim))))


@_body("unsqueeze")
def _unsqueeze(input: CooArray, dim: int) -> CooArray:
    dim = dim % (input.ndim + 1)
    shape = (*input.shape[:dim], 1, *input.shape[dim:])
    if dim <= input.sparse_dim:
        return CooArray(np.insert(input.indices, dim, 0, axis=0), input.values, shape, input.coalesced)
    return CooArray(input.indices, np.expand_dims(input.values, dim - input.sparse_dim + 1), shape, input.coalesced)


def _select(input: CooArray, dim: int, index: int) -> Any:
    dim %= input.ndim
    if not -input.shape[dim] <= index < input.shape[dim]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    index %= input.shape[dim]
    shape = (*input.shape[:dim], *input.shape[dim + 1 :])
    if dim >= input.sparse_dim:
        values = np.take(input.values, index, axis=dim - input.sparse_dim + 1)
        return CooArray(input.indices, values, shape, input.coalesced)
    kept = np.flatnonzero(input.indices[dim] == index)
    if input.sparse_dim == 1:
        return np.asarray(input.values[kept].sum(axis=0, dtype=input.dtype))
    return CooArray(np.delete(input.indices, dim, 0)[:, kept], input.values[kept], shape, input.coalesced)


@_body("index_select")
def _index_select(input: CooArray, dim: int, index: Any) -> CooArray:
    dim %= input.ndim
    shape = (*input.shape[:dim], index.shape[0], *input.shape[dim + 1 :])
    if dim >= input.sparse_dim:
        values = np.take(input.values, as_intp(index), axis=dim - input.sparse_dim + 1)
        return CooArray(input.indices, values, shape, input.coalesced)
    place, entry = np.nonzero(index[:, None] == input.indices[dim][None, :])
    indices = input.indices[:, entry].copy()
    indices[dim] = place
    return CooArray(indices, input.values[entry], shape)


@_body("cat")
def _cat(tensors: Any, dim: int = 0) -> CooArray:
    if not all(isinstance(x, CooArray) for x in tensors):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found")
    first = tensors[0]
    dim %= first.ndim
    if dim >= first.sparse_dim:
        raise unsupported("cat along a dense dimension")
    shift, columns = 0, []
    for x in tensors:
        own = x.indices.copy()
        own[dim] += shift
        shift += x.shape[dim]
        columns.append(own)
    shape = (*first.shape[:dim], shift, *first.shape[dim + 1 :])
    return CooArray(np.concatenate(columns, axis=1), np.concatenate([x.values for x in tensors]), shape)


# -- products --


@_body("mm")
@_body("matmul")
@_body("mv")
def _product(input: Any, other: Any) -> Any:
    return CooArray.__matmul__(input, other) if isinstance(input, CooArray) else CooArray.__rmatmul__(other, input)


@_body("addmm")
def _addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    product = _product(mat1, mat2)
    return _scaled(input, beta) + _scaled(product, alpha)


# -- element by element, where zeros stay zeros --


def _of_values(name: str, label: str = "") -> Callable[..., Any]:
    def body(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, CooArray) or any(isinstance(v, CooArray) or np.ndim(v) for v in args):
            raise unsupported(label or name)
        merged = input.coalesce()
        return merged.with_values(np.asarray(NUMPY.body(REGISTRY[name])(merged.values, *args, **kwargs)))

    return body


for _name in (
    "abs sqrt sin tan asin atan sinh tanh asinh atanh expm1 log1p sign sgn floor ceil trunc round frac relu erf erfinv "
    "isnan isinf isposinf isneginf signbit deg2rad rad2deg conj_physical square floor_divide"
).split():
    BODIES[_name] = _of_values(_name)
BODIES["div_rounded"] = _of_values("div_rounded", "div")


@_body("pow")
def _pow(input: Any, exponent: Any) -> Any:
    if not isinstance(input, CooArray) or np.ndim(exponent) or not exponent > 0:
        raise unsupported("pow")
    return _of_values("pow")(input, exponent)


@_body("where")
def _where(condition: Any, input: Any, other: Any) -> Any:
    if not isinstance(condition, CooArray) or np.ndim(other) or other != 0:
        raise unsupported("where")
    return multiply(input, condition)


@_body("select")
def _selected(input: CooArray, place: Any = ()) -> Any:
    """A subscript of ints and whole slices."""
    out: Any = input
    dim = 0
    for item in place if isinstance(place, tuple) else (place,):
        if item is ...:
            break
        if item == slice(None):
            dim += 1
        elif isinstance(item, int) and isinstance(out, CooArray):
            out = _select(out, dim, item)
        else:
            raise unsupported("slice")
    return out
