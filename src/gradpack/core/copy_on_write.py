"""Saved tensors that may be modified in place: copied just before the write.

A saved tensor is kept through a handle. The version counter of its storage refers weakly to the handles; an
in-place operation first copies the tensor of each.

So does an `AliasCheck`, of what a pack hook was given: if the hook kept the tensor, an alias, a view or its array, a
later write reaches what it kept. That adds a reference to one of them: references are counted before and after the
hook. If there are more, something kept it, but perhaps not what is unpacked later (a hook may log the tensor and return
a copy). Comparing with the content from before the write shows whether the unpacked value was read after it.
"""

from __future__ import annotations

import gc
import weakref
from collections import defaultdict
from sys import getrefcount
from types import FunctionType, ModuleType
from typing import Any

from ..backends.memory_layout import owner_of
from ..backends.numpy import quiet
from ..base.modes import MODE
from .tensor import Tensor, alias


class CopyOnWrite:
    """The handle of one saved tensor at one version, shared by the nodes that save it."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)


class Mutation:
    """The object that `allow_mutation_on_saved_tensors` yields: the saved tensors of its block.

    Attributes:
        original: from handles to saved tensors whose storage was not written to.
        cloned: from handles to the copies of those whose storage was written to.
        tid_to_weakhandle: from a tensor and its version to its handle.
        sid_to_tid: from a storage and its version to the tensors saved of it.
    """

    def __init__(self) -> None:
        self.cloned: Any = weakref.WeakKeyDictionary()
        self.original: Any = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: Any = weakref.WeakValueDictionary()
        self.sid_to_tid: dict[tuple[int, int], set[tuple[int, int, int]]] = defaultdict(set)

    def clear(self) -> None:
        """Forget everything: graphs of this block cannot run backward any more."""
        self.cloned.clear()
        self.original.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()

    def keep(self, tensor: Tensor) -> CopyOnWrite:
        """Return the handle of a tensor that autograd saves."""
        counter: list[Any] = tensor._counter
        sid = (id(counter), counter[0])
        tid = (id(tensor), *sid)
        found: CopyOnWrite | None = self.tid_to_weakhandle.get(tid)
        if found is not None and found.tensor() is tensor and found in self.original:
            return found
        handle = self.tid_to_weakhandle[tid] = CopyOnWrite(tensor)
        self.sid_to_tid[sid].add(tid)
        self.original[handle] = alias(tensor._data, tensor._spec, tensor._shape)
        watch_writes(counter, handle, self)
        return handle

    def before_write(self, handle: CopyOnWrite) -> None:
        """Copy the saved tensor of a handle, before its storage is written to."""
        kept = self.original.pop(handle, None)
        if kept is not None:
            kept._data = kept._spec.backend.copy(kept._data)
            self.cloned[handle] = kept

    def unpack(self, handle: CopyOnWrite) -> Tensor:
        """Return the saved tensor of a handle: the copy, if its storage was written to."""
        if MODE.get().mutation is not None:
            found = self.cloned.get(handle)
            if found is None:
                found = self.original.get(handle)
            if found is not None:
                return found
        raise AssertionError(
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
            "in which the graph was originally recorded."
        )


def watch_writes(counter: list[Any], handle: Any, keeper: Any) -> None:
    """Let `keeper.before_write(handle)` be called before the next write to a storage, as long as both live."""
    counter[1:] = [entry for entry in counter[1:] if entry[0]() is not None]
    counter.append((weakref.ref(handle), weakref.ref(keeper)))


def before_write(counter: list[Any]) -> None:
    """Notify the keepers of a storage that it is about to be written to.

    Keepers are `Mutation`s, and other objects with a method `before_write(handle)`.
    """
    told = counter[1:]
    del counter[1:]
    for handle_ref, keeper_ref in told:
        handle, keeper = handle_ref(), keeper_ref()
        if handle is not None and keeper is not None:
            keeper.before_write(handle)


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
