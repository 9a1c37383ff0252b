"""Distances and angles between vectors, and `renorm`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.numpy import product
from ...base import late
from ...base.dtypes import FLOATING, promote_types
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general
from ..linalg.check import floats
from ..nn.loss_pointwise import limited
from ..shape.broadcasting import check_broadcast
from ..shape.dims import wrap_dim
from .dimensions import numpy_names
from .kernels import SMALL, _array_type
from .norm import _slope as _norm_slope

FUNCTIONS = "cdist pdist dist renorm cosine_similarity pairwise_distance"
METHODS = "dist renorm"
INPLACE = "renorm_"

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
_AT_ONCE = 1 << 18  # differences that are held at the same time


def _by_product(p: float, rows: int, columns: int, mode: int) -> bool:
    """Whether Euclidean distances are computed from a matrix product, which rounds more: torch's rule."""
    return p == 2 and (mode == 1 or (mode == 0 and (rows > 25 or columns > 25)))


def _weights(g: Any, out: Any, power: float) -> Any:
    """`g / out ** power`; 0 where the distance is 0, which has no gradient."""
    origin = late.eq(out, 0)
    size = late.where(origin, 1.0, out)
    return late.where(origin, 0.0, g / (size if power == 1 else size**power))


def _slope(g: Any, x1: Any, x2: Any, out: Any, p: float, mode: int) -> Any:
    """The gradient of the first operand; that of the second is the same, transposed."""
    if p == 0 or 0 in x1.shape or 0 in x2.shape:
        return x1 * 0
    if _by_product(p, x1.shape[-2], x2.shape[-2], mode):
        w = _weights(g, out, 1)
        return x1 * late._sum_dim(w, -1, True) - late.matmul(w, x2)
    if isinstance(g, Tensor):
        return _by_differences(g, x1, x2, out, p)
    step = max(1, _AT_ONCE // max(1, math.prod(g.shape[:-2]) * x2.shape[-2] * x2.shape[-1]))
    parts = [
        _by_differences(g[..., i : i + step, :], x1[..., i : i + step, :], x2, out[..., i : i + step, :], p)
        for i in range(0, x1.shape[-2], step)
    ]
    return parts[0] if len(parts) == 1 else late._cat(parts, -2)


def _by_differences(g: Any, x1: Any, x2: Any, out: Any, p: float) -> Any:
    """The gradient of the first operand, from the differences of all pairs of rows (shape (..., P, R, M))."""
    diff = x1[..., :, None, :] - x2[..., None, :, :]
    weights = g
    if p == 1:
        terms = late.sign(diff)
    elif p == math.inf:
        terms = late.where(late.eq(late.abs(diff), out[..., None]), late.sign(diff), 0.0)
    elif p == 2:
        terms, weights = diff, _weights(g, out, 1)
    else:
        zero = late.eq(diff, 0)
        size = late.abs(late.where(zero, 1.0, diff))
        terms, weights = late.where(zero, 0.0, diff * size ** (p - 2)), _weights(g, out, p - 1)
    return late.matmul(weights[..., None, :], terms)[..., 0, :]


@general(
    x1=lambda g, x1, x2, out, p, mode: _slope(g, x1, x2, out, p, mode),
    x2=lambda g, x1, x2, out, p, mode: _slope(g.mT, x2, x1, out.mT, p, mode),
    dtypes="f",
    broadcasts=True,
    check=floats("cdist", kernel="cdist"),
    name="cdist",
    contiguous=True,
    autocast="float32",
    compares=True,
)
def _cdist(x1: Array, x2: Array, p: float = 2.0, mode: int = 0) -> Any:
    """Distances between the rows of two matrices."""
    rows, columns, n = x1.shape[-2], x2.shape[-2], x1.shape[-1]
    lead = () if len(x1.shape) == len(x2.shape) == 2 else np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    if not n or not rows or not columns or 0 in lead:
        return np.zeros((*lead, rows, columns), dtype=x1.dtype)
    if _by_product(p, rows, columns, mode):
        squares = np.vecdot(x1, x1)[..., :, None] + np.vecdot(x2, x2)[..., None, :] - 2 * product(x1, x2.mT)
        return np.sqrt(np.maximum(squares, 0))
    if p == 2 and type(x1) is _array_type and not lead and rows * columns * n < SMALL:
        away = x1[:, None] - x2
        return np.sqrt(np.vecdot(away, away))
    step = max(1, _AT_ONCE // max(1, math.prod(lead) * columns * n))
    other = np.expand_dims(x2, -3)
    parts = [
        late.linalg_vector_norm(np.expand_dims(x1[..., start : start + step, :], -2) - other, p, -1)
        for start in range(0, rows, step)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-2)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """The p-norm distances between each row of `x1` and each of `x2`.

    Args:
        x1: of shape (..., P, M).
        x2: of shape (..., R, M); the result has shape (..., P, R).
        p: at least 0; inf for the largest difference.
        compute_mode: whether Euclidean distances may come from a product of matrices, which is faster and rounds
            more: by default from 26 rows on.

    Raises:
        RuntimeError: for integers, a negative `p`, or different numbers of columns.

    Example::

        >>> import gradpack as torch
        >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for label, t in (("X1", x1), ("X2", x2)):
        if t.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {label} got: {t.ndim}D")
    for label, t in (("X1", x1), ("X2", x2)):
        if not t._spec.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {label} got: {scalar_type(t._spec.dtype)}")
    if x1._shape[-1] != x2._shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1._shape[-1]} X2: {x2._shape[-1]}")
    if x1.dtype != x2.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_type(x1._spec.dtype)} but found {scalar_type(x2._spec.dtype)}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    return _cdist(x1, x2, float(p), _MODES.index(compute_mode))


def pdist(input: Tensor, p: float = 2.0) -> Any:
    """The p-norm distances between each two rows of a matrix, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Args:
        input: the points: shape (n, features). The result has `n * (n - 1) / 2` elements.
        p: the exponent of the norm.

    Example::

        >>> import gradpack as torch
        >>> torch.pdist(torch.tensor([[0.0], [1.0], [3.0]]))
        tensor([1., 3., 2.])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input._spec.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows, columns = late.triu_indices(input._shape[0], input._shape[0], 1, device=input.device)
    return _row_distance(input[rows], input[columns], float(p))


def _row_slope(g: Any, x1: Any, x2: Any, out: Any, p: float) -> Any:
    return late.squeeze(_slope(g[..., None, None], x1[..., None, :], x2[..., None, :], out[..., None, None], p, 2), -2)


@general(
    x1=lambda g, x1, x2, out, p: _row_slope(g, x1, x2, out, p),
    x2=lambda g, x1, x2, out, p: -_row_slope(g, x1, x2, out, p),
    dtypes="f",
    check=floats("pdist", kernel="pdist"),
    node="PdistBackward0",
)
def _row_distance(x1: Array, x2: Array, p: float = 2.0) -> Any:
    """Distances between the rows of one matrix and those of another."""
    diff = x1 - x2
    return late.linalg_vector_norm(diff, p, -1) if diff.size else np.zeros(diff.shape[:-1], dtype=diff.dtype)


def _norm_gradient(g: Any, input: Any, other: Any, out: Any, p: float) -> Any:
    return _norm_slope(g, input - other, out, p, None, False)


@general(
    input=lambda g, input, other, out, p: _norm_gradient(g, input, other, out, p),
    other=lambda g, input, other, out, p: -_norm_gradient(g, input, other, out, p),
    result="real",
    holomorphic=False,
    broadcasts=True,
    dtypes="fc",
)
def dist(input: Array, other: Array, p: float = 2) -> Any:
    """The p-norm of `input - other`, broadcast, over all elements.

    Args:
        other: the second tensor, of a shape that broadcasts.
        p: the exponent of the norm; 0 counts the differences, `inf` takes the largest.

    Example::

        >>> import gradpack as torch
        >>> torch.dist(torch.tensor([3.0, 0.0]), torch.tensor([0.0, 4.0]))
        tensor(5.)
    """
    return late.linalg_vector_norm(input - other, p)


# -- limited norms --


def _others(kept: int, ndim: int) -> tuple[int, ...]:
    return tuple(d for d in range(ndim) if d != kept)


def _renorm_gradient(g: Any, input: Any, p: float, dim: int, maxnorm: float) -> Any:
    over = _others(wrap_dim(dim, len(input.shape)), len(input.shape))
    norms = late.linalg_vector_norm(input, p, over, True)
    large, size = late.gt(norms, maxnorm), norms + _TINY
    along = late.real(late._sum_dim(g * late.conj(input), over, True))
    slope = late.where(large, along * (-maxnorm / (size * size)), 0.0)
    change = late.where(large, _norm_slope(slope, input, norms, p, over, True), 0.0)
    return g * late.where(large, maxnorm / size, 1.0) + change


_TINY = 1e-7  # torch's, so that nothing is divided by zero


@general(
    input=lambda g, input, p, dim, maxnorm: _renorm_gradient(g, input, p, dim, maxnorm),
    holomorphic=False,
    check=floats("linalg.vector_norm", low=True),
    contiguous=True,
    axis=True,
)
def renorm(input: Array, p: float, dim: int, maxnorm: float) -> Any:
    """Each slice along `dim` whose p-norm is larger than `maxnorm`, scaled down to it.

    Args:
        p: the exponent of the norm, larger than 0.
        dim: the dimension along which the slices lie: for 0, each of `input[0]`, `input[1]`, ... is one.
        maxnorm: the largest norm that a slice keeps.

    Raises:
        RuntimeError: for a `p` that is not positive, a negative `maxnorm`, or fewer than two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    if isinstance(p, complex) or p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if len(input.shape) < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {len(input.shape)} dimensions")
    over = _others(wrap_dim(dim, len(input.shape)), len(input.shape))
    norms = late.linalg_vector_norm(input, p, over[0] if len(over) == 1 else over, True)
    return input * np.where(norms > maxnorm, maxnorm / (norms + np.asarray(_TINY, dtype=norms.dtype)), 1)


# -- of vectors along a dimension --


@numpy_names
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension: `x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))`.

    Args:
        x1, x2: tensors that broadcast together.
        dim: the dimension of the vectors.
        eps: the least length to divide by; gradients ignore this limit.

    Raises:
        RuntimeError: for tensors of integers.

    Example::

        >>> import gradpack as torch
        >>> torch.cosine_similarity(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """
    common = promote_types(x1._spec.dtype, x2._spec.dtype)
    if common.category != FLOATING:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {scalar_type(common)}")
    x1, x2 = (x if x._spec.dtype is common else x.to(common) for x in (x1, x2))
    if x1._shape != x2._shape:
        check_broadcast("cosine_similarity", x1, x2)
        lead = late.broadcast_shapes(x1._shape, x2._shape)
        x1, x2 = (x if x._shape == lead else late.expand(x, lead) for x in (x1, x2))
    units = (x / limited(late.linalg_vector_norm(x, 2, dim, True), eps) for x in (x1, x2))
    return late._sum_dim(next(units) * next(units), dim)


@numpy_names
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension.

    Args:
        x1: the first vectors: shape (..., n).
        x2: the second vectors, of a shape that broadcasts.
        p: the exponent of the norm.
        eps: what is added to each difference, which keeps the gradient of equal vectors finite.
        keepdim: whether the result keeps the last dimension, with size 1.

    Example::

        >>> import gradpack as torch
        >>> torch.pairwise_distance(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2), eps=0.0)
        tensor([5.])
    """
    return late.norm(x1 - x2 + eps, p, -1, keepdim)
