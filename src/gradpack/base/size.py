"""`Size`: the shape of a tensor, a tuple of ints that knows its number of elements."""

from __future__ import annotations

from math import prod
from typing import Any, SupportsIndex

from . import spelling


class Size(tuple[int, ...]):
    """A shape. Behaves like a tuple of ints.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2, 3).shape
        gradpack.Size([2, 3])
        >>> torch.zeros(2, 3).shape.numel()
        6
    """

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return prod(self)

    def __repr__(self) -> str:
        return f"{spelling.library}.Size({list(self)})"

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        item: Any = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other: tuple[Any, ...]) -> Any:
        return Size(tuple.__add__(self, other))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__
