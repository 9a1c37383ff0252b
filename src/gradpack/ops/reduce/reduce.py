"""Sums and means. Other reductions stand in files of their own."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.errors import cpp_name, scalar_type
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim, Sizes
from ...declare.decorators import linear
from ...declare.inplace.write_checks import refuse_grad
from ..create.making import _into_out
from ..shape.shape import _ints
from .dimensions import axes, check_bool, check_floating, count, spread, spread_over
from .kernels import _add, _array_type, add_up, float_kind

FUNCTIONS = "sum mean"
METHODS = "sum sum_to_size mean"


# -- dtype= --


def converted(input: Any, dtype: Any) -> Any:
    """`input` in another dtype; itself for None."""
    dtype = dtypes.as_dtype("to", dtype)
    return input if dtype is None or input.dtype is dtype else late._to_copy(input, dtype)


# -- sum --


@linear(input=lambda g, input_shape: spread(g, input_shape), result="sum", name="sum", int64=True, overlap="read_first")
def _sum(input: Array) -> Any:
    """The sum of all elements."""
    return _add(input, None) if type(input) is _array_type and input.size < 4096 else add_up(input)


@linear(
    input=lambda g, input_shape, dim, keepdim: spread_over(g, input_shape, dim, keepdim),
    result="sum",
    node="SumBackward1",
    contiguous=True,
    int64=True,
    overlap="read_first",
    saved_as="dim=(dim) keepdim self_sym_sizes=input.shape",
)
def _sum_dim(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """The sums over some dimensions."""
    return add_up(input, axes(dim, len(input.shape)), keepdim)


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The sum of all elements, or over one or several dimensions.

    Args:
        dim: an int or a tuple of ints; None or () for all.
        keepdim: keep the dimensions summed over, with size 1.
        dtype: convert `input` to this dtype before. Integers and bool are summed in int64 by default.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.sum(x), torch.sum(x, 1), torch.sum(x, 0, keepdim=True)
        (tensor(10.), tensor([3., 7.]), tensor([[4., 6.]]))
    """
    if dim is None and keepdim is False and dtype is None and out is None:
        return _sum(input)
    dim = checked("sum", dim, keepdim)
    if dtype is None:
        if out is None:
            return _sum(input) if dim is None and not keepdim else _sum_dim(input, dim, keepdim)
        dtype = out.dtype
    return in_dtype(sum, "sum", input, dtype, out, dim, keepdim)


def checked(op: str, dim: Any, keepdim: Any) -> Any:
    """Return `dim`, a list of dimensions as a tuple. Raises unless `keepdim` is a bool."""
    if type(keepdim) is not bool:
        check_bool(op, keepdim)
    return tuple(dim) if type(dim) is list else dim


def in_dtype(call: Any, op: str, input: Any, dtype: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    """Convert `input` to `dtype`, then reduce it by `call`; writes into `out` if given."""
    dtype = dtypes.as_dtype(op, dtype)
    if out is not None and out.dtype is not dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {cpp_name(dtype)}, but got {cpp_name(out.dtype)} instead: dtype={dtype}"
        )
    if dtype.category < dtypes.FLOATING and isinstance(input, Tensor) and input.requires_grad and MODE.get().grad:
        raise RuntimeError(f"Autograd not support dtype: {scalar_type(dtype)}")
    result = converted(call(converted(input, dtype), dim, keepdim), dtype)
    return written(op, result, out, input)


def written(op: str, made: Any, out: Any, *inputs: Any) -> Any:
    """Return `made`, or write it into `out` and return that; raises if `out` or an input requires grad."""
    if out is not None:
        refuse_grad(op, *inputs, out)
    return _into_out(out, made, op)


@linear(input=lambda g, input_shape: late.expand(g, input_shape), node="SumBackward1")
def sum_to_size(input: Array, size: Sizes) -> Any:
    """Sum over the dimensions along which `size` had been broadcast: the adjoint of `expand`.

    Raises:
        RuntimeError: if `size` does not broadcast to the shape of `input`.
    """
    size, shape = tuple(size), tuple(input.shape)
    extra = len(shape) - len(size)
    over = tuple(i for i, n in enumerate(shape) if i < extra or (size[i - extra] == 1 and n != 1)) if extra >= 0 else ()
    if extra < 0 or builtins.any(n != 1 and n != shape[i + extra] for i, n in enumerate(size)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    if not over:
        return np.asarray(input, copy=True)
    return np.reshape(add_up(input, over), size)


def _method_sum_to_size(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Sum over dimensions so that the result has this shape, which must broadcast to that of the tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
    """
    shape = _ints(sizes if size is None else (size,))
    if shape == self._shape and shape:
        return self
    integral = self._spec.dtype.category < dtypes.FLOATING
    return sum_to_size(late._to_copy(self, dtypes.int64) if integral else self, shape)


# -- mean --

_NO_MEAN = (
    "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}. "
    "Give dtype= or convert the input"
)


@linear(
    input=lambda g, input_shape: spread(g / (count(input_shape) or 1), input_shape),
    name="mean",
    refuses="complex32",
    overlap="read_first",
    saved_as="self_sym_sizes=input.shape self_sym_numel=input.numel",
)
def _mean(input: Array) -> Any:
    """The mean of all elements."""
    if not float_kind(input):
        check_floating(_NO_MEAN, input)
    return add_up(input) / input.size


@linear(
    input=lambda g, input_shape, dim, keepdim: spread_over(
        g / (count(input_shape, dim) or 1), input_shape, dim, keepdim
    ),
    node="MeanBackward1",
    contiguous=True,
    refuses="complex32",
    overlap="read_first",
    saved_as="dim=(dim) keepdim self_sym_sizes=input.shape self_sym_numel=input.numel",
)
def _mean_dim(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """The means over some dimensions."""
    check_floating(_NO_MEAN, input)
    return add_up(input, axes(dim, len(input.shape)), keepdim) / count(input.shape, dim)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The mean of all elements, or over one or several dimensions. NaN where there are none.

    Args:
        dim: an int or a tuple of ints; None or () for all.
        keepdim: keep the dimensions averaged over, with size 1.
        dtype: convert `input` to this floating point or complex dtype before.

    Raises:
        RuntimeError: for integers and bool without `dtype`.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.mean(x), torch.mean(x, 1)
        (tensor(2.5000), tensor([1.5000, 3.5000]))
    """
    if dim is None and keepdim is False and dtype is None and out is None:
        return _mean(input)
    dim = checked("mean", dim, keepdim)
    if dtype is None:
        if out is None:
            return _mean(input) if dim is None and not keepdim else _mean_dim(input, dim, keepdim)
        return _mean_dim(input, dim, keepdim, out=out)
    dtype = dtypes.as_dtype("mean", dtype)
    if dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_type(dtype)}"
        )
    return in_dtype(mean, "mean", input, dtype, out, dim, keepdim)
