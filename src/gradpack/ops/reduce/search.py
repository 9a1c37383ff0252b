"""Finding the bin of a value by binary search."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.errors import _SCALAR_TYPES, not_a_tensor, not_implemented_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import nondifferentiable
from ..create.making import _into_out
from .kernels import float_kind

FUNCTIONS = "searchsorted bucketize"


def _sides(side: Any, right: bool, op: str) -> bool:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.{op}(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"torch.{op}(): side and right can't be set to opposites, got side of left while right was True"
        )
    return right or side == "right"


@nondifferentiable(
    result="index", promote=("boundaries", "input"), dtypes="bif", name="searchsorted", refuses="unsigned", int64=True
)
def _search(boundaries: Array, input: Array, right: bool = False) -> Any:
    """For each value, how many boundaries lie before it."""
    n = boundaries.shape[-1]
    if len(boundaries.shape) == 1:
        found = np.searchsorted(boundaries, np.reshape(input, (-1,)), side="right" if right else "left")
        found = np.reshape(found, input.shape)
    else:  # all rows at once: halve every interval until it is empty
        low = np.zeros(input.shape, dtype=np.int64)
        high = np.full(input.shape, n, dtype=np.int64)
        for _ in range(n.bit_length() if n else 0):
            middle = (low + high) // 2
            value = np.take_along_axis(boundaries, np.minimum(middle, n - 1), -1)
            before = (low < high) & ((value <= input) if right else (value < input))
            high = np.where((low < high) & ~before, middle, high)
            low = np.where(before, middle + 1, low)
        found = low
    if float_kind(input):
        found = np.where(input != input, n, found)  # noqa: PLR0124 - NaN comes last
    return np.astype(found, np.int64)


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Any = None,
) -> Tensor:
    """The indices at which inserting values keeps a sequence sorted: for each, how many elements come before.

    Args:
        sorted_sequence: increasing along the last dimension; one sequence for all, or one for each row of `input`.
        input: a tensor of values, or a number.
        out_int32: give int32 instead of int64.
        right: after elements that equal the value, instead of before; the same as `side="right"`.
        side: "left", which is the default, or "right".
        sorter: the indices that sort `sorted_sequence`, which need not be sorted then.

    Raises:
        RuntimeError: for shapes that do not fit, contradictory sides, or an invalid `sorter`.

    Example::

        >>> import gradpack as torch
        >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6, 0]))
        tensor([1, 3, 0])
        >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6, 0]), side="right")
        tensor([2, 3, 0])
    """
    if not isinstance(sorted_sequence, Tensor):
        raise not_a_tensor("searchsorted", "sorted_sequence", 1, sorted_sequence)
    right = _sides(side, right, "searchsorted")
    number = not isinstance(input, Tensor)
    shape, asked = sorted_sequence._shape, () if number else input._shape
    if not shape:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if not asked and len(shape) != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({len(shape)}) and input value's dim(0) numel(1)"
        )
    if len(shape) != 1 and (len(shape) != len(asked) or shape[:-1] != asked[:-1]):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(shape)} and input value "
            f"tensor {list(asked)}"
        )
    if sorter is not None:
        sorted_sequence = _in_order(sorted_sequence, sorter)
    return _searched("searchsorted", sorted_sequence, input, right, out_int32, out)


def _in_order(sequence: Tensor, sorter: Tensor) -> Tensor:
    if sorter._shape != sequence._shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(sequence._shape)} and got sorter tensor {list(sorter._shape)}"
        )
    if sorter._spec.dtype is not dtypes.int64:
        raise RuntimeError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{_SCALAR_TYPES[sorter._spec.dtype.name]}"
        )
    if sorter.numel() and not 0 <= int(np.min(sorter._data)) <= int(np.max(sorter._data)) < sequence._shape[-1]:
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return late.gather(sequence.detach(), -1, sorter)


def _searched(op: str, sequence: Tensor, input: Any, right: bool, out_int32: bool, out: Any) -> Tensor:
    if not isinstance(input, Tensor):
        if not isinstance(input, int | float):
            raise not_a_tensor(op, "input", 2, input)
        d = dtypes.result_dtype([sequence._spec.dtype], [], [dtypes.scalar_dtype(input)])
        input = late.scalar_tensor(input, dtype=d, device=sequence.device)
    if sequence._spec.dtype.category == dtypes.BOOL:
        raise not_implemented_for("searchsorted_out_cpu", sequence._spec.dtype)
    made: Tensor = _search(sequence, input, right)
    made = made.to(dtypes.int32) if out_int32 else made
    if out is None:
        return made
    if out._spec.dtype is not made._spec.dtype:
        raise RuntimeError(
            f"torch.{op}(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
            f"whether out_int32 flag is True, but we got output tensor's dtype {_SCALAR_TYPES[out._spec.dtype.name]} "
            f"and out_int32 flag is {out_int32}"
        )
    return _into_out(out, made, op)


def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Any = None
) -> Tensor:
    """The bucket of each value: how many boundaries lie before it.

    Args:
        input: a tensor of values, or a number.
        boundaries: an increasing vector.
        out_int32: give int32 instead of int64.
        right: a value that equals a boundary comes after it, instead of before.

    Raises:
        RuntimeError: for `boundaries` that are no vector.

    Example::

        >>> import gradpack as torch
        >>> torch.bucketize(torch.tensor([3, 6, 0]), torch.tensor([1, 3, 5]))
        tensor([1, 3, 0])
    """
    if not isinstance(boundaries, Tensor):
        raise not_a_tensor("bucketize", "boundaries", 2, boundaries)
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _searched("bucketize", boundaries, input, right, out_int32, out)
