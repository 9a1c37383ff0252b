"""Saved tensors that may be modified in place: copied just before the write.

A saved tensor is kept through a handle. The version counter of its storage refers weakly to the handles; an
in-place operation first copies the tensor of each.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from typing import Any

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
