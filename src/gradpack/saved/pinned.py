"""Pinned memory, in slabs of exactly the sizes that were asked for, which are used again and again.

Asking the system for it takes milliseconds, and what is pinned is lost to everybody else: so slabs are kept, and
there is a limit to them. Beyond it, there is memory that is not pinned: copies from and to it are slower.
"""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .storage import owner

if TYPE_CHECKING:
    from ..backends.streams import Streams


class Slab:
    """A piece of pinned memory.

    Attributes:
        memory: all of it, an array of uint8.
        event: when the device is done with it; None if it never had to do with it.
    """

    __slots__ = ("event", "memory")

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.event: Any = None


class _Lent(ref[Any]):
    """A weak reference to an array that shows a slab. Its end is that of the loan."""

    __slots__ = ("key", "slab")

    key: int
    slab: Slab


class Pool:
    """The pinned memory of one device.

    Attributes:
        total: bytes that are pinned, in use or not.
        made: how many slabs were asked of the system.
    """

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self.total = self.made = 0
        self._idle: OrderedDict[int, list[Slab]] = OrderedDict()  # by size, those not used for longest first
        self._lent: dict[int, _Lent] = {}
        self._ended: deque[_Lent] = deque()  # arrays die at any moment, in any thread: so this is but a note
        self._lock = RLock()

    def take(self, nbytes: int, cap: int) -> Any:
        """An array of `nbytes` uint8 with any content. It is pinned, unless that were more than `cap` in all.

        The device may still use the memory: `slab(array).event` says until when. It goes back when nothing shows it
        any more.
        """
        with self._lock:
            self._settle()
            slab = self._slab(nbytes, cap)
            if slab is None:
                return np.empty(nbytes, np.uint8)
            array = np.frombuffer(memoryview(slab.memory), np.uint8)  # its own owner, for those who count memory
            lent = _Lent(array, self._ended.append)
            lent.key, lent.slab = id(array), slab
            self._lent[lent.key] = lent
            return array

    def slab(self, array: Any) -> Slab | None:
        """The slab in which an array lies, if it lies in one."""
        whole = owner(array)
        lent = self._lent.get(id(whole))
        return lent.slab if lent is not None and lent() is whole else None

    @property
    def in_use(self) -> int:
        """Bytes that are lent."""
        with self._lock:
            self._settle()
            return sum(lent.slab.memory.nbytes for lent in self._lent.values())

    def _slab(self, nbytes: int, cap: int) -> Slab | None:
        found = self._idle.get(nbytes)
        if found:
            self._idle.move_to_end(nbytes)
            return found.pop(0)  # the one that the device is most likely to be done with
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
        """Give slabs back to the system that nobody uses, until there are `most` bytes or all are in use."""
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
        while self._ended:
            lent = self._ended.popleft()
            if self._lent.get(lent.key) is lent:
                del self._lent[lent.key]
            self._idle.setdefault(lent.slab.memory.nbytes, []).append(lent.slab)


def half_of_memory() -> int:
    """Half of what the machine has, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # a system that does not say
        return 16 << 30
