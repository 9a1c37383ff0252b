"""A pool of pinned host memory, in slabs of exactly the requested sizes, which are reused.

Allocating pinned memory takes milliseconds, and it is not available to other processes: so slabs are kept, up to a
limit. Beyond it the pool returns pageable memory, from and to which copies are slower.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.memory_layout import owner_of
from ..finalizers import Finalized, FinalizedQueue

if TYPE_CHECKING:
    from ...backends.streams import Streams


class Slab:
    """A block of pinned memory.

    Attributes:
        memory: the whole block, as an array of uint8.
        event: recorded after the last copy from or to it; None before the first copy.
    """

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.event: Any = None


class Pool:
    """The pinned memory of one device.

    Attributes:
        total: pinned bytes, in use or not.
        made: how many slabs were allocated.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self.total = self.made = 0
        self._idle: OrderedDict[int, list[Slab]] = OrderedDict()  # by size, the least recently used size first
        self._lent: dict[int, Finalized] = {}  # arrays in slabs, by id
        self._endings = FinalizedQueue()
        self._lock = RLock()

    def take(self, nbytes: int, cap: int) -> Any:
        """Return an uninitialized uint8 array of `nbytes`, pinned unless the pool would then exceed `cap` bytes.

        The device may still use the memory: wait for `slab(array).event` before use. The slab is returned to the pool
        when the array and all views of it are gone.
        """
        with self._lock:
            self._settle()
            slab = self._slab(nbytes, cap)
            if slab is None:
                return np.empty(nbytes, np.uint8)
            array = np.frombuffer(memoryview(slab.memory), np.uint8)  # each loan is a storage of its own
            self._lent[id(array)] = self._endings.watch(array, (id(array), slab))
            return array

    def slab(self, array: Any) -> Slab | None:
        """Return the slab that an array is in, or None."""
        whole = owner_of(array)
        lent = self._lent.get(id(whole))
        return lent.data[1] if lent is not None and lent() is whole else None

    @property
    def in_use(self) -> int:
        """Pinned bytes in use."""
        with self._lock:
            self._settle()
            return sum(lent.data[1].memory.nbytes for lent in self._lent.values())

    def _slab(self, nbytes: int, cap: int) -> Slab | None:
        found = self._idle.get(nbytes)
        if found:
            self._idle.move_to_end(nbytes)
            return found.pop(0)  # the oldest, whose copies are most likely done
        self._shrink(cap - nbytes)
        if self.total + nbytes > cap:
            return None
        try:
            memory = self._streams.pinned(nbytes)
        except MemoryError:
            return None
        self.total += nbytes
        self.made += 1
        return Slab(memory)

    def _shrink(self, most: int) -> None:
        """Free unused slabs until at most `most` bytes are pinned or all are in use."""
        while self.total > most and self._idle:
            size, slabs = next(iter(self._idle.items()))
            if slabs:
                slab = slabs.pop(0)
                if slab.event is not None:
                    self._streams.synchronize(slab.event)
                self.total -= size
            if not slabs:
                del self._idle[size]

    def _settle(self) -> None:
        for lent in self._endings.over():
            key, slab = lent.data
            if self._lent.get(key) is lent:
                del self._lent[key]
            self._idle.setdefault(slab.memory.nbytes, []).append(slab)


def half_of_memory() -> int:
    """Return half of the machine's physical memory, in bytes; 16 GiB if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not available on this system
        return 16 << 30
