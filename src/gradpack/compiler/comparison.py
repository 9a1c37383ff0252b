"""Comparison of the results of a program and of the function."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..backends.numpy import quiet
from ..base.info import finfo
from ..base.size import Size
from ..core.tensor import Tensor
from ..optim.optimizer import Optimizer
from .facts import Kept, Result
from .python.guard import same
from .python.values import PLAIN


def array_of(value: Any, kind: Any = None) -> Any:
    """Return the array of a tensor, or of a number in a dtype; NaN for None."""
    return value._data if isinstance(value, Tensor) else np.asarray(np.nan if value is None else value, kind)


def kind_of(kept: Kept, each: Result) -> Any:
    """Return the dtype of the array that a result is the number of; None for tensors."""
    return kept.program.outputs[each.output].dtype if each.is_number else None


def is_output(each: Any) -> bool:
    """Return whether a result is made of an output of the program."""
    return type(each) is Result and each.source < 0


def has_constants(kept: Kept, leaves: list[Any]) -> bool:
    """Return whether results that are no outputs of the program are those that were recorded."""
    each = [(e, leaf) for e, leaf in zip(kept.results, leaves, strict=True) if type(e) is not Result]
    return all(same(e, leaf) or (type(e) is type(leaf) and is_constant(e) and bool(e == leaf)) for e, leaf in each)


def is_constant(value: Any) -> bool:
    """Return whether a result cannot change, and depends on nothing but what programs are compared with."""
    if isinstance(value, slice):
        return all(map(is_constant, (value.start, value.stop, value.step)))
    if isinstance(value, FunctionType | BuiltinFunctionType):  # one of a module, which no call makes
        return getattr(sys.modules.get(value.__module__ or ""), value.__name__, None) is value
    return isinstance(value, _CONSTANTS)


_CONSTANTS = (*PLAIN, type, ModuleType, Size, range, Enum, numbers.Number, type(...), type(NotImplemented))


def results_of(kept: Kept, outputs: Any) -> list[Any]:
    """Return the outputs that are results, and then those that are gradients."""
    results = [e for e in kept.results if is_output(e)]
    made = [np.reshape(outputs[e.output], ()) if e.is_number else outputs[e.output] for e in results]
    return made + [outputs[o] for _, o in kept.grads if o is not None]


def equal(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal but for the last digits of their dtype."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    wide = a.dtype.itemsize >= 8 and a.dtype != np.complex64
    tolerance = 1e-10 if wide else 1e-4 if a.dtype.itemsize > 2 and a.dtype.kind != "V" else 1e-2
    if a.dtype.kind == "V":  # bfloat16, or pairs of halves
        a, b = (x.reshape(-1).view(np.float16) if x.dtype.names else x.astype(np.float32) for x in (a, b))
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    scale = np.abs(b[np.isfinite(b)]).max(initial=1) if b.size else 1
    with quiet():
        return bool(np.allclose(a, b, tolerance, tolerance * float(scale), equal_nan=True))


def noise(values: Iterable[Any]) -> dict[tuple[int, ...], Any]:
    """Return, by shape, where the gradients of parameters are only rounding.

    The gradient of a bias before a normalization is such: optimizers that scale it up move the parameter by it, and
    with it the averages and copies of parameters, which have its shape.

    Args:
        values: that a function can reach, optimizers among them, whose state is looked at.
    """
    found: dict[tuple[int, ...], Any] = {}
    for optimizer in (v for v in values if isinstance(v, Optimizer)):
        held = [(p, {k: v for k, v in own.items() if _is_like(v, p)}) for p, own in optimizer.state.items()]
        largest: dict[str, float] = {}
        for _, own in held:
            for key, each in own.items():
                largest[key] = max(largest.get(key, 0.0), float(np.abs(each._data).max(initial=0)))
        for p, own in held:
            told = {k: v for k, v in own.items() if k != _STEPS and largest[k]}
            small = [np.abs(v._data) <= 1e3 * finfo(v.dtype).eps * largest[k] for k, v in told.items()]
            if small:
                found[p._shape] = np.logical_and.reduce(small) | found.get(p._shape, False)
    return found


def without_noise(array: Any, other: Any, places: dict[tuple[int, ...], Any]) -> Any:
    """Return an array with the numbers of another one where gradients are only rounding."""
    where = places.get(array.shape)
    return array if where is None else np.where(where, other, array)


_STEPS = "step_size"  # in the state of Rprop: made of no gradient, but of its signs


def _is_like(value: Any, p: Tensor) -> bool:
    """Return whether a value of the state of a parameter is a tensor of floating point numbers of its shape."""
    return isinstance(value, Tensor) and value._shape == p._shape and value.is_floating_point() and value._spec.numpy
