"""Operands that are no tensors: NumPy scalars and arrays are converted, what torch refuses is refused."""

from __future__ import annotations

from typing import Any

from ...backends import backend_of
from ...base.errors import not_a_tensor, too_big
from ...core.tensor import Tensor, wrap
from ..op import Op
from ..signature.arguments import is_number_of_numpy
from .body_errors import public_of


def normalise(op: Op, values: list[Any]) -> bool:
    """Replace NumPy scalars, check types; say whether there is any Tensor."""
    for value in values:
        if isinstance(value, Tensor) or (isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value)):
            break
    else:
        return False
    for i, param in enumerate(op.params):
        value = values[i]
        if isinstance(value, Tensor) or param not in op.arrays:
            if isinstance(value, Tensor) and param not in op.arrays and param not in op.lists:
                if value.requires_grad:
                    raise TypeError(f"{op.name}(): argument '{param}' must be Number, not a Tensor that requires grad")
                values[i] = value.item() if value.numel() == 1 else value
            continue
        if param in op.lists:
            values[i] = [element(op, i, nr, v) for nr, v in enumerate(value)]
        elif param in op.promote or param in op.inputs:
            if not (value is None and op.defaults.get(param, 0) is None):
                values[i] = operand(op, param, i, value, param not in op.scalars)
    return True


def element(op: Op, position: int, nr: int, value: Any) -> Tensor:
    """Convert one item of a list of tensors."""
    if isinstance(value, Tensor):
        return value
    raise TypeError(
        f"expected Tensor as element {nr} in argument {position}, but got {type(value).__name__} ({op.name}())"
    )


def operand(op: Op, param: str, position: int, value: Any, must_be_tensor: bool) -> Any:
    if isinstance(value, Tensor):
        return value
    backend = backend_of(type(value))
    if backend is not None:
        if not must_be_tensor and not getattr(value, "shape", ()):
            if not hasattr(value, "flags") or type(value).__module__ == "numpy":
                return value.item() if hasattr(value, "flags") else value
        if not is_number_of_numpy(type(value)):
            return wrap(value)
    if not must_be_tensor and isinstance(value, int | float | complex):
        if type(value) is int and not -(1 << 63) <= value < 1 << 64:
            raise too_big(f"{public_of(op)[1]}(): argument '{param}'", value)
        return value
    raise not_a_tensor(op.name, param, position + 1, value)
