"""The memory that tensors hold: a snapshot of all of them, or changes, by tracking arrays.

Counted are the arrays that own their memory: once each, however many tensors and views share one.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import Any

from ..backends import spec_of
from ..backends.memory_layout import owner_of
from ..base.devices import device
from ..graph.node import Node
from .tensor import Tensor


def arrays_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """The arrays of tensors, or arrays, in a value, a sequence, and up to `depth` levels of gradpack's objects."""
    if isinstance(value, Tensor):
        value = getattr(value, "_data", None)  # while it is being constructed it has none
        value = getattr(value, "root", value)  # with all batch dimensions
    if isinstance(value, list | tuple):
        for item in value:
            yield from arrays_in(item, depth)
    elif hasattr(value, "nbytes") and hasattr(value, "shape") and not isinstance(value, type):
        yield value
    elif depth and type(value).__module__.startswith(_OURS) and not isinstance(value, Node):
        yield from kept_by(value, depth - 1)


def living(*kinds: type) -> Iterator[Any]:
    """Iterate over all objects of these classes that exist."""
    known: dict[type, bool] = {}
    for thing in gc.get_objects():
        kind = type(thing)
        if kind not in known:
            known[kind] = issubclass(kind, kinds)
        if known[kind]:
            yield thing


def held() -> dict[int, tuple[Any, device]]:
    """The arrays that all tensors, gradients and nodes hold now, with their devices, by id of the owner."""
    found: dict[int, tuple[Any, device]] = {}
    for thing in living(Tensor, Node):
        for array in arrays_in(thing) if isinstance(thing, Tensor) else kept_by(thing):
            owner = owner_of(array)
            if id(owner) not in found:
                found[id(owner)] = owner, spec_of(array).device
    return found


_NOT_SAVED = frozenset({"edges", "extras", "_like", "__weakref__", "__dict__", "seq", "node", "parent", "spec"})


def kept_by(thing: Any, depth: int = 3) -> Iterator[Any]:
    """The arrays in the slots of a node: its saved tensors, packed or not, and the gradient of a leaf."""
    names = [name for kind in type(thing).__mro__ for name in vars(kind).get("__slots__", ())]
    if not isinstance(thing, Node):
        names += getattr(thing, "__dict__", ())
    for name in names:
        if name not in _NOT_SAVED:
            yield from arrays_in(getattr(thing, name, None), depth)


_OURS = __name__.partition(".")[0] + "."


class Tracker:
    """Reports when arrays appear and when they are freed.

    Args:
        tell: is called with each change in bytes, its time in nanoseconds, and the device.
        all: count also arrays that are first seen as arguments, which no operation made.
    """

    def __init__(self, tell: Callable[[int, int, device], None], *, all: bool = False) -> None:
        self.tell: Callable[[int, int, device], None] | None = tell
        self.all = all
        self._held: dict[int, Any] = {}

    def know(self, values: Any) -> None:
        """Register arrays that exist already: views of them are no new memory."""
        for array in arrays_in(values):
            self._add(array, perf_counter_ns() if self.all else None)

    def see(self, values: Any, time: int) -> None:
        """Register arrays that an operation returned, at a time in nanoseconds."""
        for array in arrays_in(list(values) if isinstance(values, list | tuple) else values):
            self._add(array, time)

    def adopt(self) -> None:
        """Register all arrays that are held now."""
        time = perf_counter_ns()
        for owner, place in held().values():
            self._watch(owner, time, place)

    def _add(self, array: Any, time: int | None) -> None:
        owner = owner_of(array)
        if id(owner) not in self._held:
            self._watch(owner, time, spec_of(array).device)

    def _watch(self, owner: Any, time: int | None, place: device) -> None:
        key = id(owner)
        nbytes = int(owner.nbytes) if time is not None else 0
        tracker = weakref.ref(self)

        def gone(_: Any) -> None:
            this = tracker()
            if this is not None and this._held.pop(key, None) is not None and nbytes and this.tell is not None:
                this.tell(-nbytes, perf_counter_ns(), place)

        try:
            self._held[key] = weakref.ref(owner, gone)
        except TypeError:  # arrays that do not support weak references
            return
        if nbytes and time is not None and self.tell is not None:
            self.tell(nbytes, time, place)

    def close(self) -> None:
        """Stop watching."""
        self.tell = None
        self._held.clear()
