"""A weak map from arrays to the `RecordedArray` that notes how they were computed."""

from __future__ import annotations

from typing import Any
from weakref import ref

from ...core.tensor import Tensor
from .recompute_graph import RecordedArray


class RecordedArrays:
    """The known values, by array; keeps no array alive."""

    __slots__ = ("__weakref__", "_known")

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[Any], RecordedArray]] = {}

    def find(self, tensor: Tensor) -> RecordedArray | None:
        """Return the value of a tensor; None if it is not known, or was modified in place since."""
        known = self._known.get(id(tensor._data))
        if known is None or known[0]() is not tensor._data:
            return None
        value = known[1]
        return value if value.counter is tensor._counter and value.counter[0] == value.version else None

    def take(self, tensor: Tensor) -> RecordedArray:
        """Return the value of an operand; a new one without a call if none is known."""
        found = self.find(tensor)
        if found is None:
            found = self.add(RecordedArray(tensor._data, tensor._spec, tensor._counter), tensor._data)
        return found

    def add(self, value: RecordedArray, array: Any) -> RecordedArray:
        key, known, me = id(array), self._known, ref(self)

        def died(gone: ref[Any]) -> None:
            notes = me()
            if notes is not None and key in notes._known and notes._known[key][0] is gone:
                del notes._known[key]

        known[key] = (ref(array, died), value)
        return value
