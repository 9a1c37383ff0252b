"""Which operations cost little for the bytes they make: those that recomputing runs again."""

from __future__ import annotations

from typing import Any

from ..declare.op import Op

_KINDS = ("elementwise", "linear")  # one pass over memory, if nothing below says otherwise


def is_cheap(op: Op) -> bool:
    """Whether running an operation again costs about as much as reading what it made."""
    return op.cost == "cheap" or (op.kind in _KINDS and op.cost is None)


def is_product(op: Op) -> bool:
    """Whether an operation is a product of matrices, as a layer has it."""
    return op.name in _PRODUCTS


_PRODUCTS = frozenset({"linear", "mm", "matmul"})


def reads_little(made: int, tensors: Any) -> bool:
    """Whether the operands are not much larger than the result: a sum over thousands is no cheap way to one number."""
    return sum(t._data.nbytes for t in tensors if not is_held(t)) <= 8 * made


def is_held(tensor: Any) -> bool:
    """Whether the user holds a tensor anyway: a parameter, or another leaf that gets a gradient."""
    while tensor._view is not None:
        tensor = tensor._view.parent
    return bool(tensor._is_param) or (tensor._edge is not None and tensor.is_leaf)
