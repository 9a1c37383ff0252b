"""The public name of an operation, and the exception raised to users when its body fails."""

from __future__ import annotations

from functools import cache
from inspect import isfunction, signature
from typing import Any

from ...backends.base import UnsupportedError
from ...base.errors import any_foreign, dim_out_of_range, inner_failure, mixed, no_common_shape
from ...core.tensor import Tensor
from ..op import PUBLIC, Op
from ..signature.arguments import refuse_unfit

_found: dict[Op, tuple[Any, str]] = {}


def public_of(op: Op) -> tuple[Any, str]:
    """Return the public function of an operation, and its name."""
    found = _found.get(op)
    if found is not None:
        return found
    name = op.name.strip("_")
    for candidate in (name, name.rpartition("_")[0]):  # `_sum_dim` is `sum` along dimensions
        known = PUBLIC.get(candidate)
        if known is op.public or (isfunction(known) and _takes_all(known, op)):
            return _found.setdefault(op, (known, candidate))
    return op.public, name  # which may be asked before the module of the public function is there


@cache  # `inspect` takes long
def _takes_all(function: Any, op: Op) -> bool:
    """Return whether a function takes the arguments of an operation, and may be called without the same ones."""
    shown = list(signature(function).parameters.values())[: len(op.params)]
    return [p.name for p in shown if p.kind is not p.VAR_POSITIONAL] == list(op.params) and not any(
        p.default is p.empty and p.name in op.defaults for p in shown
    )


def explain(op: Op, values: list[Any], error: Exception) -> Exception:
    """Convert an exception of a body to the one that torch raises."""
    if isinstance(error, UnsupportedError):
        return NotImplementedError(str(error))
    if any_foreign(values):
        return mixed(public_of(op)[1])
    try:
        refuse_unfit(op, public_of(op)[1], values, error)
    except Exception as better:
        return better
    axis, ndim = getattr(error, "axis", None), getattr(error, "ndim", None)
    if isinstance(error, IndexError) and isinstance(axis, int) and isinstance(ndim, int):  # NumPy's AxisError
        return dim_out_of_range(axis, ndim)
    if isinstance(error, ValueError):
        shapes = [v._shape for v in values if isinstance(v, Tensor)]
        if op.shape_error is not None:
            try:
                op.shape_error(*shapes)
            except Exception as better:
                return better
        if "broadcast" in str(error) and len(shapes) >= 2:
            return no_common_shape(op.name, shapes)
        return RuntimeError(f"{op.name}(): {error} (shapes {', '.join(str(list(s)) for s in shapes)})")
    if isinstance(error, TypeError) and op.name not in str(error):
        return TypeError(f"{op.name}(): {error}")
    given = {p: list(v._shape) for p, v in zip(op.params, values, strict=True) if isinstance(v, Tensor)}
    return inner_failure(public_of(op)[1], error, given)
