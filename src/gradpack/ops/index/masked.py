"""Masked operations and `nonzero`."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...backends import spec_of
from ...backends.numpy import as_int64
from ...base import late
from ...base.dtypes import bool_, float32, int64
from ...base.errors import cpp_name, shapes_do_not_broadcast
from ...base.modes import MODE
from ...core.tensor import Tensor, alias
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import each_example
from ...declare.decorators import linear, nondifferentiable
from ...kernels.dispatch import accelerated
from ..create.making import _USUAL
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import _array_type
from .accumulate import as_dtype, flat_of
from .writing import number_op, own_value, value_form, write_op, write_part

FUNCTIONS = "masked_fill masked_select masked_scatter nonzero argwhere"
METHODS = FUNCTIONS
INPLACE = "masked_fill_ masked_scatter_"


def _check_mask(op: str, mask: Any) -> None:
    if not hasattr(mask, "dtype"):
        raise TypeError(f"{op}(): argument 'mask' (position 2) must be Tensor, not {type(mask).__name__}")
    if mask.dtype != np.bool:
        if op == "masked_select":
            raise RuntimeError("masked_select: expected BoolTensor for mask")
        name = cpp_name(spec_of(mask).dtype)
        raise RuntimeError(f"{op}_ only supports boolean masks, but got mask with dtype {name}")


def _common(op: str, input: Any, mask: Any) -> Any:
    """The shape that a tensor and a mask broadcast to."""
    a, b = tuple(input.shape), tuple(mask.shape)
    if a == b:
        return a
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise shapes_do_not_broadcast(op, a, b) from None


@number_op(
    input=lambda g, input_shape, mask: _fit(_masked_fill(g, mask, 0), input_shape),
    jvp=lambda input_t, mask: _masked_fill(input_t, mask, 0),
    name="masked_fill",
    contiguous=True,
    cost="cheap",
    saved_as="mask",
)
def _masked_fill(input: Array, mask: Array, value: Array) -> Any:
    """`input` with one number where `mask` holds."""
    _check_mask("masked_fill", mask)
    shape = _common("masked_fill", input, mask)
    return filled(input if shape == input.shape else np.broadcast_to(input, shape), mask, value)


@accelerated
def filled(input: Any, mask: Any, value: Any) -> Any:
    """A copy of an array with one value where a mask holds, which is broadcast."""
    return _fill(np.asarray(input, copy=True), mask, value)


@write_op(
    input=lambda g, input_shape, mask: _fit(_masked_fill(g, mask, 0), input_shape),
    value=lambda g, mask: late.sum(_kept(g, mask)),
    name="masked_fill_tensor",
    node="MaskedFillBackward1",
    contiguous=True,
    overlap="read_first",
    saved_as="mask",
)
def _masked_fill_tensor(input: Array, mask: Array, value: Array) -> Any:
    """`input` with the value of a 0-dim tensor where `mask` holds."""
    return _masked_fill(input, mask, value)


@linear(input=lambda g, mask: _kept(g, mask), data_movement=True, name="masked_keep")
def _kept(input: Array, mask: Array) -> Any:
    """`input` with zeros where `mask` does not hold."""
    return np.where(mask, input, np.zeros((), dtype=input.dtype))


def _fill(array: Any, mask: Any, value: Any) -> Any:
    """Write one value into an array where a mask holds; returns the array."""
    value = as_dtype(value, array.dtype)
    if not hasattr(np, "copyto"):
        return np.where(mask, value, array)
    np.copyto(array, value, where=mask)
    return array


def _fill_inplace(array: Any, mask: Any, value: Any) -> None:
    _check_mask("masked_fill_", mask)
    shape = _common("masked_fill_", array, mask)
    if tuple(shape) != tuple(array.shape):
        raise RuntimeError(
            f"output with shape {list(array.shape)} doesn't match the broadcast shape {list(shape)} in masked_fill_()"
        )
    _fill(array, mask, value)


def _fit(g: Any, shape: Any) -> Any:
    return g if tuple(g.shape) == tuple(shape) else late.sum_to_size(g, shape)


def masked_fill(input: Tensor, mask: Tensor, value: Any, *, out: Any = None) -> Tensor:
    """`input` with one value where `mask` holds; tensor and mask are broadcast.

    Args:
        mask: a tensor of bools, of a shape that broadcasts.
        value: a number, or a 0-dim tensor, which then gets the sum of the gradients there.

    Raises:
        RuntimeError: for a mask that is not bool or does not broadcast, a value with dimensions, or one
            that does not fit into the dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.masked_fill(torch.zeros(3), torch.tensor([True, False, True]), -1.0)
        tensor([-1.,  0., -1.])
    """
    op, value = value_form("masked_fill_", _masked_fill, _masked_fill_tensor, input, value)
    return op(input, mask, value) if out is None else op(input, mask, value, out=out)


def _method_masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """In-place form of `masked_fill`: writes only where `mask` holds."""
    op, value = value_form("masked_fill_", _masked_fill, _masked_fill_tensor, self, own_value(self, value))
    return write_part(op.op, "masked_fill_", [self, mask, value], _fill_inplace, indexed=True)


@linear(
    input=lambda g, mask, input_shape: _fit(_spread(g, mask, _joint(mask, input_shape)), input_shape),
    data_movement=True,
    refuses="unsigned",
    cost="dear",
    overlap="apart",
)
def masked_select(input: Array, mask: Array) -> Any:
    """The elements of `input` where `mask` holds, in one dimension; tensor and mask are broadcast.

    Raises:
        RuntimeError: for a mask that is not bool or does not broadcast.

    Example::

        >>> import gradpack as torch
        >>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
        tensor([1, 3])
    """
    _check_mask("masked_select", mask)
    shape = _common("masked_select", input, mask)
    if mask.shape != shape or input.shape != shape:
        input, mask = np.broadcast_to(input, shape), np.broadcast_to(mask, shape)
    if is_numpy(input) and is_numpy(mask):
        return input.reshape(-1).take(mask.reshape(-1).nonzero()[0])
    return np.take(flat_of(input), np.nonzero(flat_of(mask))[0], axis=0)


def _joint(mask: Any, shape: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(tuple(mask.shape), tuple(shape))


@linear(input=lambda g, mask: masked_select(g, mask), data_movement=True, name="masked_select_backward")
def _spread(input: Array, mask: Array, shape: Any = ()) -> Any:
    """Zeros of `shape` with the elements of `input` one after the other where `mask` holds."""
    out = np.zeros(tuple(shape), dtype=input.dtype)
    out[np.broadcast_to(mask, tuple(shape))] = input
    return out


@write_op(
    input=lambda g, input_shape, mask: _fit(_masked_fill(g, mask, 0), input_shape),
    source=lambda g, mask, source_shape: _front(masked_select(g, mask), source_shape),
    contiguous=True,
    saved_as="mask source_sym_sizes=source.shape",
)
def masked_scatter(input: Array, mask: Array, source: Array) -> Any:
    """`input` with the elements of `source`, one after the other, where `mask` holds.

    Raises:
        RuntimeError: if `source` has fewer elements than `mask` has places, or another dtype; for a mask
            that is not bool or does not broadcast.

    Example::

        >>> import gradpack as torch
        >>> mask = torch.tensor([True, False, True])
        >>> torch.masked_scatter(torch.zeros(3), mask, torch.tensor([1.0, 2.0, 3.0]))
        tensor([1., 0., 2.])
    """
    _check_mask("masked_scatter", mask)
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and {source.dtype}"
        )
    shape = _common("masked_scatter", input, mask)
    mask = mask if mask.shape == shape else np.broadcast_to(mask, shape)
    count = int(np.count_nonzero(mask))
    if prod(source.shape) < count:
        raise RuntimeError(
            f"masked_scatter: Number of elements of source < number of ones in mask ({prod(source.shape)} < {count})"
        )
    out = np.asarray(input if input.shape == shape else np.broadcast_to(input, shape), copy=True)
    out[mask] = flat_of(source)[:count]
    return out


@linear(
    input=lambda g, input_shape: late._slice(late.reshape(g, (prod(g.shape),)), (slice(0, input_shape[0]),)),
    data_movement=True,
    name="masked_scatter_backward",
)
def _front(input: Array, shape: Any = ()) -> Any:
    """Zeros of `shape`, of which the first elements are those of `input`."""
    out = np.zeros((prod(shape),), dtype=input.dtype)
    out[: input.shape[0]] = input
    return np.reshape(out, tuple(shape))


# -- nonzero --


@nondifferentiable(result="index", promote=(), name="nonzero", refuses="unsigned")
def _nonzero(input: Array) -> Any:
    """The indices of all elements that are not zero, one row each."""
    return _places(input)


def _places(input: Any) -> Any:
    if not len(input.shape):
        return np.zeros((int(bool(input)), 0), dtype=np.int64)
    if type(input) is _array_type and input.ndim == 1:
        return as_int64(input.nonzero()[0]).reshape(-1, 1)
    if type(input) is _array_type:
        return as_int64(np.array(input.nonzero())).T
    return as_int64(np.stack(np.nonzero(input))).T  # strides as in torch: each dimension's indices are contiguous


_DIRECT = frozenset(_USUAL[d] for d in (bool_, int64, float32))  # the interpreter would only add to their time


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """The indices of the elements that are not zero.

    Args:
        as_tuple: return a tuple of vectors instead of a tensor.

    Returns:
        Of n elements in d dimensions a tensor of shape `(n, d)`; with `as_tuple` a tuple of d vectors, with
        which a tensor can be indexed.

    Example::

        >>> import gradpack as torch
        >>> torch.nonzero(torch.tensor([[0, 5], [7, 0]]))
        tensor([[0, 1],
                [1, 0]])
        >>> torch.nonzero(torch.tensor([[0, 5], [7, 0]]), as_tuple=True)
        (tensor([0, 1]), tensor([1, 0]))
    """
    if not as_tuple:
        if type(input) is Tensor and out is None and input._spec in _DIRECT and not MODE.get().leaves_fast_path:
            made = _places(input._data)
            return alias(made, _USUAL[int64], made.shape)
        return _nonzero(input) if out is None else _nonzero(input, out=out)
    if out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return late.unbind(nonzero(input if input._shape else late.reshape(input, (1,))), 1)


def _method_nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero: see `gradpack.nonzero`.

    Args:
        as_tuple: return a tuple with a vector for each dimension, with which a tensor can be indexed, instead of a
            tensor with a row for each element.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[0, 5], [7, 0]])
        >>> x.nonzero()
        tensor([[0, 1],
                [1, 0]])
        >>> x[x.nonzero(as_tuple=True)]
        tensor([5, 7])
    """
    return nonzero(self, as_tuple=as_tuple)


@each_example
def argwhere(input: Tensor) -> Tensor:
    """The indices of the elements that are not zero, one row each.

    Example::

        >>> import gradpack as torch
        >>> torch.argwhere(torch.tensor([0, 5, 7]))
        tensor([[1],
                [2]])
    """
    return _nonzero(input)
