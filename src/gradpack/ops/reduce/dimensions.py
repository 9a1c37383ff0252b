"""Shared by reductions: normalising `dim` arguments, and expanding gradients to the reduced dimensions.

Functions on values take arrays and Tensors alike, as formulas do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import update_wrapper
from inspect import signature
from typing import Any

import numpy as np

from ...backends import spec_of
from ...base import late
from ...base.errors import scalar_type
from ..shape.dims import wrap_dim, wrap_dims
from .kernels import float_kind

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
_scalar_type = np.generic


def axes(dim: Any, ndim: int) -> Any:
    """Convert a `dim` argument to NumPy's `axis`: None for all dimensions, one int, or a tuple.

    Raises:
        IndexError: for a dimension out of range.
        RuntimeError: for a dimension given twice.
        TypeError: for anything but ints.
    """
    if type(dim) is int and -ndim <= dim < ndim:
        return dim
    if dim is None:
        return None
    if hasattr(dim, "__index__"):
        found: Any = wrap_dim(dim, ndim)
        return found if ndim else None
    if not isinstance(dim, list | tuple):
        raise TypeError(f"argument 'dim' must be an int or a tuple of ints, not {type(dim).__name__}")
    return (wrap_dims(dim, ndim) or None) if ndim else (wrap_dims(dim, ndim) and None)


def axis(dim: Any, ndim: int) -> int:
    """Check the `dim` argument of an operation along one dimension; returns it counted from the front.

    Raises:
        TypeError: for anything but an int.
        IndexError: if it is out of range.
    """
    if type(dim) is int and -ndim <= dim < ndim:
        return dim if dim >= 0 else dim + ndim
    if not hasattr(dim, "__index__"):
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
    return wrap_dim(dim, ndim)


def kept(shape: Any, dim: Any) -> tuple[int, ...]:
    """The shape of a reduction that keeps its dimensions, with size 1."""
    over = axes(dim, len(shape))
    if over is None:
        return (1,) * len(shape)
    if type(over) is int:
        return (*shape[:over], 1, *shape[over + 1 :]) if over != -1 else (*shape[:-1], 1)
    return tuple(1 if i in over else n for i, n in enumerate(shape))


def dropped(shape: Any, dim: Any) -> tuple[int, ...]:
    """The shape of a reduction that drops its dimensions."""
    over = axes(dim, len(shape))
    if over is None:
        return ()
    gone = {d % len(shape) for d in ((over,) if type(over) is int else over)}
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def count(shape: Any, dim: Any = None) -> int:
    """How many elements go into one element of a reduction."""
    if dim is None:
        return math.prod(shape)
    over = axes(dim, len(shape))
    if type(over) is int:
        return int(shape[over])
    return math.prod(shape if over is None else [shape[d] for d in over])


def restored(value: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """Reshape the result of a reduction over `dim` of `shape` as if `keepdim` had been True."""
    return value if keepdim else late.reshape(value, kept(shape, dim))


def spread(g: Any, shape: Any) -> Any:
    """Expand `g`, of one element, to a shape: the adjoint of a sum over all dimensions."""
    if (type(g) is _array_type or isinstance(g, _scalar_type)) and not g.ndim:
        # a read-only array with strides 0 over a copy of the element: a tenth of the time of broadcast_to
        return _array_type(shape, g.dtype, g.tobytes(), 0, (0,) * len(shape))
    return late.expand(g, shape)


def spread_over(g: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """Expand `g` along the dimensions `dim` of `shape`: the adjoint of a sum over them."""
    if type(g) is _array_type and g.size and not any(g.strides) and g.dtype.kind != "V":  # the same for all elements
        return spread(g[(0,) * g.ndim], shape)
    if type(g) is not _array_type or not g.flags.c_contiguous or not g.size or g.dtype.kind == "V":
        return late.expand(restored(g, shape, dim, keepdim), shape)
    over = axes(dim, len(shape))
    if over is None:
        return spread(g.reshape(()), shape)
    over = (over % len(shape),) if type(over) is int else over
    strides, steps = [0] * len(shape), iter(g.strides)
    for i in range(len(shape)):
        if i not in over:
            strides[i] = next(steps)
        elif keepdim:
            next(steps)
    out = _array_type(shape, g.dtype, g, 0, tuple(strides))
    out.flags.writeable = False
    return out


def check_floating(message: str, array: Any) -> None:
    """Raise a RuntimeError with `message`, in which {} stands for the dtype, unless it is floating or complex."""
    if float_kind(array) == "":
        raise RuntimeError(message.format(scalar_type(spec_of(array).dtype)))


def check_bool(op: str, keepdim: Any) -> None:
    if type(keepdim) is not bool:
        raise TypeError(f"{op}(): argument 'keepdim' must be bool, not {type(keepdim).__name__}")


# NumPy's names of arguments, and torch's.
_NUMPY_NAMES = (
    ("axis", "dim"), ("keepdims", "keepdim"), ("x", "input"), ("a", "input"), ("x1", "input"), ("x2", "other"),
)  # fmt: skip


def numpy_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function to accept NumPy's names of its arguments (`axis`, `keepdims`, ...) too, as torch does."""
    renamed: list[tuple[str, str]] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if not renamed:
                own = signature(function).parameters
                renamed.extend(pair for pair in _NUMPY_NAMES if pair[1] in own and pair[0] not in own)
            for theirs, ours in renamed:
                if theirs in kwargs and ours not in kwargs:
                    kwargs[ours] = kwargs.pop(theirs)
            if "dim" in kwargs and type(kwargs["dim"]) is list:
                kwargs["dim"] = tuple(kwargs["dim"])
        if len(args) > 1 and type(args[1]) is list:
            args = (args[0], tuple(args[1]), *args[2:])
        return function(*args, **kwargs)

    made: Any = update_wrapper(call, function)
    made.__wrapped__ = getattr(function, "__wrapped__", function)
    if not hasattr(function, "op"):
        made.usual = function
    return made
