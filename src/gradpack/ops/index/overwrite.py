"""In-place writes to a whole tensor: `copy_`, `fill_`, `zero_`; and `put`, at flat (row-major) indices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...backends import backend_of
from ...base import late
from ...base.dtypes import scalar_dtype
from ...base.errors import not_a_tensor, scalar_type, shapes_do_not_broadcast
from ...base.info import number_for
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import general, linear
from ...declare.inplace.inplace import inplace
from ...declare.signature.arguments import python_number
from ..create.convert import _to_device
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL, reshaped
from .accumulate import add_flat, flat_of, set_flat, store, widened
from .places import check_flat, counted_from_front
from .writing import keep_apart, own_value, write_part

FUNCTIONS = METHODS = "put"
INPLACE = "copy_ fill_ zero_ put_"


def _is_free(tensor: Tensor) -> bool:
    """Whether an in-place write needs no recording: no autograd history, no special mode, no other counter."""
    mode, counter = MODE.get(), tensor._counter
    if mode.leaves_fast_path or not tensor._spec.numpy or type(counter) is not list or len(counter) != 1:
        return False
    view = tensor._view
    return not mode.grad or (
        tensor._edge is None and (view is None or (view.parent._edge is None and view.parent._view is None))
    )


def _method_copy_(self: Tensor, other: Any, non_blocking: Any = False) -> Tensor:
    """Write the elements of another tensor into this one, in place, and return it.

    Args:
        other: the tensor, of a shape that broadcasts to that of this one; its dtype is converted. Gradients go through
            to it.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
    """
    if (
        type(other) is Tensor
        and other._spec is self._spec
        and other._counter is not self._counter
        and len(other._shape) <= len(self._shape)  # NumPy would accept leading dimensions of size 1
        and ((other._edge is None and other._view is None) or not MODE.get().grad)
        and _is_free(self)
    ):
        try:
            self._data[...] = other._data
        except ValueError:
            pass  # the slow path below raises torch's error
        else:
            self._counter[0] += 1
            return self
    other = python_number(other)
    if isinstance(other, int | float | complex):
        from ..create.create import tensor

        other = tensor(other, dtype=scalar_dtype(other))
    if not isinstance(other, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    if other._spec.device != self._spec.device and not is_batched(other) and not is_batched(self):
        other = _to_device(other, self._spec.device, None, bool(non_blocking))
    if other is self and not (MODE.get().grad and self.requires_grad) and type(self._counter) is list:
        self._counter[0] += 1  # allowed even for overlapping elements, unlike other writes
        return self
    return inplace(_copied.op, "copy_", [self, other])


@linear(
    input=lambda g: late.zeros_like(g),
    other=lambda g, other_shape: late.sum_to_size(g, other_shape),
    promote=(),
    result=None,
    broadcasts=True,
    node="CopyBackwards",
    saved_as="",
)
def _copied(input: Array, other: Array) -> Any:
    """`other` in the shape and dtype of `input`."""
    if input.shape == other.shape and input.dtype == other.dtype:
        return np.array(other)
    try:
        common = np.broadcast_shapes(input.shape, other.shape)
    except ValueError:
        raise shapes_do_not_broadcast("copy_", input.shape, other.shape) from None
    if common != tuple(input.shape):
        raise RuntimeError(
            f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(common)}: "
            "the source of copy_ must broadcast to the target"
        )
    return _full_of(input, other)


def _full_of(input: Any, value: Any) -> Any:
    kind = backend_of(type(input))
    return np.array(kind.cast(np.broadcast_to(value, input.shape), kind.spec(input).dtype))  # type: ignore[union-attr]


@linear(
    input=lambda g: late.zeros_like(g),
    value=lambda g: late.sum(g),
    promote=(),
    result=None,
    scalars=False,
    node="FillBackward3",
    overlap="read_first",
)
def _filled(input: Array, value: Array) -> Any:
    """`value` in the shape and dtype of `input`."""
    return _full_of(input, value)


@general(
    input=lambda g: late.zeros_like(g),
    jvp=lambda input_t: late.zeros_like(input_t),
    data_movement=True,
    node="FillBackward2",
)
def _filled_number(input: Array, value: Array) -> Any:
    """The number `value` in the shape and dtype of `input`."""
    return np.full(input.shape, value, input.dtype)


@linear(input=lambda g: late.zeros_like(g), data_movement=True, node="ZeroBackward0")
def _zeroed(input: Array) -> Any:
    """Zeros in the shape and dtype of `input`."""
    return np.zeros(input.shape, input.dtype)


def _write_number(array: Any, value: Any) -> None:
    array[...] = value


def _write_zero(array: Any) -> None:
    array[...] = 0


def _method_fill_(self: Tensor, value: Any) -> Tensor:
    """Write one value into every element, in place, and return the tensor.

    Args:
        value: a number, or a tensor without dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2).fill_(7)
        tensor([7., 7.])
    """
    if type(value) is float and self._spec.plain and _is_free(self) and self._data.flags.writeable and value * 0 == 0:
        number = number_for(value, self._spec.dtype)
        self._counter[0] += 1
        self._data.fill(number)
        return self
    if not isinstance(value, Tensor):
        value = python_number(value)
        if not isinstance(value, int | float | complex):
            raise TypeError(f"fill_(): argument 'value' (position 1) must be Number, not {type(value).__name__}")
        number = number_for(value, self._spec.dtype)
        return write_part(_filled_number.op, "fill_", [self, number], _write_number, indexed=None)
    if value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return inplace(_filled.op, "fill_", [self, own_value(self, value)])


def _method_zero_(self: Tensor) -> Tensor:
    """Write zeros into every element, in place, and return the tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(2).zero_()
        tensor([0., 0.])
    """
    if _is_free(self) and self._data.flags.writeable:
        self._counter[0] += 1
        self._data.fill(0)
        return self
    return write_part(_zeroed.op, "zero_", [self], _write_zero, indexed=None)


# -- flat indices --


@linear(
    input=lambda g, index, accumulate: g if accumulate else _put_zero(g, index),
    source=lambda g, index, source_shape: late.reshape(late.take(g, index), source_shape),
    promote=("input",),
    data_movement=True,
    name="put",
    refuses="unsigned complex32",
)
def _put(input: Array, index: Array, source: Array, accumulate: bool = False) -> Any:
    """`input` with `source` written at flat indices."""
    return _put_into(np.array(input), index, source, accumulate)


@linear(input=lambda g, index: _put_zero(g, index), data_movement=True, name="put_backward")
def _put_zero(input: Array, index: Array) -> Any:
    """`input` with zeros written at flat indices."""
    return _put_into(np.array(input), index, np.zeros(index.shape, dtype=input.dtype), False)


def _put_into(array: Any, index: Any, source: Any, accumulate: bool) -> Any:
    size = prod(array.shape)
    places, values = reshaped(index, (-1,)), reshaped(source, (-1,))
    if is_numpy(array) and array.flags.c_contiguous and array.itemsize > 2 and 0 < places.size < SMALL:
        try:
            if accumulate:
                np.add.at(array.reshape(-1), places, values)
            else:
                array.reshape(-1)[places] = values
        except IndexError:
            pass  # nothing was written; torch's error is raised below
        else:
            return array
    check_flat(places, size)
    places = counted_from_front(places, size)
    if not places.shape[0]:
        return array
    if accumulate:
        store(array, add_flat(widened(flat_of(array)), places, widened(values)))
    else:
        store(array, set_flat(flat_of(array), places, values))
    return array


def _check(name: str, input: Tensor, index: Any, source: Any) -> None:
    for position, (label, value) in enumerate((("index", index), ("source", source)), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor(name, label, position, value)
    if index.dtype.name != "int64":
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {scalar_type(index.dtype)}")
    if source._spec.dtype is not input._spec.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_type(input.dtype)} and source.dtype = {scalar_type(source.dtype)}"
        )
    if index.numel() != source.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}"
        )
    if not input.numel() and index.numel():
        raise IndexError("put_(): attempting to put elements into an empty tensor")


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`input` with the elements of `source` written at `index`, flat indices in row-major order.

    Args:
        index: int64, of as many elements as `source`.
        accumulate: add them instead; repeated indices accumulate.

    Raises:
        IndexError: for an index out of range, or another number of elements.
        RuntimeError: for an index that is not int64, or a source of another dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.put(torch.zeros(2, 2), torch.tensor([1, 2]), torch.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [6., 0.]])
    """
    _check("put", input, index, source)
    return _put(input, index, source, accumulate)


def _method_put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """In-place form of `put`: writes only the elements that `index` names."""
    _check("put_", self, index, source)
    keep_apart(self, index, source)
    return write_part(_put.op, "put_", [self, index, source, accumulate], _put_into)
