"""The memory of a simulated device: an arena of a fixed capacity, handed out in blocks.

A block is free when nothing refers to it any more. As in the allocators of real devices, that says
nothing about streams: a block that another stream still uses may be handed out again at once, and
what is read from it then is not what was written. `streams.py` finds that out.
"""

from __future__ import annotations

import bisect
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.errors import OutOfMemoryError

GRAIN = 512  # blocks are of whole grains, as those of device allocators are


class Block:
    """A part of an arena, given back when the last array in it is gone."""

    __slots__ = ("__weakref__", "arena", "home", "readers", "recorded", "size", "start", "writer")

    def __init__(self, arena: Arena, start: int, size: int, home: int) -> None:
        self.arena, self.start, self.size = arena, start, size
        self.home = home  # the stream that asked for it
        self.writer: tuple[int, int] | None = None  # which stream wrote to it last, and when
        self.readers: dict[int, int] = {}  # which streams have read it since, and when
        self.recorded: set[int] = set()  # streams that it is not to be reused before

    def __del__(self) -> None:
        self.arena.release(self)


class Arena:
    """Memory of a fixed capacity.

    Attributes:
        used: bytes in blocks now.
        peak: the most there were since `reset_peak`.
    """

    def __init__(
        self, name: str, capacity: int, lock: Any, on_release: Callable[[Block], bool], on_full: Callable[[], None]
    ) -> None:
        self.name, self.capacity = name, capacity
        self.bytes = np.zeros(capacity, np.uint8)
        self._buffer: Any = self.bytes
        self.address: int = self.bytes.__array_interface__["data"][0]
        self.used = self.peak = self.count = 0
        self._gaps = [(0, capacity)]  # start and size, in order
        self._lock = lock  # one that a thread may take again: blocks die in any, and while this one holds it
        self._on_release, self._on_full = on_release, on_full

    def allocate(self, size: int, home: int) -> Block:
        """A block of at least `size` bytes, whose content is whatever was there.

        Raises:
            OutOfMemoryError: if no gap is large enough.
        """
        wanted = max(GRAIN, -(-size // GRAIN) * GRAIN)
        with self._lock:
            start = self._take(wanted)
            if start is None:
                self._on_full()  # as device allocators do: what waits for other streams only may come back
                start = self._take(wanted)
            if start is None:
                largest = max((room for _, room in self._gaps), default=0)
                raise OutOfMemoryError(
                    f"{self.name} out of memory. Tried to allocate {wanted} bytes: {self.used} of {self.capacity} are "
                    f"in use, and the largest gap is {largest}"
                )
            self.used += wanted
            self.peak = max(self.peak, self.used)
            self.count += 1
        return Block(self, start, wanted, home)

    def _take(self, wanted: int) -> int | None:
        for i, (start, room) in enumerate(self._gaps):
            if room >= wanted:
                self._gaps[i : i + 1] = [] if room == wanted else [(start + wanted, room - wanted)]
                return start
        return None

    def release(self, block: Block) -> None:
        """Make room of a block that nothing refers to."""
        if self._on_release(block):
            self.free(block.start, block.size)

    def free(self, start: int, size: int) -> None:
        with self._lock:
            self.used -= size
            self.bytes[start : start + size] = 0xFF  # NaN in every floating-point format, so that use after free shows
            i = bisect.bisect(self._gaps, (start, 0))
            if i < len(self._gaps) and self._gaps[i][0] == start + size:
                size += self._gaps.pop(i)[1]
            if i and sum(self._gaps[i - 1]) == start:
                start, before = self._gaps.pop(i - 1)
                size += before
                i -= 1
            self._gaps.insert(i, (start, size))

    def array(self, block: Block, shape: tuple[int, ...], native: Any, strides: Any = None, offset: int = 0) -> Any:
        """A NumPy array in the memory of a block."""
        # Through ctypes, so that the arena does not look like an array that this one is a view of.
        memory: Any = (ctypes.c_char * block.size).from_buffer(self._buffer, block.start)
        return np.ndarray(shape, native, memory, offset, strides)

    def holds(self, array: Any) -> bool:
        """Whether a NumPy array lies in the arena."""
        return 0 <= array.__array_interface__["data"][0] - self.address < self.capacity

    def reset_peak(self) -> None:
        self.peak = self.used
