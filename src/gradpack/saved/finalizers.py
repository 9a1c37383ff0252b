"""Notes of objects that have died, taken without running Python code at their death.

A `__del__` may run at any moment. A KeyboardInterrupt that arrives inside of it is discarded, and so is the rest of
the `__del__`. A weak reference whose callback is a C method, `deque.append`, cannot be interrupted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any
from weakref import ref


class Finalized(ref[Any]):
    """A weak reference to an object, with data (`data`) to use after its death."""

    __slots__ = ("data",)

    data: Any


class FinalizedQueue:
    """A set of watched objects, and a queue of those that have died."""

    def __init__(self) -> None:
        self._alive: dict[int, Finalized] = {}
        self._over: deque[Finalized] = deque()

    def watch(self, thing: Any, data: Any) -> Finalized:
        """Watch `thing`: after its death `over` yields the returned `Finalized`, which holds `data`."""
        ending = Finalized(thing, self._over.append)
        ending.data = data
        self._alive[id(ending)] = ending
        return ending

    def over(self) -> Iterator[Finalized]:
        """Iterate over the endings of objects that have died, and remove them: each is yielded once."""
        while self._over:
            ending = self._over.popleft()
            self._alive.pop(id(ending), None)
            yield ending
