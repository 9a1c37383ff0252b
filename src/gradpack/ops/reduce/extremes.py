"""Maxima and minima: of all elements, along dimensions, of two tensors, and running ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...backends.numpy import as_int64
from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim, Sizes
from ...declare.decorators import general, linear, nondifferentiable
from .dimensions import axes, axis, check_bool, count, numpy_names, restored
from .kernels import SMALL, _array_type, _maximum, _minimum, largest, placed_along, smallest, take_along

FUNCTIONS = METHODS = "max min amax amin aminmax argmax argmin"


def check_not_empty(op: str, shape: Any, dim: Any) -> None:
    """Raise if the reduction is over no elements: a RuntimeError without `dim`, an IndexError for a `dim` of size 0."""
    if dim is None or (not hasattr(dim, "__index__") and not len(dim)):
        if not count(shape):
            raise RuntimeError(
                f"{op}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                f"with the 'dim' argument. (The shape is {list(shape)}.)"
            )
    elif not count(shape, dim):
        for d in (dim,) if hasattr(dim, "__index__") else dim:
            if len(shape) and not shape[d]:
                raise IndexError(
                    f"{op}(): Expected reduction dim {d} to have non-zero size, and the shape is {list(shape)}."
                )


@nondifferentiable(result=None, promote=("mask",))
def ties(mask: Array, like: Array, dim: Dim = None) -> Any:
    """How many elements of a mask are true, in the dtype of `like`; dimensions are kept."""
    counted = np.count_nonzero(mask, axis=axes(dim, len(mask.shape)), keepdims=True)
    return np.astype(np.asarray(counted), like.dtype)


def _evenly(g: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a maximum or minimum, shared equally by all elements equal to it; NaN where that is NaN."""
    g, out = restored(g, input.shape, dim, keepdim), restored(out, input.shape, dim, keepdim)
    reached = late.eq(input, out)
    count = ties(reached, g, dim)
    return g / count * reached


def _evenly_or_nan(g: Any, input: Any, out: Any) -> Any:
    """The gradient of the extreme of all elements, shared by those equal to it; if it is NaN, by the NaNs."""
    reached = late.logical_or(late.eq(input, out), late.logical_and(late.ne(input, input), late.ne(out, out)))
    return late.where(reached, g / ties(reached, g, None), 0.0)


# -- of all elements --

# Operations whose result is one of the elements.
of_all = partial(general, input=lambda g, input, out: _evenly_or_nan(g, input, out), refuses="unsigned", compares=True)


@of_all(dtypes="bif", node="MaxBackward1", int64=True)
def _max_all(input: Array) -> Any:
    """The largest element."""
    if type(input) is _array_type and 0 < input.size < SMALL:
        return _maximum(input, None)
    check_not_empty("max", input.shape, None)
    return largest(input)


@of_all(dtypes="bif", node="MinBackward1", int64=True)
def _min_all(input: Array) -> Any:
    """The smallest element."""
    if type(input) is _array_type and 0 < input.size < SMALL:
        return _minimum(input, None)
    check_not_empty("min", input.shape, None)
    return smallest(input)


_over_dims = partial(
    general,
    input=lambda g, input, out, dim, keepdim: _evenly(g, input, out, dim, keepdim),
    dtypes="bif",
    contiguous=True,
    refuses="unsigned",
    compares=True,
    overlap="read_first",
    int64=True,
    saved_as="dim=(dim) keepdim result self",
)


@numpy_names
@_over_dims()
def amax(input: Array, dim: Any | None = (), keepdim: bool = False) -> Any:
    """The maxima over some dimensions, or all. Equal ones share the gradient; NaN where there is any.

    Args:
        dim: an int or a tuple of ints; () or None for all.

    Raises:
        RuntimeError: for no elements at all; for complex numbers (NotImplementedError).
        IndexError: for a dimension out of range, or of size 0.

    Example::

        >>> import gradpack as torch
        >>> torch.amax(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), 1)
        tensor([5., 7.])
    """
    check_bool("amax", keepdim)
    over = axes(dim, len(input.shape))
    check_not_empty("amax", input.shape, dim)
    return largest(input, over, keepdim) if input.size else _empty(input, dim, keepdim)


@numpy_names
@_over_dims()
def amin(input: Array, dim: Any | None = (), keepdim: bool = False) -> Any:
    """The minima over some dimensions, or all: as `amax`.

    Example::

        >>> import gradpack as torch
        >>> torch.amin(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), 1)
        tensor([1., 3.])
    """
    check_bool("amin", keepdim)
    over = axes(dim, len(input.shape))
    check_not_empty("amin", input.shape, dim)
    return smallest(input, over, keepdim) if input.size else _empty(input, dim, keepdim)


def _empty(input: Any, dim: Any, keepdim: bool) -> Any:
    """The result where nothing is to be reduced: no elements."""
    return np.sum(input, axis=axes(dim, len(input.shape)), keepdims=keepdim)


@numpy_names
@general(
    input=lambda g, input, min, max, dim, keepdim: _from_two(g[0], g[1], input, min, max, dim, keepdim),
    results=("min", "max"),
    dtypes="bif",
    int64=True,
    contiguous=True,
    refuses="unsigned",
)
def aminmax(input: Array, *, dim: Dim = None, keepdim: bool = False) -> Any:
    """Minima and maxima, of all elements or along a dimension, as a named tuple (min, max).

    Example::

        >>> import gradpack as torch
        >>> torch.aminmax(torch.tensor([3.0, 1.0, 2.0])).max
        tensor(3.)
    """
    over = None if dim is None else axes(axis(dim, len(input.shape)), len(input.shape))
    if dim is None and not input.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    check_not_empty("aminmax", input.shape, dim)
    if not input.size:
        return _empty(input, dim, keepdim), _empty(input, dim, keepdim)
    return smallest(input, over, keepdim), largest(input, over, keepdim)


def _from_two(g_min: Any, g_max: Any, input: Any, min: Any, max: Any, dim: Any, keepdim: bool) -> Any:
    a = None if g_min is None else _evenly(g_min, input, min, dim, keepdim)
    b = None if g_max is None else _evenly(g_max, input, max, dim, keepdim)
    return b if a is None else a if b is None else a + b


# -- along a dimension, with indices --


@linear(input=lambda g, indices, dim, keepdim: picked(g, indices, dim, keepdim), data_movement=True)
def place_along(input: Array, indices: Array, shape: Sizes, dim: int = -1, keepdim: bool = True) -> Any:
    """Zeros of `shape` with `input` written at `indices` along a dimension; the indices must be distinct."""
    place = axis(dim, len(shape))
    if not len(shape):
        return np.reshape(np.asarray(input, copy=True), ())
    if not keepdim:
        at: Any = (*(slice(None),) * place, None, ...)
        input, indices = input[at], indices[at]
    return placed_along(tuple(shape), indices, input, place)


def picked(input: Any, indices: Any, dim: int, keepdim: bool) -> Any:
    """The elements that `indices` name along a dimension: the adjoint of `place_along`."""
    if keepdim or not len(input.shape):
        return late.gather(input, dim, indices)
    return late.squeeze(late.gather(input, dim, late.unsqueeze(indices, dim)), dim)


# Operations that pick elements along a dimension: their gradients go back to the indices.
picking = partial(
    general,
    input=lambda g, indices, input_shape, dim, keepdim: place_along(g, indices, input_shape, dim, keepdim),
    jvp=lambda input_t, indices, dim, keepdim: picked(input_t, indices, dim, keepdim),
    results=("values", "indices"),
    differentiable=1,
    refuses="unsigned",
)


def pick(op: str, find: Any, input: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Call `find(input, place)` after the checks of `dim` and `keepdim`; handles 0-dim and empty input."""
    check_bool(op, keepdim)
    place = axis(dim, len(input.shape))
    if type(input) is _array_type and input.ndim and input.size:  # whose methods take a third of the time of functions
        values, indices = find(input, place)
        return (values, indices) if keepdim else (values.squeeze(place), indices.squeeze(place))
    check_not_empty(op, input.shape, dim)
    if not len(input.shape):
        return np.asarray(input, copy=True), np.zeros((), dtype=np.int64)
    if not input.size:
        values = _empty(input, dim, True)
        indices = np.zeros(values.shape, dtype=np.int64)
    else:
        values, indices = find(input, place)
    return (values, indices) if keepdim else (np.squeeze(values, place), np.squeeze(indices, place))


def _extreme(find: Any, value: Any, input: Any, place: int) -> tuple[Any, Any]:
    if type(input) is _array_type:
        find = input.argmax if value is largest else input.argmin
        indices = as_int64(find(place, keepdims=True))
    else:
        indices = as_int64(find(input, axis=place, keepdims=True))
    few = input.size < (256 if place == input.ndim - 1 else SMALL)
    return value(input, place, True) if few else take_along(input, indices, place), indices


@picking(dtypes="bif", name="max", contiguous=True, int64=True)
def _max_dim(input: Array, dim: int, keepdim: bool = False) -> Any:
    """Maxima along a dimension, and their indices."""
    return pick("max", lambda x, d: _extreme(np.argmax, largest, x, d), input, dim, keepdim)


@picking(dtypes="bif", name="min", contiguous=True, int64=True)
def _min_dim(input: Array, dim: int, keepdim: bool = False) -> Any:
    """Minima along a dimension, and their indices."""
    return pick("min", lambda x, d: _extreme(np.argmin, smallest, x, d), input, dim, keepdim)


def max(input: Any, dim: Any = None, keepdim: Any = None, *, other: Any = None, out: Any = None) -> Any:
    """The largest element; the largest along a dimension; or the larger of two tensors, element by element.

    `max(x)` is one value, whose gradient equal elements share. `max(x, dim)` is a named tuple
    (values, indices); the first of equal elements is taken. `max(x, other)` is `maximum(x, other)`.
    NaN is larger and smaller than everything.

    Args:
        dim: the dimension along which to look for the largest; None for all elements. Or a tensor: that of the `other`
            form.
        keepdim: keep the dimension, with size 1.
        other: a second tensor, which broadcasts with `input`.
        out: a tensor, or with `dim` a pair of tensors, that the result is written into.

    Raises:
        RuntimeError: for no elements; for complex numbers (NotImplementedError).
        IndexError: for a dimension out of range, or of size 0.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 5.0], [7.0, 3.0]])
        >>> torch.max(x), torch.max(x, 1).indices
        (tensor(7.), tensor([1, 0]))
    """
    if dim is None and keepdim is None and other is None and out is None:
        return _max_all(input)
    return _overload("max", _max_all, _max_dim, late.maximum, input, dim, keepdim, other, out)


def min(input: Any, dim: Any = None, keepdim: Any = None, *, other: Any = None, out: Any = None) -> Any:
    """The smallest element; the smallest along a dimension; or the smaller of two tensors, element by element.

    `min(x)` is one value, whose gradient equal elements share. `min(x, dim)` is a named tuple (values, indices); the
    first of equal elements is taken. `min(x, other)` is `minimum(x, other)`. NaN is larger and smaller than everything.

    Args:
        dim: the dimension along which to look for the smallest; None for all elements. Or a tensor: that of the `other`
            form.
        keepdim: keep the dimension, with size 1.
        other: a second tensor, which broadcasts with `input`.
        out: a tensor, or with `dim` a pair of tensors, that the result is written into.

    Raises:
        RuntimeError: for no elements; for complex numbers (NotImplementedError).
        IndexError: for a dimension out of range, or of size 0.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 5.0], [7.0, 3.0]])
        >>> torch.min(x), torch.min(x, 1).values
        (tensor(1.), tensor([1., 3.]))
    """
    if dim is None and keepdim is None and other is None and out is None:
        return _min_all(input)
    return _overload("min", _min_all, _min_dim, late.minimum, input, dim, keepdim, other, out)


def _overload(
    op: str, of_all: Any, along: Any, of_two: Any, input: Any, dim: Any, keepdim: Any, other: Any, out: Any
) -> Any:
    more = {} if out is None else {"out": out}
    if isinstance(dim, Tensor) or other is not None:
        if (other is not None and dim is not None) or keepdim is not None:
            raise TypeError(f"{op}(): give either another tensor or a dim")
        return of_two(input, dim if other is None else other, **more)
    if dim is None:
        if keepdim is not None:
            raise TypeError(f"{op}(): keepdim needs a dim; amax and amin take it without")
        return of_all(input, **more)
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{op}(): argument 'dim' must be int or Tensor, not {type(dim).__name__}")
    return along(input, dim, False if keepdim is None else keepdim, **more)


def _first(name: str, function: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    check_bool(name, keepdim)
    if dim is None:
        if not input.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        return as_int64(function(input, axis=None, keepdims=keepdim))
    place = axis(dim, len(input.shape))
    if type(input) is _array_type and input.ndim and input.size:
        return as_int64(getattr(input, name)(place, keepdims=keepdim))
    check_not_empty(name, input.shape, dim)
    if not len(input.shape):
        return np.zeros((), dtype=np.int64)
    if not input.size:
        return np.zeros(_empty(input, dim, keepdim).shape, dtype=np.int64)
    return as_int64(function(input, axis=place, keepdims=keepdim))


@numpy_names
@nondifferentiable(result="index", promote=("input",), dtypes="if", refuses="unsigned", int64=True)
def argmax(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """The index of the largest element, the first of equal ones: flat (row-major), or along a dimension.

    Args:
        dim: the dimension along which to look for the largest; None for the index in the flattened tensor.
        keepdim: keep the dimension, with size 1.

    Raises:
        RuntimeError: for bool, and for complex numbers (NotImplementedError).
        IndexError: for a dimension out of range, or of size 0.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 5.0], [7.0, 3.0]])
        >>> torch.argmax(x), torch.argmax(x, 1)
        (tensor(2), tensor([1, 0]))
    """
    return _first("argmax", np.argmax, input, dim, keepdim)


@numpy_names
@nondifferentiable(result="index", promote=("input",), dtypes="if", refuses="unsigned", int64=True)
def argmin(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """The index of the smallest element: as `argmax`.

    Example::

        >>> import gradpack as torch
        >>> torch.argmin(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), 1)
        tensor([0, 1])
    """
    return _first("argmin", np.argmin, input, dim, keepdim)
