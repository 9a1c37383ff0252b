"""put: writing elements at flat (row-major) indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import linear
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL, reshaped
from .accumulate import add_flat, flat_of, set_flat, size_of, store, widened
from .writing import keep_apart, write_part

FUNCTIONS = METHODS = "put"
INPLACE = "put_"


@linear(
    input=lambda g, index, accumulate: g if accumulate else _put_zero(g, index),
    source=lambda g, index, source_shape: late.reshape(late.take(g, index), source_shape),
    promote=("input",),
    structural=True,
    name="put",
    refuses="unsigned complex32",
)
def _put(input: Array, index: Array, source: Array, accumulate: bool = False) -> Any:
    """`input` with `source` written at flat indices."""
    return _put_into(np.array(input), index, source, accumulate)


@linear(input=lambda g, index: _put_zero(g, index), structural=True, name="put_backward")
def _put_zero(input: Array, index: Array) -> Any:
    """`input` with zeros written at flat indices."""
    return _put_into(np.array(input), index, np.zeros(index.shape, dtype=input.dtype), False)


def _put_into(array: Any, index: Any, source: Any, accumulate: bool) -> Any:
    size = size_of(array.shape)
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
    for i in (int(np.min(places)), int(np.max(places))) if places.shape[0] else ():
        if not -size <= i < size:
            raise IndexError(f"out of range: tried to access index {i} on a tensor of {size} elements.")
    places = np.where(places < 0, places + size, places)
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
            raise TypeError(
                f"{name}(): argument '{label}' (position {position}) must be Tensor, not {type(value).__name__}"
            )
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
