"""Nested lists of Python numbers as arrays: of which dtype, and whether they fit it."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..backends import NUMPY
from ..backends.numpy import quiet
from ..base import dtypes
from ..base.dtypes import FLOATING, INTEGRAL, dtype
from ..base.modes import MODE
from ..tensor.described import warn_of_loss
from ..tensor.tensor import Tensor


def no_dtype_of(item: Any, data: Any = None) -> Exception:
    """What to raise for something that is no number, alone or in lists, where text that comes first is a list too."""
    kind = type(item).__name__
    if not isinstance(item, str):
        return RuntimeError(f"tensor(): Could not infer dtype of {kind}")
    first = data
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if first is not data and isinstance(first, str):
        return ValueError(f"tensor(): too many dimensions {kind!r}")
    return TypeError(f"tensor(): invalid data type {kind!r}")


def kind_of_numbers(data: Any) -> Any:
    """What kinds of scalars nested lists hold: the first leaf of the highest category."""
    best: Any = None
    stack = [data]
    while stack:
        item = stack.pop()
        if isinstance(item, list | tuple):
            stack.extend(item)
            continue
        if isinstance(item, Tensor):
            d = item._spec.dtype
        elif isinstance(item, np.generic | np.ndarray):
            d = NUMPY.spec(item).dtype
        elif isinstance(item, bool | int | float | builtins.complex):
            d = dtypes.scalar_dtype(item)
        else:
            raise no_dtype_of(item, data)
        best = d if best is None else dtypes.promote_types(best, d)
    return best


def without_tensors(data: Any) -> Any:
    """Nested lists without tensors in them."""
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars: tensor() of a list that has a tensor of "
                f"shape {list(data._shape)} in it. Join tensors with stack()"
            )
        if data._edge is not None and MODE.get().grad:
            warn_of_loss()
        return data._spec.backend.to_numpy(data._data).reshape(())
    return [without_tensors(x) for x in data] if isinstance(data, list | tuple) else data


def plain_numbers(data: Any) -> Any:
    """Nested lists of Python numbers as an array; None for what needs a closer look."""
    first = data
    while isinstance(first, list | tuple):
        if not first:
            return None
        first = first[0]
    if type(first) not in (bool, int, float, builtins.complex):
        return None
    try:
        array = np.array(data)
    except (ValueError, TypeError, OverflowError, RuntimeError):  # the last by tensors that require grad
        return None
    if array.dtype.kind not in "bi" and not _of_python(data):
        return None
    if array.dtype.kind == "f" and type(first) is int and not (abs(array) < 2**63).all():
        return None  # NumPy makes floats of integers of more than 63 bits beside others
    return array if array.dtype.kind in "bifc" else None


def _of_python(data: Any) -> bool:
    """Whether all numbers in nested lists are Python's own: those of NumPy and tensors bring their dtypes."""
    if isinstance(data, list | tuple):
        if data and isinstance(data[0], list | tuple):
            return all(map(_of_python, data))
        return _PYTHON.issuperset(map(type, data))
    return type(data) in _PYTHON


_PYTHON = frozenset((bool, int, float, builtins.complex))


def staging(d: dtype) -> Any:
    """A NumPy dtype that takes any of the numbers before they are converted to `d`."""
    if d.category < FLOATING:
        return object if d is dtypes.uint64 else None
    return np.complex128 if d.is_complex else np.float64


def check_fits(source: Any, d: dtype) -> None:
    """Raise if numbers do not fit a dtype: integers beyond its range, complex numbers."""
    kind = source.dtype.kind
    if kind == "c" and d.category == FLOATING:
        raise TypeError(f"must be real number, not complex: for a tensor of {d.name}")
    if d.category != INTEGRAL or not source.size or kind == "b":
        return
    if kind == "c":
        raise TypeError(f"'complex' object cannot be interpreted as an integer: for a tensor of {d.name}")
    low, high = source.min(), source.max()
    if d is dtypes.uint64:
        if not all(isinstance(v, int | np.integer) for v in source.flat):
            raise TypeError("an integer is required: for a tensor of uint64")
        if low < 0 or high >= 2**64:
            raise OverflowError("can't convert negative int to unsigned" if low < 0 else "int too big to convert")
    elif kind == "O" or (kind == "u" and high >= 2**63):
        raise ValueError(f"Overflow when unpacking long long: {high if high > 0 else low}")
    else:
        bits = 8 * d.itemsize
        least = -(2 ** (bits - 1)) if d.is_signed else 0 if kind == "f" else 1 - 2**bits
        if not (least <= low and high < 2 ** (bits - d.is_signed)):
            raise RuntimeError(
                f"value cannot be converted to type {d.name} without overflow: "
                f"{low if not low >= least else high} is not between {least} and {2 ** (bits - d.is_signed) - 1}"
            )


def converted(source: Any, d: dtype) -> Any:
    if not source.size and source.dtype.kind not in "iufcb":
        source = source.astype(np.float64)
    with quiet():  # numbers beyond a floating dtype become infinite
        return np.array(NUMPY.cast(source, d), order="C")


def uneven(data: Any, dim: int = 0) -> str:
    """Where nested lists have unequal lengths."""
    lengths = [len(x) if isinstance(x, list | tuple) else None for x in data]
    if len(set(lengths)) > 1:
        odd = next(i for i, n in enumerate(lengths) if n != lengths[0])
        if lengths[0] is None or lengths[odd] is None:
            return f"expected sequence of length {lengths[0] or lengths[odd]} at dim {dim + 1}, got a number beside it"
        return f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {lengths[odd]})"
    return next((uneven(x, dim + 1) for x in data if isinstance(x, list | tuple)), "uneven nested sequences")
