"""A weak map from arrays to the `RecordedArray` that notes how they were computed."""

from __future__ import annotations

from ...core.tensor import Tensor
from ..storage import WeakIdentityMap
from .recompute_graph import RecordedArray


class RecordedArrays(WeakIdentityMap[RecordedArray]):
    """The known values, by array; keeps no array alive."""

    def find(self, tensor: Tensor) -> RecordedArray | None:
        """Return the value of a tensor; None if it is not known, or was modified in place since."""
        value = self.get(tensor._data)
        fresh = value is not None and value.counter is tensor._counter and value.counter[0] == value.version
        return value if fresh else None

    def take(self, tensor: Tensor) -> RecordedArray:
        """Return the value of an operand; a new one without a call if none is known."""
        found = self.find(tensor)
        if found is None:
            found = self.set(tensor._data, RecordedArray(tensor._data, tensor._spec, tensor._counter))
        return found
