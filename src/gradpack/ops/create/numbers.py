"""Conversion of nested lists of Python numbers to arrays: inferred dtypes, and checks that numbers fit."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...backends import NUMPY
from ...backends.numpy import quiet
from ...base import dtypes
from ...base.dtypes import BOOL, FLOATING, INTEGRAL, dtype
from ...base.modes import MODE
from ...core.properties import warn_of_loss
from ...core.tensor import Tensor

MOST_DIMS = 64  # NumPy's limit


def no_dtype_of(item: Any) -> Exception:
    """Return the exception for an object that has no dtype."""
    kind = type(item).__name__
    if isinstance(item, str | bytes):
        return TypeError(f"new(): invalid data type {kind!r}")
    return RuntimeError(f"Could not infer dtype of {kind}")


def is_sequence(data: Any) -> bool:
    """Whether the elements of an object become elements of a tensor."""
    if isinstance(data, list | tuple):
        return True
    if isinstance(data, str | bytes | Mapping | np.generic) or hasattr(data, "__array__"):
        return False
    return hasattr(data, "__getitem__") and hasattr(data, "__len__")


def is_array(data: Any) -> bool:
    """Whether an object is an array or has an array interface; False for NumPy scalars."""
    return hasattr(data, "__array__") and not isinstance(data, np.generic)


def sizes_of(data: Any) -> list[int]:
    """The lengths of nested sequences, by the first element of each.

    Raises:
        ValueError: for more dimensions than an array has, as in a list that contains itself; for text in a list.
    """
    sizes: list[int] = []
    while is_sequence(data):
        if len(sizes) == MOST_DIMS:
            raise ValueError(f"too many dimensions {type(data).__name__!r}")
        sizes.append(len(data))
        if not sizes[-1]:
            break
        data = _elements(data)[0]
    if is_array(data) and not isinstance(data, Tensor):
        return [*sizes, *np.asarray(data).shape]
    if sizes and isinstance(data, str):
        raise ValueError(f"too many dimensions {type(data).__name__!r}")
    return sizes


def as_lists(data: Any, depth: int = 0) -> Any:
    """Nested sequences as nested lists.

    Raises:
        TypeError: for a list that contains itself.
        ValueError: for more dimensions than an array has.
    """
    if not is_sequence(data):
        return np.asarray(data) if is_array(data) and not isinstance(data, Tensor) else data
    if depth == MOST_DIMS:
        raise ValueError(f"too many dimensions {type(data).__name__!r}")
    items = _elements(data)
    if any(item is data for item in items):
        raise TypeError("new(): self-referential lists are incompatible")
    return [as_lists(item, depth + 1) for item in items]


def _elements(data: Any) -> Any:
    if isinstance(data, list | tuple):
        return data
    try:
        return [data[i] for i in range(len(data))]
    except (TypeError, KeyError, IndexError):
        raise ValueError(f"could not determine the shape of object type '{type(data).__name__}'") from None


def kind_of_numbers(data: Any) -> Any:
    """Return the promoted dtype of all scalars in nested lists; None if there are none."""
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
            raise no_dtype_of(item)
        best = d if best is None else dtypes.promote_types(best, d)
    return best


def without_tensors(data: Any) -> Any:
    """Replace one-element tensors in nested lists by 0-dim arrays; a ValueError for larger ones."""
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
    """Fast path: nested lists of Python numbers as an array; None if they need the full checks."""
    first = data
    for _ in range(MOST_DIMS):
        if not isinstance(first, list | tuple) or not first:
            break
        first = first[0]
    if type(first) not in (bool, int, float, builtins.complex):
        return None
    try:
        array = np.array(data)
    except (ValueError, TypeError, OverflowError, RuntimeError):  # RuntimeError: tensors that require grad
        return None
    if array.dtype.kind not in "bi" and not _of_python(data):
        return None
    if array.dtype.kind == "f" and type(first) is int and not (abs(array) < 2**63).all():
        return None  # NumPy converts mixed integers of more than 63 bits to floats
    return array if array.dtype.kind in "bifc" else None


def _of_python(data: Any) -> bool:
    """Whether all numbers in nested lists are Python numbers: NumPy scalars and tensors have dtypes of their own."""
    if isinstance(data, list | tuple):
        if data and isinstance(data[0], list | tuple):
            return all(map(_of_python, data))
        return _PYTHON.issuperset(map(type, data))
    return type(data) in _PYTHON


_PYTHON = frozenset((bool, int, float, builtins.complex))


def staging(d: dtype) -> Any:
    """The intermediate NumPy dtype for numbers that are then converted to `d`; None to let NumPy choose."""
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
        if not (least <= low and high <= 2 ** (bits - d.is_signed) - 1):
            raise RuntimeError(
                f"value cannot be converted to type {d.name} without overflow: "
                f"{low if not low >= least else high} is not between {least} and {2 ** (bits - d.is_signed) - 1}"
            )


def converted(source: Any, d: dtype) -> Any:
    if not source.size and source.dtype.kind not in "iufcb":
        source = source.astype(np.float64)
    with quiet():  # numbers beyond a floating dtype become infinite
        return np.array(NUMPY.cast(source, d), order="C")


def check_numbers(data: Any, sizes: list[int], d: dtype, dim: int = 0) -> None:
    """Raise for nested lists of unequal lengths, and for elements that do not convert to a dtype."""
    if dim < len(sizes):
        if not isinstance(data, list) and not (isinstance(data, np.ndarray) and data.ndim):
            raise TypeError("not a sequence")
        if len(data) != sizes[dim]:
            raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
        if isinstance(data, np.ndarray) and list(data.shape) == sizes[dim:]:
            return
        for item in data:
            check_numbers(item, sizes, d, dim + 1)
    elif d.category >= FLOATING:
        if not hasattr(data, "__float__") and not (d.is_complex and hasattr(data, "__complex__")):
            raise TypeError(f"must be real number, not {type(data).__name__}")
    elif not hasattr(data, "__int__") and not (d.category == BOOL and hasattr(data, "__complex__")):
        raise TypeError(f"'{type(data).__name__}' object cannot be interpreted as an integer")
    elif type(data) is int and d.category == INTEGRAL and d is not dtypes.uint64 and not -(1 << 63) <= data < 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {data}")
