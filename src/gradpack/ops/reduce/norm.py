"""Norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim
from ...declare.decorators import general
from .dimensions import axes, check_floating, count, restored
from .kernels import add_up, float_kind, largest, smallest, square_sum
from .reduce import converted

FUNCTIONS = METHODS = "norm"


@general(
    input=lambda g, input, out, ord, dim, keepdim, input_dtype: _slope(g, input, out, ord, dim, keepdim, input_dtype),
    result="real",
    holomorphic=False,
    contiguous=True,
    compares=True,
    saved_as="dim=(dim) keepdim ord result self",
)
def linalg_vector_norm(input: Array, ord: Any = 2, dim: Dim = None, keepdim: bool = False) -> Any:
    """`sum(abs(input) ** ord) ** (1 / ord)`, with its limits for 0, inf and -inf."""
    if not float_kind(input):
        check_floating("linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}", input)
    over = axes(dim, len(input.shape))
    if ord == 2:
        if float_kind(input) == "c":
            real, imag = np.real(input), np.imag(input)
            return np.sqrt(add_up(real * real + imag * imag, over, keepdim))
        return np.sqrt(square_sum(input, over, keepdim))
    if ord == 0:
        return np.asarray(np.sum(input != 0, axis=over, keepdims=keepdim), dtype=np.real(input).dtype)
    size = np.abs(input)
    if ord == 1:
        return add_up(size, over, keepdim)
    if abs_of(ord) == math.inf or ord < 0:
        if not count(input.shape, dim):
            where_to = (
                "an empty tensor because" if dim is None else f"the dimension {dim}because this dimension is empty and"
            )
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord} norm on {where_to} the operation does not have an "
                f"identity (shape {list(input.shape)})"
            )
        if not size.size:
            return add_up(size, over, keepdim)
        if abs_of(ord) == math.inf:
            return (largest if ord > 0 else smallest)(size, over, keepdim)
    return add_up(size**ord, over, keepdim) ** (1.0 / ord)


def abs_of(number: float) -> float:
    return -number if number < 0 else number


def _slope(g: Any, input: Any, out: Any, ord: Any, dim: Any, keepdim: bool, input_dtype: Any = None) -> Any:
    """The gradient of a norm; 0 where it has none: at the origin, and where an element is zero."""
    shape = input.shape
    if ord == 0:
        return None
    g = restored(g, shape, dim, keepdim)
    if ord == 1:
        return late.sgn(input) * g
    out = restored(out, shape, dim, keepdim)
    if abs_of(ord) == math.inf:
        size = late.abs(input)
        if input_dtype is dtypes.complex32:  # rounded as `out` was, to compare equal
            size = late._to_copy(late._to_copy(size, dtypes.float16), dtypes.float32)
        reached = late.logical_or(late.eq(size, out), late.isnan(size))
        return late.sgn(input) * (g / late.ties(reached, g, dim) * reached)
    origin = late.eq(out, 0)
    if ord == 2:
        return input * (g / late.where(origin, math.inf, out))  # NaN for a gradient that is not finite
    norm = late.where(origin, 1.0, out)
    zero = late.eq(input, 0)
    size = late.abs(late.where(zero, 1.0, input))
    if ord < 1:
        scale = g * late.where(origin, 0.0, norm ** (1 - ord))
        return late.sgn(input) * late.where(zero, 0.0, size ** (ord - 1)) * scale
    return input * late.where(zero, 0.0, size ** (ord - 2)) * late.where(origin, 0.0, g / norm ** (ord - 1))


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Any:
    """The norm of all elements as a vector, or of the vectors along dimensions.

    Its gradient is 0 where there is none.

    Args:
        p: "fro" for 2, "nuc" for the sum of the singular values of a matrix, or a number: inf, -inf, 0 (how many
            elements are not zero), 1, 2, any other.
        dim: an int or a tuple of ints; None for all.
        keepdim: keep the dimensions reduced, with size 1.
        dtype: convert `input` to this floating point or complex dtype before.

    Raises:
        RuntimeError: for integers and bool; for inf and -inf over no elements.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[3.0, 4.0], [6.0, 8.0]])
        >>> torch.norm(x, dim=1), torch.norm(x, float("inf"))
        (tensor([ 5., 10.]), tensor(8.))
    """
    if isinstance(input, Tensor) and input.is_sparse:
        if dim is not None or keepdim:
            raise RuntimeError("norm_sparse currently only supports full reductions, so 'dim' must be empty")
        return norm(input.coalesce().values(), p, out=out, dtype=dtype)
    if type(dim) is list:
        dim = tuple(dim)
    if isinstance(p, str) and (p != "fro" or (isinstance(dim, tuple) and len(dim) > 2)):
        from ..linalg.norm import matrix_norm

        over = tuple(range(input.ndim)) if dim is None else (dim,) if isinstance(dim, int) else dim
        return matrix_norm(input, p, over, keepdim, dtype=dtype, out=out)
    if p is None or p == "fro":
        p = 2
    elif isinstance(p, Tensor):
        p = p.item()
    input = without_narrowing(input, dtype)
    if out is None:
        return linalg_vector_norm(input, p, dim, keepdim)
    return linalg_vector_norm(input, p, dim, keepdim, out=out)


def without_narrowing(input: Any, d: Any) -> Any:
    """Return `input` in the dtype `d`, real to real or complex to complex; raises if that narrows. None: as it is."""
    if d is None:
        return input
    d = dtypes.as_dtype("norm", d)
    given = input.dtype
    if given.category < dtypes.FLOATING:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{scalar_type(given)}: convert it first"
        )
    if d.category < dtypes.FLOATING:
        raise RuntimeError(f"linalg.vector_norm: dtype should be floating point or complex, but got {scalar_type(d)}")
    if given.is_complex != d.is_complex:
        kind = "complex" if given.is_complex else "real"
        raise RuntimeError(f"linalg.vector_norm: dtype should be {kind} for {kind} inputs, but got {scalar_type(d)}")
    if dtypes.promote_types(given, d) is not d:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({scalar_type(given)}) should be convertible without "
            f"narrowing to the specified dtype ({scalar_type(d)})"
        )
    return converted(input, d)


def _method_norm(self: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The norm of all elements as a vector, or of the vectors along dimensions: see `gradpack.norm`.

    Args:
        p: the exponent; "fro" and "nuc" for norms of matrices.
        dim: the dimension, or dimensions, of the vectors; None for all.
        keepdim: whether the result keeps them, with size 1.
        dtype: convert to this dtype before.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[3.0, 4.0], [0.0, 1.0]]).norm(dim=1)
        tensor([5., 1.])
    """
    return norm(self, p, dim, keepdim, None, dtype)
