"""Saved tensors that are not kept but recomputed, exactly, when backward unpacks them."""

from __future__ import annotations

from typing import Any
from weakref import ref

from .packed import Packed, new_packed
from .tensor import Tensor, alias

LEAST = 1 << 16  # bytes: smaller tensors are kept as they are


class Rematerialized:
    """Stands for a saved tensor: unpacks to its array while that is alive, else to a recomputed one."""

    __slots__ = ("__weakref__", "_array", "_counter", "_shape", "_spec")

    def __init__(self, tensor: Tensor) -> None:
        self._array, self._counter = ref(tensor._data), tensor._counter
        self._shape, self._spec = tensor._shape, tensor._spec

    def made(self) -> Any:
        """Recompute the array."""
        raise TypeError(f"{type(self).__name__} has no made")

    def tensor(self) -> Tensor:
        array = self._array()
        if array is None:
            return alias(self.made(), self._spec, self._shape)
        out: Tensor = alias(array, self._spec, self._shape)
        out._counter = self._counter  # so that a write in place is noticed
        return out


def packed_for(tensor: Tensor, again: Rematerialized) -> Packed:
    """Return a `Packed` for a tensor at its present version that unpacks through `again`, without pack hooks."""
    packed: Packed = new_packed(Packed, tensor, None)
    packed.handle, packed.unpack = again, Rematerialized.tensor
    return packed
