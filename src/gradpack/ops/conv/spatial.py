"""Argument checks shared by convolution, pooling and resampling."""

from __future__ import annotations

from typing import Any

from ...base.dtypes import FLOATING
from ...base.errors import size_too_big
from ...core.tensor import Tensor


def is_int(value: Any) -> bool:
    """Return whether a value is accepted as an int: no bool, no float."""
    return type(value) is int or (hasattr(value, "__index__") and not isinstance(value, bool | Tensor))


def wrong_type(op: str, name: str, value: Any, wanted: str) -> TypeError:
    """Return the TypeError that torch raises for an argument of a wrong type."""
    return TypeError(f"{op}(): argument '{name}' must be {wanted}, not {type(value).__name__}")


def as_int(op: str, name: str, value: Any) -> int:
    """One int; a tensor of one integer is taken as that.

    Raises:
        TypeError: for anything else.
        ValueError: for a number of more than 64 bits.
    """
    if not is_int(value) and not (isinstance(value, Tensor) and _is_one(value)):
        raise wrong_type(op, name, value, "int")
    number = int(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {op}(): argument '{name}' is {number}")
    return number


def ints(op: str, name: str, value: Any) -> tuple[int, ...]:
    """One int, or several, as a tuple; tensors of one integer are taken as ints.

    Raises:
        TypeError: for anything else, and for a sequence with a number of more than 64 bits.
        ValueError: for one such number alone.
    """
    if is_int(value) or (isinstance(value, Tensor) and _is_one(value)):
        return (as_int(op, name, value),)
    if not isinstance(value, list | tuple) or not all(is_int(v) or isinstance(v, Tensor) for v in value):
        raise wrong_type(op, name, value, "tuple of ints")
    found = tuple(int(v) for v in value)
    for at, number in enumerate(found):
        if not -(1 << 63) <= number < 1 << 63:
            raise size_too_big(op, name, at, number)
    return found


def _is_one(value: Tensor) -> bool:
    return value.numel() == 1 and value._spec.dtype.category < FLOATING


def repeated(op: str, name: str, value: Any, ndim: int) -> tuple[int, ...]:
    """One int for each of `ndim` dimensions.

    Raises:
        TypeError: for anything but an int or a sequence of ints.
        RuntimeError: for another number of them.
    """
    if type(value) is int and -LARGE < value < LARGE:
        return (value,) * ndim
    found = ints(op, name, value)
    if len(found) == 1:
        return found * ndim
    if len(found) != ndim:
        words = "a single int" if ndim == 1 else f"either be a single int, or a tuple of {_WORDS[ndim]} ints"
        raise RuntimeError(f"{op}: {name} must {'be ' if ndim == 1 else ''}{words}")
    return found


LARGE = 1 << 62  # smaller ints need no closer look
_WORDS = {2: "two", 3: "three"}


def check_tensor(op: str, **operands: Any) -> None:
    """Raise a TypeError for the first operand that is no Tensor."""
    for nr, (name, value) in enumerate(operands.items()):
        if not isinstance(value, Tensor):
            raise TypeError(f"{op}(): argument '{name}' (position {nr + 1}) must be Tensor, not {type(value).__name__}")


def as_tuple(value: Any, count: int) -> Any:
    """A number for each of `count` dimensions; several numbers as a tuple, as they are."""
    return tuple(value) if isinstance(value, list | tuple) else (value,) * count
