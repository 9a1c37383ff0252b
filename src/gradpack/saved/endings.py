"""Notes of what has died, taken without running any code of Python's.

A `__del__` may run at any moment, and so may an interrupt of the program: one that comes just then is lost together
with whatever the `__del__` was to do. The callback of a weak reference that is a method written in C is not
interrupted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any
from weakref import ref


class Ending(ref[Any]):
    """A weak reference to what may die, and what is to be known then."""

    __slots__ = ("told",)

    told: Any


class Endings:
    """What lives, and what has died since somebody asked."""

    __slots__ = ("_alive", "_over")

    def __init__(self) -> None:
        self._alive: dict[int, Ending] = {}
        self._over: deque[Ending] = deque()

    def watch(self, thing: Any, told: Any) -> Ending:
        """Note when `thing` has died, with `told`."""
        ending = Ending(thing, self._over.append)
        ending.told = told
        self._alive[id(ending)] = ending
        return ending

    def over(self) -> Iterator[Ending]:
        """Those of what has died; each once."""
        while self._over:
            ending = self._over.popleft()
            self._alive.pop(id(ending), None)
            yield ending
