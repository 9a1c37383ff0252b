"""Sums, products and means."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.errors import cpp_name, scalar_type
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim, Sizes
from ...declare.decorators import general, linear
from ...declare.dispatch.out_dtypes import check_out
from ...declare.inplace.write_checks import refuse_grad
from ...kernels.dispatch import LARGE
from ..create.making import _into_out
from ..shape.dims import ints_of
from .dimensions import axes, axis, check_bool, check_floating, count, restored, spread, spread_over
from .kernels import _add, _array_type, add_up, float_kind, multiply_up

FUNCTIONS = "sum nansum mean nanmean prod"
METHODS = "sum sum_to_size nansum mean nanmean prod"


# -- dtype= --


def converted(input: Any, dtype: Any) -> Any:
    """`input` in another dtype; itself for None."""
    dtype = dtypes.as_dtype("to", dtype)
    return input if dtype is None or input.dtype is dtype else late._to_copy(input, dtype)


# -- sum --


@linear(
    input=lambda g, input_shape: spread(g, input_shape), result="sum", name="sum", int64="bool", overlap="read_first"
)
def _sum(input: Array) -> Any:
    """The sum of all elements."""
    return _add(input, None) if type(input) is _array_type and input.size < 4096 else add_up(input)


@linear(
    input=lambda g, input_shape, dim, keepdim: spread_over(g, input_shape, dim, keepdim),
    result="sum",
    node="SumBackward1",
    contiguous=True,
    int64="bool",
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
    if dtype is None and out is None:
        return _sum_dim(input, dim, keepdim)
    return in_dtype(sum, "sum", input, out.dtype if dtype is None else dtype, out, dim, keepdim)


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


# The formula names `size` for the name of the node.
@linear(
    input=lambda g, input_shape, size: late.expand(g, input_shape),
    node="SumBackward1",
    overloads=lambda node: "SumBackward1" if node.size else "SumBackward0",
    saved_as="self_sym_sizes=input.shape",
)
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
    shape = ints_of(sizes if size is None else (size,))
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
        return _mean_dim(input, dim, keepdim) if out is None else _mean_dim(input, dim, keepdim, out=out)
    dtype = dtypes.as_dtype("mean", dtype)
    if dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_type(dtype)}"
        )
    return in_dtype(mean, "mean", input, dtype, out, dim, keepdim)


# -- ignoring NaN --


@general(
    input=lambda g, input, dim, keepdim: spread_over(g, input.shape, dim, keepdim) * late.eq(input, input),
    jvp=lambda input_t, input, dim, keepdim: _nansum(late.where(late.eq(input, input), input_t, 0.0), dim, keepdim),
    result="sum",
    dtypes="bif",
    name="nansum",
    contiguous=True,
    saved_as="self dim=(dim) keepdim",
)
def _nansum(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """The sum, NaN counting as zero."""
    over = axes(dim, len(input.shape))
    if type(input) is _array_type and float_kind(input):
        total = add_up(input, over, keepdim)
        if not np.isnan(total).any():  # most arrays have no NaN
            return total
    numbers = np.where(input == input, input, np.zeros_like(input)) if float_kind(input) else input  # noqa: PLR0124
    return add_up(numbers, over, keepdim)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The sum of all elements or over some dimensions, NaN counting as zero.

    Example::

        >>> import gradpack as torch
        >>> torch.nansum(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(3.)
    """
    dim = checked("nansum", dim, keepdim)
    if dtype is None and out is not None:
        check_out("nansum", out, input)
        dtype = out.dtype
    if dtype is not None and not input.dtype.is_complex:
        whole = input.dtype.category < dtypes.FLOATING  # integers have no NaN
        return in_dtype(sum if whole else nansum, "nansum", input, dtype, out, dim, keepdim)
    return _nansum(input, dim, keepdim)


def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The mean of those elements that are not NaN.

    Raises:
        RuntimeError: for integers and bool.

    Example::

        >>> import gradpack as torch
        >>> torch.nanmean(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(1.5000)
    """
    dim = checked("nanmean", dim, keepdim)
    if isinstance(input, Tensor) and input._spec.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}: use mean()"
        )
    made = late.true_divide(nansum(input, dim, keepdim, dtype=dtype), sum(late.eq(input, input), dim, keepdim))
    return written("nansum", made, out)


# -- products, whose gradients are exact where elements are zero --


_product = partial(
    general, result="sum", autocast="float32", refuses="complex32", compares=True, overlap="read_first", int64=True
)


@_product(
    input=lambda g, input: g * late.reshape(products_of_others(late.reshape(input, (-1,)), 0), input.shape), name="prod"
)
def _prod(input: Array) -> Any:
    """The product of all elements."""
    return multiply_up(input)


@_product(
    input=lambda g, input, dim, keepdim: restored(g, input.shape, dim, keepdim) * products_of_others(input, dim),
    node="ProdBackward1",
    contiguous=True,
)
def _prod_dim(input: Array, dim: int, keepdim: bool = False) -> Any:
    """The products along a dimension."""
    place = axis(dim, len(input.shape))
    return multiply_up(input, place if len(input.shape) else None, keepdim)


def products_of_others(x: Any, dim: int) -> Any:
    """For each element, the product of all others along a dimension. By division if there is no zero."""
    if type(x) is _array_type and x.ndim and x.size:
        # in float64, products of few numbers may be larger and smaller
        for native in (x.dtype, np.float64) if x.dtype.char == "f" and x.size < LARGE else (x.dtype,):
            wide = x.astype(native, copy=False)
            product = multiply_up(wide, axis(dim, x.ndim), True)
            if np.all(np.abs(product) >= np.finfo(native).tiny) and np.all(np.isfinite(product)):
                return (product / wide).astype(x.dtype, copy=False)
    before = late.shifted(late.cumprod(x, dim), dim, 1, 1)
    return before * late.flip(late.shifted(late.cumprod(late.flip(x, (dim,)), dim), dim, 1, 1), (dim,))


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The product of all elements, or along a dimension.

    The gradient is exact where elements are zero, to any order.

    Args:
        dim: an int.
        dtype: convert `input` to this dtype before. Integers and bool give int64 by default.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([2.0, 0.0, 3.0], requires_grad=True)
        >>> torch.prod(x).backward()
        >>> x.grad
        tensor([0., 6., 0.])
    """
    dim = checked("prod", dim, keepdim)
    if dim is not None and not hasattr(dim, "__index__"):
        raise TypeError(f"prod(): argument 'dim' must be int, not {type(dim).__name__}")
    dtype = out.dtype if dtype is None and out is not None else dtype
    if dtype is not None:
        return in_dtype(prod, "prod", input, dtype, out, dim, keepdim)
    if dim is not None:
        return _prod_dim(input, dim, keepdim)
    if keepdim:
        raise TypeError("prod(): keepdim needs a dim")
    return _prod(input)
