"""Reductions: sums, means, products. Variances, norms, any and all stand in files of their own."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.errors import cpp_name, scalar_type
from ..base.modes import MODE
from ..declare.kinds import general, linear
from ..declare.out_dtypes import check_out
from ..declare.write_checks import refuse_grad
from ..tensor.tensor import Tensor
from .dimensions import axes, axis, check_bool, check_floating, count, restored, spread, spread_over
from .kernels import _add, _array_type, add_up, float_kind, multiply_up

FUNCTIONS = "sum mean nansum nanmean prod any all count_nonzero var std var_mean std_mean norm"
METHODS = "sum sum_to_size mean nansum nanmean prod any all count_nonzero var std norm"


# -- dtype= --


def converted(input: Any, dtype: Any) -> Any:
    """`input` in another dtype; itself for None."""
    dtype = dtypes.as_dtype("to", dtype)
    return input if dtype is None or input.dtype is dtype else _to_copy(input, dtype)


# -- sum --


@linear(input=lambda g, input_shape: spread(g, input_shape), result="sum", name="sum")
def _sum(input: Any) -> Any:
    """The sum of all elements."""
    return _add(input, None) if type(input) is _array_type and input.size < 4096 else add_up(input)


@linear(
    input=lambda g, input_shape, dim, keepdim: spread_over(g, input_shape, dim, keepdim),
    result="sum",
    node="SumBackward1",
    contiguous=True,
)
def _sum_dim(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sums over some dimensions."""
    return add_up(input, axes(dim, len(input.shape)), keepdim)


def sum(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
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
    if dim is None and keepdim is False and dtype is None and out is None and axis is None and keepdims is None:
        return _sum(input)
    dim, keepdim = named("sum", dim, keepdim, axis, keepdims)
    if dtype is None:
        if out is None:
            return _sum(input) if dim is None and not keepdim else _sum_dim(input, dim, keepdim)
        dtype = out.dtype
    return in_dtype(sum, "sum", input, dtype, out, dim, keepdim)


def named(op: str, dim: Any, keepdim: Any, axis: Any, keepdims: Any) -> tuple[Any, bool]:
    """`dim` and `keepdim`, which NumPy calls `axis` and `keepdims`."""
    if axis is not None:
        if dim is not None:
            raise TypeError(f"{op}() got an unexpected keyword argument 'axis': it means dim, which is given too")
        dim = axis
    if keepdims is not None:
        keepdim = keepdims
    if type(keepdim) is not bool:
        check_bool(op, keepdim)
    return tuple(dim) if type(dim) is list else dim, keepdim


def in_dtype(call: Any, op: str, input: Any, dtype: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    """The reduction of `input` converted to `dtype`, in that dtype."""
    dtype = dtypes.as_dtype(op, dtype)
    if out is not None and out.dtype is not dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {cpp_name(dtype)}, but got {cpp_name(out.dtype)} instead: dtype={dtype}"
        )
    if dtype.category < dtypes.FLOATING and isinstance(input, Tensor) and input.requires_grad and MODE.get().grad:
        raise RuntimeError(f"Autograd not support dtype: {scalar_type(dtype)}")
    result = converted(call(converted(input, dtype), dim, keepdim), dtype)
    if out is None:
        return result
    refuse_grad(op, input, out)
    put(op, out, result)
    return out


def written(op: str, made: Any, out: Any, *inputs: Any) -> Any:
    """What was made, or `out` with it."""
    if out is None:
        return made
    refuse_grad(op, *inputs, out)
    put(op, out, made)
    return out


@linear(input=lambda g, input_shape: expand(g, input_shape), node="SumBackward1")
def sum_to_size(input: Any, size: Any) -> Any:
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
    result: Tensor = sum_to_size(_to_copy(self, dtypes.int64) if integral else self, shape)
    return result


# -- mean --

_NO_MEAN = (
    "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}. "
    "Give dtype= or convert the input"
)


@linear(input=lambda g, input_shape: spread(g / (count(input_shape) or 1), input_shape), name="mean")
def _mean(input: Any) -> Any:
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
)
def _mean_dim(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The means over some dimensions."""
    check_floating(_NO_MEAN, input)
    return add_up(input, axes(dim, len(input.shape)), keepdim) / count(input.shape, dim)


def mean(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
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
    if dim is None and keepdim is False and dtype is None and out is None and axis is None and keepdims is None:
        return _mean(input)
    dim, keepdim = named("mean", dim, keepdim, axis, keepdims)
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


# -- what leaves NaN out --


@general(
    input=lambda g, input, dim, keepdim: where(eq(input, input), spread_over(g, input.shape, dim, keepdim), 0.0),
    jvp=lambda input_t, input, dim, keepdim: _nansum(where(eq(input, input), input_t, 0.0), dim, keepdim),
    result="sum",
    dtypes="bif",
    name="nansum",
    contiguous=True,
)
def _nansum(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum, NaN counting as zero."""
    over = axes(dim, len(input.shape))
    if type(input) is _array_type and float_kind(input):
        total = add_up(input, over, keepdim)
        if not np.isnan(total).any():  # as a rule there is none
            return total
    numbers = np.where(input == input, input, np.zeros_like(input)) if float_kind(input) else input  # noqa: PLR0124
    return add_up(numbers, over, keepdim)


def nansum(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The sum of all elements or over some dimensions, NaN counting as zero.

    Example::

        >>> import gradpack as torch
        >>> torch.nansum(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(3.)
    """
    dim, keepdim = named("nansum", dim, keepdim, axis, keepdims)
    if dtype is None and out is not None:
        check_out("nansum", out, input)
        dtype = out.dtype
    if dtype is not None and not input.dtype.is_complex:
        return in_dtype(nansum, "nansum", input, dtype, out, dim, keepdim)
    return _nansum(input, dim, keepdim)


def nanmean(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
    """The mean of those elements that are not NaN.

    Raises:
        RuntimeError: for integers and bool.

    Example::

        >>> import gradpack as torch
        >>> torch.nanmean(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(1.5000)
    """
    dim, keepdim = named("nanmean", dim, keepdim, axis, keepdims)
    if isinstance(input, Tensor) and input._spec.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}: use mean()"
        )
    made = true_divide(nansum(input, dim, keepdim, dtype=dtype), sum(eq(input, input), dim, keepdim))
    if out is None:
        return made
    put("nansum", out, made)
    return out


# -- product --


@general(input=lambda g, input: g * reshape(_others(reshape(input, (-1,)), 0), input.shape), result="sum", name="prod")
def _prod(input: Any) -> Any:
    """The product of all elements."""
    return multiply_up(input)


@general(
    input=lambda g, input, dim, keepdim: restored(g, input.shape, dim, keepdim) * _others(input, dim),
    result="sum",
    node="ProdBackward1",
    contiguous=True,
)
def _prod_dim(input: Any, dim: int, keepdim: bool = False) -> Any:
    """The products along a dimension."""
    place = axis(dim, len(input.shape))
    return multiply_up(input, place if len(input.shape) else None, keepdim)


def _others(x: Any, dim: int) -> Any:
    """For each element, the product of all others along a dimension. By a division only where there is no zero."""
    if type(x) is _array_type and x.ndim and x.size:
        product = multiply_up(x, axis(dim, x.ndim), True)
        if np.all(np.abs(product) >= np.finfo(x.dtype).tiny) and np.all(np.isfinite(product)):
            return product / x
    before = shifted(cumprod(x, dim), dim, 1, 1)
    return before * flip(shifted(cumprod(flip(x, (dim,)), dim), dim, 1, 1), (dim,))


def prod(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Any:
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
    dim, keepdim = named("prod", dim, keepdim, axis, keepdims)
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


from ..declare.variants import put  # noqa: E402 - adjoints name each other
from .arrange import flip  # noqa: E402
from .compare import eq  # noqa: E402
from .convert import _to_copy  # noqa: E402
from .cumulate import cumprod  # noqa: E402
from .division import true_divide  # noqa: E402
from .norm import _method_norm, norm  # noqa: E402, F401 - names that this module gives
from .recurrence import shifted  # noqa: E402
from .rounding import where  # noqa: E402
from .shape import _ints, expand, reshape  # noqa: E402
from .truth import all, any, count_nonzero  # noqa: E402, F401
from .variance import std, std_mean, var, var_mean  # noqa: E402, F401
