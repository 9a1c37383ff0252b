"""How autocast casts the arguments of operations. Their declarations say which, as torch does it on the CPU.

Matrix products run in low precision; losses and long products in float32; what joins tensors, in
the widest dtype among them. Everything else runs in the dtypes that it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ...base import dtypes
from ...base.autocast import Autocast
from ...base.dtypes import FLOATING, dtype
from ...base.modes import MODE, using
from ...core.tensor import Tensor
from ...graph.node import AccumulateGrad
from ..op import REGISTRY, Op

F = TypeVar("F", bound=Callable[..., Any])


def _eligible(value: Any) -> bool:
    return (
        isinstance(value, Tensor) and value._spec.dtype.category == FLOATING and value._spec.dtype is not dtypes.float64
    )


def cast_arguments(state: Autocast, op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cast the arguments of an operation as autocast asks."""
    if op.autocast == "lower":
        target = _low(state, values)
    elif op.autocast == "float32":
        target = dtypes.float32 if _low(state, values) is not None else None
    elif op.autocast == "widest":
        target = _widest(state, values)
    else:
        return values
    return values if target is None else tuple(_cast_all(state, v, target) for v in values)


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for v in values:
        found.extend(_tensors(v) if isinstance(v, list | tuple) else [v] if isinstance(v, Tensor) else [])
    return found


def _low(state: Autocast, values: Any) -> dtype | None:
    """The low dtype for the device of the arguments, if autocast is on for it."""
    for t in _tensors(values):
        kind = t._spec.device.type
        if kind in state.enabled:
            return state.dtype_of(kind)
    return None


def _widest(state: Autocast, values: Any) -> dtype | None:
    low = _low(state, values)
    if low is None:
        return None
    target = low
    for t in _tensors(values):
        if _eligible(t) and target is not dtypes.float32 and t._spec.dtype is not low:
            if t._spec.dtype is not dtypes.float32:
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
            target = dtypes.float32
    return target


def _cast_all(state: Autocast, value: Any, target: dtype) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_cast_all(state, v, target) for v in value) if type(value) in (list, tuple) else value
    if not _eligible(value) or value._spec.dtype is target:
        return value
    if not (state.caching and type(value._edge) is AccumulateGrad and value._view is None and target.low):
        return REGISTRY["_to_copy"].public(value, target)
    key = (id(value), MODE.get().grad, target)
    found = state.cache.get(key)
    if found is not None and found[0] is value and found[2] == value._counter[0]:
        return found[1]
    made = REGISTRY["_to_copy"].public(value, target)
    state.cache[key] = (value, made, value._counter[0])
    return made


def in_float32(function: F) -> F:
    """Decorate a function of several operations that autocast runs as a whole in float32."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        state = MODE.get().autocast
        if state is None or not state.enabled or _low(state, (*args, *kwargs.values())) is None:
            return function(*args, **kwargs)
        args = tuple(_cast_all(state, v, dtypes.float32) for v in args)
        kwargs = {k: _cast_all(state, v, dtypes.float32) for k, v in kwargs.items()}
        with using(autocast=None):
            return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def as_given(function: F) -> F:
    """Decorate a function made of matrix products that autocast leaves alone."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if MODE.get().autocast is None:
            return function(*args, **kwargs)
        with using(autocast=None):
            return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


__all__ = ["as_given", "cast_arguments", "in_float32"]
