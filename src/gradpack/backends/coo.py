"""Sparse arrays in coordinate form, over NumPy: what a sparse tensor holds.

`indices` has one column for each entry, `values` one row; entries of equal indices add up. It is
an array in the eyes of the tape: it has a shape, it adds to dense arrays, and functions of NumPy
work on it as far as zeros stay zeros under them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .base import UnsupportedError
from .numpy import as_intp


def unsupported(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend: there is no {name} of sparse "
        "tensors. Use Tensor.to_dense() first."
    )


class CooArray(NDArrayOperatorsMixin):
    """Values at coordinates, zero elsewhere.

    Args:
        indices: int64, shape (sparse dimensions, entries).
        values: shape (entries, sizes of the dense dimensions).
        shape: sizes of the sparse dimensions, then of the dense ones.
        coalesced: are the columns of `indices` in order, and no two equal?
    """

    __slots__ = ("coalesced", "indices", "shape", "values")

    strides = None  # there are none
    flags = SimpleNamespace(c_contiguous=True, writeable=True)

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...], coalesced: bool = False) -> None:
        self.indices, self.values, self.shape = indices, values, tuple(shape)
        self.coalesced = coalesced or indices.shape[1] < 2

    def __getattr__(self, name: str) -> Any:
        raise unsupported(name)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    # -- attributes --

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        return int(self.values.dtype.itemsize)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.indices.nbytes)

    @property
    def sparse_dim(self) -> int:
        return int(self.indices.shape[0])

    @property
    def nnz(self) -> int:
        return int(self.indices.shape[1])

    @property
    def dense_shape(self) -> tuple[int, ...]:
        return self.shape[self.sparse_dim :]

    # -- conversions --

    def with_values(self, values: Any) -> CooArray:
        """Return an array with the same indices and other values."""
        return CooArray(self.indices, values, self.shape, self.coalesced)

    def copy(self, order: str = "C") -> CooArray:
        return CooArray(self.indices.copy(), self.values.copy(), self.shape, self.coalesced)

    def astype(self, native: Any, copy: bool = True) -> CooArray:
        return self.with_values(self.values.astype(native, copy=copy))

    def keys(self) -> Any:
        """One number for each entry, in the order of the indices."""
        return keys_of(self.indices, self.shape)

    def coalesce(self) -> CooArray:
        """Entries in order, those of equal indices added up."""
        if self.coalesced:
            return self
        if self.nnz < 2:
            return CooArray(self.indices, self.values, self.shape, True)
        keys = self.keys()
        order = np.argsort(keys, kind="stable")
        starts = starts_of_runs(keys[order])
        values = add_runs(self.values[order], starts)
        return CooArray(np.ascontiguousarray(self.indices[:, order[starts]]), values, self.shape, True)

    def to_dense(self) -> Any:
        """The array with its zeros."""
        out = np.zeros(self.shape, self.dtype)
        own = self.coalesce()
        if own.nnz:
            out[tuple(own.indices)] = own.values if own.sparse_dim else own.values[0]
        return out

    def permute(self, dims: tuple[int, ...]) -> CooArray:
        """Dimensions in another order; sparse and dense ones may not be mixed."""
        count = self.sparse_dim
        if sorted(dims[:count]) != list(range(count)):
            raise RuntimeError("transpose: sparse and dense dimensions of a sparse tensor cannot be exchanged")
        values = self.values.transpose((0, *[d - count + 1 for d in dims[count:]]))
        shape = tuple(self.shape[d] for d in dims)
        same = list(dims) == list(range(self.ndim))
        return CooArray(self.indices[list(dims[:count])], values, shape, self.coalesced and same)

    @property
    def mT(self) -> CooArray:  # noqa: N802 - NumPy's name
        dims = list(range(self.ndim))
        dims[-2:] = dims[-1], dims[-2]
        return self.permute(tuple(dims))

    # -- arithmetic --

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None and isinstance(out[0], CooArray):  # `a += b` gives another array
            out = None
        if method != "__call__" or kwargs.keys() - {"dtype"} or (out is not None and ufunc is not np.add):
            raise unsupported(f"{ufunc.__name__}")
        if ufunc is np.add and out is not None:
            return _add_into(out[0], *inputs)
        two = _BINARY.get(ufunc)
        if two is not None:
            return two(*inputs)
        if len(inputs) == 1 and ufunc in _KEEP_ZERO:
            own = self if ufunc in _LINEAR else self.coalesce()
            return own.with_values(ufunc(own.values, **kwargs))
        if len(inputs) == 2 and ufunc in _COMPARE and np.ndim(inputs[1]) == 0 and not ufunc(0, inputs[1]):
            own = self.coalesce()
            return own.with_values(ufunc(own.values, inputs[1]))
        raise unsupported(ufunc.__name__)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.zeros_like, np.empty_like):
            native = kwargs.get("dtype") or self.dtype
            return CooArray(self.indices[:, :0].copy(), self.values[:0].astype(native), self.shape, True)
        if func is np.sum and isinstance(args[0], CooArray):  # gradient of `expand`, if it is sparse
            return np.sum(self.to_dense(), *args[1:], **kwargs)
        raise unsupported(func.__name__)


def same_shape(a: Any, b: Any) -> None:
    if tuple(a.shape) != tuple(b.shape):
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(a.shape)} != {list(b.shape)}"
        )


def add(a: Any, b: Any) -> Any:
    """The sum: sparse if both are, else dense."""
    if not isinstance(a, CooArray):
        a, b = b, a
    if not isinstance(b, CooArray):
        dense = np.asarray(b)
        if dense.shape != a.shape:
            raise RuntimeError(
                f"add: expected 'self' and 'other' to have same size, but self has size {list(dense.shape)} while "
                f"other has size {list(a.shape)} (FYI: dense-sparse addition does not currently support broadcasting)"
            )
        return _add_into(np.array(dense, np.result_type(dense, a.values)), dense, a)
    same_shape(a, b)
    if not a.nnz or not b.nnz:
        kept = a if a.nnz else b
        return kept.copy().astype(np.result_type(a.values, b.values), copy=False)
    if a.sparse_dim != b.sparse_dim:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same density, but 'self' has "
            f"{a.sparse_dim} sparse dimensions while 'other' has {b.sparse_dim} sparse dimensions"
        )
    if a.values.flags.c_contiguous and b.values.flags.c_contiguous:
        return _merged(a, b)
    return _joined([a, b], a.coalesced and b.coalesced)


def _joined(parts: list[CooArray], ordered: bool) -> CooArray:
    """The entries of several arrays, one after another, or added up in order."""
    indices, values = np.concatenate([p.indices for p in parts], axis=1), np.concatenate([p.values for p in parts])
    made = CooArray(indices, values, parts[0].shape, False)
    return made.coalesce() if ordered else made


def _merged(a: CooArray, b: CooArray) -> CooArray:
    """The entries of both, one after another while they agree, and merged where both are in order."""
    count = min(a.nnz, b.nnz)
    differ = np.flatnonzero(np.any(a.indices[:, :count] != b.indices[:, :count], axis=0))
    count = int(differ[0]) if differ.size else count
    parts = [CooArray(a.indices[:, :count], a.values[:count] + b.values[:count], a.shape)]
    rest = [CooArray(x.indices[:, count:], x.values[count:], a.shape, x.coalesced) for x in (a, b)]
    if rest[0].nnz or rest[1].nnz:
        ordered = all(x.nnz < 2 or bool(np.all(np.diff(x.keys()) > 0)) for x in rest)
        parts.append(_joined(rest, ordered))
    made = _joined(parts, False)
    made.coalesced = (a.coalesced and b.coalesced) or made.coalesced
    return made


def _add_into(out: Any, a: Any, b: Any) -> Any:
    """`out[...] = a + b`, where one of the two is sparse and the other dense."""
    dense, sparse = (b, a) if isinstance(a, CooArray) else (a, b)
    if isinstance(dense, CooArray):
        raise unsupported("add.out")
    if tuple(dense.shape) != sparse.shape:
        raise ValueError(f"operands could not be broadcast together with shapes {dense.shape} {sparse.shape}")
    if dense is not out:
        out[...] = dense
    own = sparse.coalesce()
    if own.nnz:
        where = tuple(own.indices)
        if out.ndim:
            out[where] += own.values.astype(out.dtype, copy=False)
        else:
            out[...] += own.values.sum(axis=0).astype(out.dtype)
    return out


def _is_number(value: Any) -> bool:
    return not isinstance(value, CooArray) and np.ndim(value) == 0


def multiply(a: Any, b: Any) -> Any:
    """The product, element by element: sparse, because zero times anything counts as zero."""
    if not isinstance(a, CooArray):
        a, b = b, a
    if _is_number(b):
        return a.with_values(a.values * b)
    if tuple(a.shape) != tuple(b.shape):
        raise RuntimeError(
            f"mul: expected 'self' and 'other' to have same sizes, but {list(a.shape)} != {list(b.shape)}"
        )
    if not isinstance(b, CooArray):
        return a.with_values(a.values * b[tuple(a.indices)])
    a, b = a.coalesce(), b.coalesce()
    _, left, right = np.intersect1d(a.keys(), b.keys(), assume_unique=True, return_indices=True)
    return CooArray(a.indices[:, left], a.values[left] * b.values[right], a.shape, True)


def divide(a: Any, b: Any) -> Any:
    """The quotient by a number."""
    if not isinstance(a, CooArray) or not _is_number(b):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(getattr(b, 'shape', ()))} for divisor)"
        )
    return a.with_values(a.values / b)


def power(a: Any, b: Any) -> Any:
    """The power of each element, with a positive number as exponent."""
    if not isinstance(a, CooArray) or not _is_number(b) or not b > 0:
        raise unsupported("pow")
    own = a.coalesce()
    return own.with_values(own.values**b)


def at(array: Any, indices: Any, sparse_dim: int) -> Any:
    """Return the values of a dense or sparse array at the index columns, shape (n, *dense_shape)."""
    if not isinstance(array, CooArray):
        return array[tuple(indices)] if sparse_dim else np.broadcast_to(array, (indices.shape[1], *array.shape))
    own = array.coalesce()
    values = np.zeros((indices.shape[1], *own.dense_shape), own.dtype)
    if own.nnz:
        known, wanted = own.keys(), keys_of(indices, own.shape)
        place = np.minimum(np.searchsorted(known, wanted), known.size - 1)
        found = known[place] == wanted
        values[found] = own.values[place[found]]
    return values


def _check_product(a: Any, b: Any) -> None:
    if a.ndim != 2 or (isinstance(a, CooArray) and a.sparse_dim != 2):
        raise RuntimeError(f"mm: Expected dim 2 for a sparse matrix, got a tensor of shape {list(a.shape)}")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {'x'.join(map(str, b.shape))})"
        )


def matmul(a: Any, b: Any) -> Any:
    """The product of matrices, or of a sparse matrix and a vector: sparse if both are."""
    if not isinstance(a, CooArray):
        return matmul(b.mT, a.mT if a.ndim > 1 else a).mT if a.ndim > 1 else matmul(b.mT, a)
    _check_product(a, b)
    if isinstance(b, CooArray):
        return _product_of_sparse(a.coalesce(), b.coalesce())
    out = np.zeros((a.shape[0], *b.shape[1:]), np.result_type(a.values, b))
    if a.nnz:
        order = np.argsort(a.indices[0], kind="stable")
        rows = a.indices[0][order]
        starts = starts_of_runs(rows)
        factors = a.values[order].reshape(-1, *[1] * (b.ndim - 1))
        out[rows[starts]] = add_runs(factors * b[a.indices[1][order]], starts)
    return out


def _product_of_sparse(a: CooArray, b: CooArray) -> CooArray:
    """Each entry of `a` meets the entries of one row of `b`."""
    first = np.searchsorted(b.indices[0], np.arange(b.shape[0] + 1))
    count = (first[1:] - first[:-1])[a.indices[1]]
    count = as_intp(count)
    left = np.repeat(np.arange(a.nnz), count)
    within = np.arange(left.size) - np.repeat(np.cumsum(count) - count, count)
    right = first[a.indices[1]][left] + within
    indices = np.stack((a.indices[0][left], b.indices[1][right]))
    return CooArray(indices, a.values[left] * b.values[right], (a.shape[0], b.shape[1])).coalesce()


_KEEP_ZERO = {
    np.negative, np.positive, np.absolute, np.sqrt, np.square, np.sin, np.tan, np.arcsin, np.arctan, np.sinh, np.tanh,
    np.arcsinh, np.arctanh, np.expm1, np.log1p, np.sign, np.floor, np.ceil, np.trunc, np.rint, np.conjugate,
    np.isnan, np.isinf, np.signbit, np.deg2rad, np.rad2deg,
}  # fmt: skip
_LINEAR = {np.negative, np.positive, np.conjugate}
_COMPARE = {np.greater, np.less, np.not_equal, np.greater_equal, np.less_equal, np.equal}
_BINARY: dict[Any, Callable[..., Any]] = {
    np.add: add,
    np.subtract: lambda a, b: add(a, -b),
    np.multiply: multiply,
    np.true_divide: divide,
    np.matmul: matmul,
    np.power: power,
}


def keys_of(indices: Any, shape: tuple[int, ...]) -> Any:
    """One number for each column of indices into an array of (at least) this shape."""
    keys = np.zeros(indices.shape[1], np.int64)
    for row, size in zip(indices, shape, strict=False):
        keys = keys * size + row
    return keys


def starts_of_runs(ordered: Any) -> Any:
    """Where runs of equal numbers start."""
    return np.flatnonzero(np.concatenate((np.ones(1, bool), ordered[1:] != ordered[:-1])))


def add_runs(rows: Any, starts: Any) -> Any:
    """Sums of runs of rows that begin at `starts`."""
    if rows.dtype.kind == "V" or rows.dtype == np.float16:  # low precision: added up in float32, rounded once
        return np.add.reduceat(rows.astype(np.float32), starts, axis=0).astype(rows.dtype)
    return np.add.reduceat(rows, starts, axis=0)
