"""Norms of matrices, condition numbers and ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING
from ...core.tensor import Tensor, wrap
from ...declare.batching.vmap_fallback import each_example
from ..reduce.dimensions import numpy_names
from ..reduce.norm import abs_of, without_narrowing
from ..shape.dims import wrap_dim
from .check import first_bad, matrices, refuse_dtype, square, with_out
from .matrix_parts import array_of
from .spectral import linalg_eigvalsh
from .svd import linalg_svdvals

FUNCTIONS = "frobenius_norm nuclear_norm"


def _dims(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list | tuple) else dim


@numpy_names
@with_out
def vector_norm(input: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """`sum(abs(x) ** ord) ** (1 / ord)` over all elements, or those along dimensions.

    Args:
        ord: a number; inf and -inf give the largest and smallest size, 0 counts what is not zero.
        dim: an int or a tuple of ints; None for all.
        keepdim: keep the dimensions, with size 1.
        dtype: convert `input` to it before.

    Raises:
        RuntimeError: for integers; for inf and -inf over no elements.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    return _vector_norm(input, ord, dim, keepdim, dtype)


def _vector_norm(input: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any = None) -> Any:
    if isinstance(ord, Tensor):
        ord = ord.item()
    if isinstance(ord, str) or not isinstance(ord, int | float):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}")
    if input._spec.dtype.category < FLOATING:
        refuse_dtype("linalg.vector_norm", input._spec.dtype)
    dim = _dims(dim)
    return late.linalg_vector_norm(without_narrowing(input, dtype), ord, None if dim == () else dim, keepdim)


@numpy_names
@with_out
def matrix_norm(
    input: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """A norm of matrices.

    Args:
        ord: "fro", "nuc" (the sum of singular values), 2 and -2 (the largest and smallest of them), 1 and -1 (the
            largest and smallest sum of a column), inf and -inf (of a row).
        dim: the dimensions of rows and columns.
        keepdim: keep them, with size 1.
        dtype: convert `input` to it before.

    Raises:
        RuntimeError: for another `ord`, for integers, for other than two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.matrix_norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]), "nuc")
        tensor(7.)
    """
    if isinstance(ord, bool) or not isinstance(ord, int | float | str) or not isinstance(dim, list | tuple):
        raise TypeError(
            "linalg_matrix_norm() received an invalid combination of arguments - got "
            f"(Tensor, {type(ord).__name__}, {type(dim).__name__}): ord is a number or 'fro' or 'nuc', dim a tuple"
        )
    name = "linalg.matrix_norm"
    refuse_dtype(name, input._spec.dtype, low=True)
    size: Any = ord if isinstance(ord, str) else abs_of(ord)
    if size not in ("fro", "nuc", 1, 2, math.inf):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    matrices(name, input)
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = (wrap_dim(d, input.ndim) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    least = not isinstance(ord, str) and ord < 0
    if ord == "fro":
        return _vector_norm(input, 2, (rows, columns), keepdim, dtype)
    if size in ("nuc", 2):
        refuse_dtype(name, input._spec.dtype)
    input = without_narrowing(input, dtype)
    if size in ("nuc", 2):
        S = linalg_svdvals(late.movedim(input, (rows, columns), (-2, -1)))
        made = late.sum(S, -1) if ord == "nuc" else _extreme(S, -1, not least)
        if keepdim:
            for d in sorted((rows, columns)):
                made = late.unsqueeze(made, d)
        return made
    along, over = (rows, columns) if size == 1 else (columns, rows)
    sums = _vector_norm(input, 1, along, True)
    made = _extreme(sums, over, not least, True)
    return made if keepdim else late.squeeze(made, (rows, columns))


def _extreme(x: Tensor, dim: int, largest: bool, keepdim: bool = False) -> Any:
    """The largest or smallest along a dimension; 0 is the largest of none."""
    if largest and not x._shape[dim]:
        return late.sum(x, dim, keepdim)
    return (late.amax if largest else late.amin)(x, dim, keepdim)


@numpy_names
@with_out
def norm(input: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """A norm of vectors or matrices: by `ord` and `dim`, that of `vector_norm` or `matrix_norm`.

    Without `ord`, the 2-norm of all elements along `dim`. With it and without `dim`, `input` has one or two dimensions.

    Args:
        ord: None for the 2-norm; a number, or "fro" or "nuc" for matrices.
        dim: an int for norms of vectors, a pair for norms of matrices; None for all dimensions.
        keepdim: keep the dimensions, with size 1.
        dtype: convert `input` to it before.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]), 1)
        tensor(4.)
        >>> torch.linalg.norm(torch.tensor([[3.0, 4.0], [0.0, 1.0]]), dim=1)
        tensor([5., 1.])
    """
    if dim is not None:
        dim = (dim,) if isinstance(dim, int) else tuple(dim)
        if len(dim) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    elif ord is not None and input.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {input.ndim}D."
        )
    if isinstance(ord, str):
        return matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if ord is not None and (len(dim) == 2 if dim is not None else input.ndim == 2):
        return matrix_norm(input, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    return _vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype)


@with_out
def frobenius_norm(input: Tensor, dim: Any = (), keepdim: bool = False) -> Any:
    """The 2-norm of all elements along dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.frobenius_norm(torch.tensor([[3.0, 4.0]]), (0, 1))
        tensor(5.)
    """
    return _vector_norm(input, 2, dim, keepdim)


@with_out
def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum of singular values.

    Example::

        >>> import gradpack as torch
        >>> torch.nuclear_norm(torch.eye(3))
        tensor(3.)
    """
    if isinstance(dim, bool):
        dim, keepdim = None, dim
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


# -- condition numbers and ranks --


@with_out
def cond(input: Tensor, p: Any = None) -> Any:
    """The condition number: the norm of A times that of its inverse.

    Args:
        input: of shape (..., m, n); square ones except for the 2-norm.
        p: as `ord` of `matrix_norm`; None for 2.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.cond(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor(2.)
    """
    if input.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is not None and p not in ("fro", "nuc") and (isinstance(p, str) or abs_of(p) not in (1, 2, math.inf)):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p is None or (not isinstance(p, str) and abs_of(p) == 2):
        S = linalg_svdvals(input)
        if not S._shape[-1]:
            return late.sum(S, -1)
        high, low = S[..., :1], S[..., -1:]
        return late.squeeze(low / high if p == -2 else high / low, -1)
    refuse_dtype(f"linalg.cond(ord={p})", input._spec.dtype, low=True)
    square(f"linalg.cond(ord={p})", input)
    if not input._shape[-1]:
        return late.sum(late.abs(input), (-2, -1))
    inverse, info = late._inv(input)
    singular = first_bad(array_of(info)) is not None
    if singular:
        inverse = late.where((info != 0)[..., None, None], 0.0, inverse)
    norm = matrix_norm(input, p)
    product = norm * matrix_norm(inverse, p)
    if singular:
        product = late.where(info != 0, norm * math.inf, product)
    return product if p == "nuc" else late.where(late.ne(product, product), math.inf, product)


def tolerances(S: Any, shape: Any, atol: Any, rtol: Any) -> Any:
    """The size below which singular values count as zero, with one more dimension for them."""
    values = array_of(S)
    default = float(np.finfo(values.dtype).eps) * max(shape[-2:])
    a = 0.0 if atol is None else np.asarray(array_of(atol), dtype=np.float64)
    if rtol is None:
        r: Any = default if atol is None else np.where(np.asarray(a) > 0, 0.0, default)
    else:
        r = np.asarray(array_of(rtol), dtype=np.float64)
    largest = values.max(-1) if values.shape[-1] else np.zeros(values.shape[:-1])
    return np.maximum(a, r * largest)[..., None]


@with_out
@each_example
def matrix_rank(input: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """How many singular values are larger than `max(atol, rtol * the largest)`.

    Args:
        tol: an `atol` without an `rtol`.
        hermitian: take A as Hermitian, which is faster.
        atol: 0 by default; a number or a tensor with one for each matrix.
        rtol: by default max(m, n) times the precision of the dtype, and 0 where `atol` is given.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.matrix_rank(torch.ones(2, 2))
        tensor(1)
    """
    matrices("torch.linalg.matrix_rank", input, "input")
    dtype = input._spec.dtype
    if dtype.category < FLOATING or dtype.low:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if tol is not None:
        atol, rtol = tol, 0.0
    for label, t in (("atol", atol), ("rtol", rtol)):
        if isinstance(t, Tensor) and t.is_complex():
            raise RuntimeError(f"torch.linalg.matrix_rank: {label} tensor of complex type is not supported.")
    with_values = input.detach()
    S = array_of(late.abs(linalg_eigvalsh(with_values)) if hermitian else linalg_svdvals(with_values))
    return wrap(np.asarray(np.sum(tolerances(wrap(S), input._shape, atol, rtol) < S, axis=-1), dtype=np.int64))
