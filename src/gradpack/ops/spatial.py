"""What convolution, pooling and resampling ask of their arguments."""

from __future__ import annotations

from typing import Any

from ..tensor.tensor import Tensor


def is_int(value: Any) -> bool:
    """Whether a value will do as an int: no bool, no float."""
    return type(value) is int or (hasattr(value, "__index__") and not isinstance(value, bool | Tensor))


def wrong_type(op: str, name: str, value: Any, wanted: str) -> TypeError:
    """What torch raises for an argument of a wrong type."""
    return TypeError(f"{op}(): argument '{name}' must be {wanted}, not {type(value).__name__}")


def ints(op: str, name: str, value: Any) -> tuple[int, ...]:
    """One int, or several, as a tuple.

    Raises:
        TypeError: for anything else.
    """
    if is_int(value):
        return (int(value),)
    if isinstance(value, list | tuple) and all(is_int(v) or isinstance(v, Tensor) for v in value):
        return tuple(int(v) for v in value)
    raise wrong_type(op, name, value, "tuple of ints")


def repeated(op: str, name: str, value: Any, ndim: int) -> tuple[int, ...]:
    """One int for each of `ndim` dimensions.

    Raises:
        TypeError: for what is no int and no sequence of ints.
        RuntimeError: for another number of them.
    """
    if type(value) is int:
        return (value,) * ndim
    found = ints(op, name, value)
    if len(found) == 1:
        return found * ndim
    if len(found) != ndim:
        words = "a single int" if ndim == 1 else f"either be a single int, or a tuple of {_WORDS[ndim]} ints"
        raise RuntimeError(f"{op}: {name} must {'be ' if ndim == 1 else ''}{words}")
    return found


_WORDS = {2: "two", 3: "three"}


def check_tensor(op: str, **operands: Any) -> None:
    """Raise a TypeError for the first operand that is no Tensor."""
    for nr, (name, value) in enumerate(operands.items()):
        if not isinstance(value, Tensor):
            raise TypeError(f"{op}(): argument '{name}' (position {nr + 1}) must be Tensor, not {type(value).__name__}")


def as_tuple(value: Any, count: int) -> Any:
    """A number for each of `count` dimensions; several numbers as a tuple, as they are."""
    return tuple(value) if isinstance(value, list | tuple) else (value,) * count
