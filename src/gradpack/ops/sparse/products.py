"""Products, sums and softmax of sparse tensors: what `gradpack.sparse` gives."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...backends.coo import CooArray, add_runs, at
from ...base import late
from ...base.errors import dim_out_of_range
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim, Number
from ...declare.decorators import bilinear, general, linear
from ..pointwise.operands import no_gradient
from .bodies import as_they_are, of_sparse, sum_over
from .conversions import _masked_like
from .coordinates import coalesce, is_sparse

FUNCTIONS = "smm hspmm sspaddmm"
METHODS = "smm sspaddmm"


# -- products --


_product = partial(of_sparse, bilinear, same_dtype=True, broadcasts=False, scalars=False)


@_product(
    mat1=lambda g, mat1, mat2: _sampled(mat1, g, mat2),
    mat2=lambda g, mat1: _spmm(_transposed(mat1), g),
    node="SparseAddmmBackward0",
)
def _spmm(mat1: Array, mat2: Array) -> Any:
    """A sparse matrix times a dense one."""
    return mat1 @ mat2


@of_sparse(linear, input=lambda g: _transposed(g), node="TransposeBackward0")
def _transposed(input: Array) -> Any:
    """The matrix transposed."""
    return input.mT


@as_they_are(
    general,
    left=lambda g, like, right: _spmm(g, right),
    right=lambda g, like, left: _spmm(_transposed(g), left),
    node="SparseSampledAddmmBackward0",
)
def _sampled(like: Array, left: Array, right: Array) -> Any:
    """`left @ right.mT` at the places of the entries of a sparse matrix."""
    rows, columns = like.indices
    return like.with_values(np.einsum("ij,ij->i", left[rows], right[columns]))


@_product(  # each factor gets its gradient where it has entries
    mat1=lambda g, mat1, mat2: _masked_like(_spspmm(g, _transposed(mat2)), mat1),
    mat2=lambda g, mat1, mat2: _masked_like(_spspmm(_transposed(mat1), g), mat2),
    node="SparseSparseMatmulBackward0",
)
def _spspmm(mat1: Array, mat2: Array) -> Any:
    """A sparse matrix times a sparse one."""
    return mat1 @ mat2


def _check_matrices(name: str, mat1: Tensor, mat2: Tensor) -> None:
    for label, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name}: {label} must be a matrix, got a tensor of shape {list(matrix._shape)}")
    if mat1._shape[1] != mat2._shape[0]:
        raise RuntimeError(
            f"addmm: Argument #3 (dense): Expected dim 0 size {mat1._shape[1]}, got {mat2._shape[0]} ({name}() of "
            f"shapes {list(mat1._shape)} and {list(mat2._shape)})"
        )


def mm(mat1: Tensor, mat2: Tensor, reduce: Any = None) -> Tensor:
    """The product of two matrices of which one or both are sparse.

    The gradient of a sparse factor is sparse: only entries that are there get one.

    Example::

        >>> import gradpack as torch
        >>> a = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2)).requires_grad_()
        >>> b = torch.ones(2, 1, requires_grad=True)
        >>> torch.sparse.mm(a, b).sum().backward()
        >>> a.grad.coalesce().values(), b.grad.flatten()
        (tensor([1., 1.]), tensor([3., 2.]))
    """
    if reduce is not None:
        raise NotImplementedError("sparse.mm(): reduce= is for compressed rows, which there are none of")
    first, second = is_sparse(mat1, "_sparse_mm", "mat1"), is_sparse(mat2, "_sparse_mm", "mat2")
    _check_matrices("sparse.mm", mat1, mat2)
    if first and second:
        return _spspmm(mat1, mat2)
    if first:
        return _spmm(mat1, mat2)
    if second:
        return late.transpose(_spmm(_transposed(mat2), late.transpose(mat1, 0, 1)), 0, 1)
    return late.mm(mat1, mat2)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """`beta * mat + alpha * (mat1 @ mat2)` with a sparse `mat1`, whose gradient is sparse.

    Example::

        >>> import gradpack as torch
        >>> torch.sparse.addmm(torch.ones(2, 2), torch.eye(2).to_sparse(), torch.ones(2, 2))
        tensor([[2., 2.],
                [2., 2.]])
    """
    product = mm(mat1, mat2)
    node = product._edge
    if beta != 1:
        mat = mat * beta
    if alpha != 1:
        product = product * alpha
    return mat + product if node is None or mat.requires_grad or alpha != 1 else _added(mat, product)


def _added(mat: Tensor, product: Tensor) -> Tensor:
    """Add a constant and keep the grad_fn of the product."""
    out = mat.expand(product._shape) + product.detach()
    out._edge = product._edge
    return out


def smm(input: Tensor, mat: Tensor) -> Tensor:
    """A sparse matrix times a dense one, as a sparse tensor. It has no derivative.

    Example::

        >>> import gradpack as torch
        >>> torch.smm(torch.eye(2).to_sparse(), torch.ones(2, 1)).to_dense()
        tensor([[1.],
                [1.]])
    """
    return sspaddmm(None, input, mat)


def sspaddmm(input: Tensor | None, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)` of sparse `input` and `mat1`, as a sparse tensor. No derivative.

    Example::

        >>> import gradpack as torch
        >>> eye = torch.eye(2).to_sparse()
        >>> torch.sspaddmm(eye, eye, torch.ones(2, 2)).to_dense()
        tensor([[2., 1.],
                [1., 2.]])
    """
    if not is_sparse(mat1, "sspaddmm", "mat1"):
        raise RuntimeError("sspaddmm: Argument #2: expected a sparse matrix, got a dense one")
    _check_matrices("sspaddmm", mat1, mat2)
    return _sspaddmm(input, mat1, mat2, beta, alpha)


def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """A sparse matrix times a dense one; the rows of the result are sparse, its columns dense. No derivative.

    Example::

        >>> import gradpack as torch
        >>> torch.hspmm(torch.eye(2).to_sparse(), torch.ones(2, 1)).dense_dim()
        1
    """
    if not is_sparse(mat1, "hspmm", "mat1"):
        raise RuntimeError("hspmm: Argument #2: expected a sparse matrix, got a dense one")
    _check_matrices("hspmm", mat1, mat2)
    return _hspmm(mat1, mat2)


@as_they_are(
    general, mat1=lambda g: no_gradient("sspaddmm"), mat2=lambda g: no_gradient("sspaddmm"), node="NotImplemented"
)
def _sspaddmm(input: Array, mat1: Array, mat2: Array, beta: Number, alpha: Number) -> Any:
    """The rows that have entries, all of their columns."""
    rows = np.unique(mat1.indices[0])
    dense = (mat1 @ mat2) * alpha
    count = dense.shape[1]
    indices = np.stack((np.repeat(rows, count), np.tile(np.arange(count), rows.size)))
    product = CooArray(indices, dense[rows].reshape(-1), dense.shape)
    return product if input is None else input * beta + product


@as_they_are(general, mat1=lambda g: no_gradient("hspmm"), mat2=lambda g: no_gradient("hspmm"), node="NotImplemented")
def _hspmm(mat1: Array, mat2: Array) -> Any:
    """The rows that have entries."""
    rows = np.unique(mat1.indices[0])
    dense = mat1 @ mat2
    return CooArray(rows[None, :], dense[rows], dense.shape, True)


# -- sums --


@as_they_are(linear, input=lambda g, input, dim: _spread(g, input, dim), node="SparseSumBackward0")
def _sparse_sum(input: Array, dim: Dim) -> Any:
    """Sums over some dimensions."""
    return sum_over(input, dim)


@as_they_are(linear, g=lambda gg, like, dim: _sparse_sum(gg, dim), node="SparseSumBackward0")
def _spread(g: Array, like: Array, dim: Dim) -> Any:
    """For each entry of a sparse tensor, the gradient of the sum that it went into."""
    over = set(dim)
    kept = [d for d in range(like.sparse_dim) if d not in over]
    values = at(g, like.indices[kept], len(kept))
    for d in sorted(over):
        if d >= like.sparse_dim:
            values = np.expand_dims(values, d - like.sparse_dim + 1)
    return CooArray(like.indices, np.broadcast_to(values, like.values.shape).copy(), like.shape)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor, over all dimensions or some: dense where no sparse dimension is left.

    Example::

        >>> import gradpack as torch
        >>> s = torch.sparse_coo_tensor([[0, 1], [1, 1]], [2.0, 3.0], (2, 2))
        >>> torch.sparse.sum(s), torch.sparse.sum(s, 0).to_dense()
        (tensor(5.), tensor([0., 5.]))
    """
    if dtype is not None:
        input = input.to(dtype)
    n = input.ndim
    if dim is None:
        coalesce(input)  # a dense tensor is refused
        return _all_of(input)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    for d in dims:
        if not -n <= d < n:
            raise dim_out_of_range(d, n)
    places = tuple(d % n for d in dims)
    if len(set(places)) < len(places):
        raise RuntimeError(f"dim {places[0]} appears multiple times in the list of dims")
    return _sparse_sum(input, places)


@as_they_are(linear, input=lambda g, input: _spread_all(g, input), node="SumBackward0")
def _all_of(input: Array) -> Any:
    """The sum of all elements."""
    return sum_over(input, None)


@as_they_are(linear, g=lambda gg: _all_of(gg), node="SumBackward0")
def _spread_all(g: Array, like: Array) -> Any:
    """Return one number at the indices of all entries of a sparse tensor."""
    return like.with_values(np.broadcast_to(g, like.values.shape).astype(g.dtype))


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """`alpha * (mat1 @ mat2)` at the places of the entries of `input`, plus `beta * input`.

    Torch has this on CPUs for compressed rows only; here it takes coordinates.
    """
    if not is_sparse(input, "sampled_addmm", "input"):
        raise RuntimeError("sampled_addmm: Expected input to be a sparse matrix, but it is dense")
    _check_matrices("sampled_addmm", mat1, mat2)
    return input * beta + _sampled(input, mat1, late.transpose(mat2, 0, 1)) * alpha


# -- softmax, over the entries that there are --


_normalization = partial(of_sparse, general, cost="cheap", overlap="read_first")


@_normalization(
    input=lambda g, out, dim: _softmax_slope(g, out, dim),
    jvp=lambda input_t, out, dim: _softmax_slope(input_t, out, dim),
    node="SparseSoftmaxBackward0",
)
def _softmax(input: Array, dim: int) -> Any:
    """Softmax over the entries of each line."""
    return _of_lines(input, dim, False)


@_normalization(
    input=lambda g, out, dim: _log_softmax_slope(g, out, dim),
    jvp=lambda input_t, out, dim: input_t - _lines(input_t * _exp(out), dim),
    node="SparseLogSoftmaxBackward0",
)
def _log_softmax(input: Array, dim: int) -> Any:
    """Logarithms of the softmax over the entries of each line."""
    return _of_lines(input, dim, True)


def _softmax_slope(g: Any, out: Any, dim: Any) -> Any:
    product = _masked_like(g, out) * out
    return product - out * _lines(product, dim)


def _log_softmax_slope(g: Any, out: Any, dim: Any) -> Any:
    own = _masked_like(g, out)
    return own - _exp(out) * _lines(own, dim)


@of_sparse(linear, input=lambda g, dim: _lines(g, dim))
def _lines(input: Array, dim: int) -> Any:
    """Return at each entry the sum of the entries of its line along `dim`."""
    own = input.coalesce()
    order, starts, line = _grouped(own, dim)
    if not own.nnz:
        return own
    values = np.empty_like(own.values)
    values[order] = add_runs(own.values[order], starts)[line]
    return own.with_values(values)


@of_sparse(general, input=lambda g, out: g * out, jvp=lambda input_t, out: input_t * out, cost="cheap")
def _exp(input: Array) -> Any:
    """Exponentials of the entries."""
    return input.with_values(np.exp(input.values))


def _grouped(own: Any, dim: int) -> tuple[Any, Any, Any]:
    """The entries ordered by line along `dim`; where lines start; the line of each."""
    others = CooArray(np.delete(own.indices, dim, 0), own.values, own.shape[:dim] + own.shape[dim + 1 :])
    keys = others.keys()
    order = np.argsort(keys, kind="stable")
    change = np.concatenate((np.ones(1, bool), np.diff(keys[order]) != 0)) if keys.size else np.zeros(0, bool)
    return order, np.flatnonzero(change), np.cumsum(change) - 1


def _of_lines(input: Any, dim: int, log: bool) -> Any:
    own = input.coalesce()
    if not own.nnz:
        return own
    order, starts, line = _grouped(own, dim)
    rows = own.values[order]
    rows = rows - np.maximum.reduceat(rows, starts, axis=0)[line]
    total = np.add.reduceat(np.exp(rows), starts, axis=0)[line]
    values = np.empty_like(own.values)
    values[order] = rows - np.log(total) if log else np.exp(rows) / total
    return own.with_values(values)


def _along(name: str, input: Tensor, dim: int, dtype: Any) -> tuple[Tensor, int]:
    if not is_sparse(input, name, "input"):
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it is dense.")
    if not -input.ndim <= dim < input.ndim:
        raise dim_out_of_range(dim, input.ndim)
    dim %= input.ndim
    if dim >= input._data.sparse_dim:
        raise RuntimeError(f"{name}(): dim {dim} is a dense dimension; convert with to_dense() first")
    if dtype is not None:
        input = input.to(dtype)
    return input, dim


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Softmax along a dimension; unspecified elements count as minus infinity.

    Example::

        >>> import gradpack as torch
        >>> s = torch.sparse_coo_tensor([[0, 1, 1], [0, 0, 1]], [5.0, 2.0, 2.0], (2, 2))
        >>> torch.sparse.softmax(s, 1).to_dense()
        tensor([[1.0000, 0.0000],
                [0.5000, 0.5000]])
    """
    return _softmax(*_along("_sparse_softmax", input, dim, dtype))


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Logarithms of the softmax along a dimension; unspecified elements count as minus infinity."""
    return _log_softmax(*_along("_sparse_log_softmax", input, dim, dtype))
