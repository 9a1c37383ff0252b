"""Detects whether what a pack hook kept shares memory with the tensor, so that a later in-place write reaches it.

A hook that keeps the tensor, an alias, a view or its array adds a reference to one of them: references are
counted before and after the hook. If there are more, something kept it, but perhaps not what is unpacked later (a
hook may log the tensor and return a copy). So the content is copied at the first write, and comparing with that
copy shows whether the unpacked value was read before the write or after it.
"""

from __future__ import annotations

import gc
import weakref
from sys import getrefcount
from types import FunctionType, ModuleType
from typing import Any

from ..backends.memory_layout import owner_of
from ..backends.numpy import quiet
from .copy_on_write import watch_writes
from .tensor import Tensor

_MOST = 1000  # objects to look at in what a pack hook returned


def references_to_memory(data: Any) -> int:
    """How many references there are to the array that owns the memory of another one."""
    return getrefcount(owner_of(data))


class AliasCheck:
    """Tells whether an unpacked value is stale, where something kept the tensor that a pack hook was given."""

    __slots__ = ("__weakref__", "_array", "_before", "_kept")

    def __init__(self, tensor: Tensor, memory: bool) -> None:
        self._array = weakref.ref(tensor._data)
        self._kept = weakref.ref(owner_of(tensor._data)) if memory else self._array
        self._before: Any = None

    def is_about(self, array: Any, memory: bool) -> bool:
        """Whether this is for `array`, not written to since."""
        return self._array() is array and self._before is None and memory is (self._kept is not self._array)

    def before_write(self, alias_check: AliasCheck) -> None:
        """Copy the content: it is about to be written to."""
        array = self._array()
        if array is not None:
            self._before = array.copy()

    def is_stale(self, result: Tensor, handle: Any, counter: list[Any]) -> bool:
        """Whether `result`, unpacked from `handle` after a write, was read from the modified storage."""
        if self._kept() is None:  # the reference that was kept is gone
            return False
        array, before = self._array(), self._before
        if before is None:
            return True
        found = result._data
        if array is None:
            return _distance(found, before) > 0
        now, then = _distance(found, array), _distance(found, before)
        return now < then or (now == then and _holds(handle, counter, owner_of(array)))


def alias_check_of(tensor: Tensor, memory: bool) -> AliasCheck | None:
    """Return an `AliasCheck` on a packed tensor, notified of the next write to it; None for immutable arrays.

    Args:
        tensor: the tensor that something kept.
        memory: whether what was kept is the owner of the array's memory.
    """
    backend = tensor._spec.backend
    if not backend.mutable or not hasattr(tensor._data, "strides"):
        return None
    counter: list[Any] = tensor._counter
    last = counter[-1][0]() if len(counter) > 1 else None
    if type(last) is AliasCheck and last.is_about(tensor._data, memory):
        return last  # the tensor is saved again
    alias_check = AliasCheck(tensor, memory)
    watch_writes(counter, alias_check, alias_check)
    return alias_check


def _distance(a: Any, b: Any) -> float:
    """The sum of the absolute differences of two arrays of the same shape, leaving out NaN."""
    with quiet():
        apart = abs(a.astype("c16") - b.astype("c16"))
        return float(apart[apart >= 0].sum())  # without NaN


def _holds(value: Any, counter: list[Any], memory: Any) -> bool:
    """Whether what a pack hook returned refers to a tensor or an array of this memory."""
    left, seen = [value], {0}
    while left and len(seen) < _MOST:
        item = left.pop()
        if id(item) in seen or isinstance(item, type | ModuleType):
            continue
        seen.add(id(item))
        if isinstance(item, Tensor):
            if item._counter is counter:
                return True
        elif hasattr(item, "strides"):
            if owner_of(item) is memory:
                return True
        elif type(item) is FunctionType:
            left += [*(item.__closure__ or ()), *(item.__defaults__ or ())]
        else:
            left += gc.get_referents(item)
    return False
