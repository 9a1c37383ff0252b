"""Which operations are cheap for the bytes of their results, so that `recompute` may run them again."""

from __future__ import annotations

from typing import Any

from ...declare.op import Op

_KINDS = ("elementwise", "linear")  # cheap kinds: one pass over memory; exceptions say so in their declarations


def is_cheap(op: Op) -> bool:
    """Return whether running an operation again takes about as long as reading its result from memory."""
    return op.cost == "cheap" or (op.kind in _KINDS and op.cost is None)


def is_product(op: Op) -> bool:
    """Return whether an operation is a matrix product, as in a linear layer."""
    return op.name in _PRODUCTS


_PRODUCTS = frozenset({"linear", "mm", "matmul"})


def reads_little(made: int, tensors: Any) -> bool:
    """Return whether the operands have at most 8 times the `made` bytes of the result; reductions read much more."""
    return sum(t._data.nbytes for t in tensors if not is_held(t)) <= 8 * made


def is_held(tensor: Any) -> bool:
    """Return whether the program holds a tensor anyway: a parameter or a leaf that requires grad, or a view of one."""
    while tensor._view is not None:
        tensor = tensor._view.parent
    return bool(tensor._is_param) or (tensor._edge is not None and tensor.is_leaf)
