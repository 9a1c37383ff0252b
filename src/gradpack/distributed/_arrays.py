"""The arrays of tensors that are sent and received, and how several are reduced to one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from ..autograd.graph import increment_version
from ..base.modes import using
from ..core.tensor import Tensor, wrap

__all__ = ["ReduceOp"]


Rank = int | None  # the number of a rank, where there may be none


class ReduceOp(IntEnum):
    """The functions that make one tensor of several, element by element; those of bits are for integers."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]
_FUNCTIONS: list[Any] = [np.add, np.add, np.multiply, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or]
_FUNCTIONS += [np.bitwise_xor]  # in the order of `ReduceOp`


def check_op(op: Any, tensor: Tensor) -> ReduceOp:
    """Return a reduction that the elements of a tensor have.

    Raises:
        TypeError: for what is no reduction.
        ValueError: for a reduction that complex numbers do not have.
        RuntimeError: for a reduction that the dtype does not have.
    """
    if not isinstance(op, ReduceOp):
        raise TypeError(f"op must be a torch.distributed.ReduceOp, such as ReduceOp.SUM, not {op!r}")
    d = tensor.dtype
    if d.is_complex and op > ReduceOp.AVG:
        raise ValueError(f"all_reduce does not support ReduceOp.{op.name} on complex tensors")
    inexact = d.is_floating_point or d.is_complex
    if (op >= ReduceOp.BAND and inexact) or (op is ReduceOp.AVG and not inexact):
        kind = "non-integral" if inexact else "integral"
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with {kind} dtype: the tensor is {d}")
    return op


def fold(op: ReduceOp, parts: Sequence[Any], out: Any = None) -> Any:
    """Return the reduction of arrays, from the first to the last: the same bits wherever it is computed.

    Args:
        out: where to write it. It may be one of the first two arrays.
    """
    if len(parts) == 1:
        return parts[0]
    function = _FUNCTIONS[op]
    with np.errstate(all="ignore"):
        made = function(parts[0], parts[1], out=out)
        for part in parts[2:]:
            function(made, part, out=made)
        if op is ReduceOp.AVG:
            made /= made.dtype.type(len(parts))
    return made


def flat_of(tensor: Tensor) -> Any:
    """Return the elements of a tensor in the order of its indices, as a contiguous array: its memory, or a copy."""
    data: Any = tensor._data
    if not tensor._spec.numpy:
        with using(grad=False):
            data = tensor.detach().cpu()._data
    return np.ascontiguousarray(data).reshape(-1)


def write(tensor: Tensor, values: Any) -> None:
    """Write an array of bytes, or of elements, into a tensor, as an in-place operation does."""
    data: Any = tensor._data
    if not tensor._spec.numpy:
        with using(grad=False):
            tensor.detach().copy_(wrap(values.view(flat_of(tensor).dtype).reshape(tuple(tensor.shape))))
        return
    values = values.view(data.dtype).reshape(data.shape)
    if not np.may_share_memory(values, data):
        data[...] = values
    increment_version(tensor)


def text_of(op: str, tensor: Tensor, *details: Any) -> str:
    """Return the text of a call, which has to be the same on all ranks."""
    said = "".join(f", {getattr(detail, 'name', detail)}" for detail in details)
    return f"{op}({tensor.dtype} {list(tensor.shape)}{said})"


def check_tensor(value: Any, name: str) -> Tensor:
    """Return an argument that has to be a dense tensor.

    Raises:
        TypeError: if it is none.
        RuntimeError: for a sparse tensor.
    """
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )
    if value.is_sparse:
        raise RuntimeError(f"`{name}` is a sparse tensor, which is not sent between ranks: use to_dense()")
    return value


def check_tensors(values: Any, name: str, like: Tensor | None = None, count: int | None = None) -> list[Tensor]:
    """Return an argument that has to be a list of dense tensors, all of the shape and dtype of `like`.

    Raises:
        TypeError: if it is none.
        ValueError: if a dtype is wrong.
        RuntimeError: if their number or a shape is wrong.
    """
    if not isinstance(values, list | tuple) or not all(isinstance(v, Tensor) for v in values):
        kinds = [type(v) for v in values] if isinstance(values, list | tuple) else type(values)
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {kinds} instead."
        )
    if count is not None and len(values) != count:
        raise RuntimeError(
            f"`{name}` has {len(values)} tensors, and the group has {count} ranks: one for each is needed"
        )
    for i, value in enumerate(values):
        check_tensor(value, name)
        if like is not None and (value.dtype is not like.dtype or value.shape != like.shape):
            raise (RuntimeError if value.dtype is like.dtype else ValueError)(
                f"`{name}` has a tensor of {value.dtype} {list(value.shape)} at {i}, where {like.dtype} "
                f"{list(like.shape)} is needed: all tensors have the shape and dtype of that on each rank"
            )
    return list(values)


def as_index(value: Any, name: str) -> int:
    """Return an argument that has to be an int."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
