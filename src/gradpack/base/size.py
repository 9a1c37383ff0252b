"""`Size`: the shape of a tensor, a tuple of ints that knows its number of elements."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import Any, SupportsIndex, overload

from . import spelling


def _int(size: Any, place: int) -> int:
    """Convert an element of a shape to an int."""
    try:
        return index(size)
    except TypeError:
        kind = type(size).__name__
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{kind}')") from None


class Size(tuple[int, ...]):
    """A shape. Behaves like a tuple of ints.

    Raises:
        TypeError: for elements that are no ints.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2, 3).shape
        gradpack.Size([2, 3])
        >>> torch.zeros(2, 3).shape.numel()
        6
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        return tuple.__new__(cls, [n if type(n) is int else _int(n, nr) for nr, n in enumerate(sizes)])

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return prod(self)

    def __repr__(self) -> str:
        return f"{spelling.library}.Size({list(self)})"

    @overload
    def __getitem__(self, place: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> Size: ...

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        item: Any = tuple.__getitem__(self, place)
        return Size(item) if isinstance(place, slice) else item

    def __add__(self, other: Any) -> Any:
        if isinstance(other, tuple):
            return Size((*self, *other))
        if hasattr(type(other), "__radd__"):
            return NotImplemented
        raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")

    def __radd__(self, other: Any) -> Any:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__
