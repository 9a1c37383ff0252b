"""What memory tensors hold: now, by looking at all of them, and as it changes, by watching the arrays.

Counted are the arrays that own their memory: once each, however many tensors and views share one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from time import perf_counter_ns
from typing import Any

from .tensor import Tensor


def owner_of(array: Any) -> Any:
    """The array whose memory this one shows; itself if it is its own."""
    base = getattr(array, "base", None)
    while base is not None and hasattr(base, "nbytes") and hasattr(base, "shape"):
        array, base = base, getattr(base, "base", None)
    return array


def arrays_in(value: Any) -> Iterable[Any]:
    """The arrays of tensors, or arrays themselves, in a value or a sequence of values."""
    if isinstance(value, Tensor):
        yield value._data
    elif isinstance(value, list | tuple):
        for item in value:
            yield from arrays_in(item)
    elif hasattr(value, "nbytes") and hasattr(value, "shape"):
        yield value


class Tracker:
    """Watches arrays from when they are seen to when they are dropped.

    Args:
        tell: is called with each change in bytes, and its time in nanoseconds.
    """

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self.tell: Callable[[int, int], None] | None = tell
        self._held: dict[int, Any] = {}

    def know(self, values: Any) -> None:
        """Arrays that are there already: what is made from them as a view is no new memory."""
        for array in arrays_in(values):
            self._add(array, None)

    def see(self, values: Any, time: int) -> None:
        """Arrays that an operation gave, at a time in nanoseconds."""
        for array in arrays_in(list(values) if isinstance(values, list | tuple) else values):
            self._add(array, time)

    def _add(self, array: Any, time: int | None) -> None:
        owner = owner_of(array)
        key = id(owner)
        if key in self._held:
            return
        nbytes = int(owner.nbytes) if time is not None else 0
        tracker = weakref.ref(self)

        def gone(_: Any) -> None:
            this = tracker()
            if this is not None and this._held.pop(key, None) is not None and nbytes and this.tell is not None:
                this.tell(-nbytes, perf_counter_ns())

        try:
            self._held[key] = weakref.ref(owner, gone)
        except TypeError:  # arrays of a library that has none
            return
        if nbytes and time is not None and self.tell is not None:
            self.tell(nbytes, time)

    def close(self) -> None:
        """Stop watching."""
        self.tell = None
        self._held.clear()
