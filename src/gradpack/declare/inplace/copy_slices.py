"""The history of a tensor after a write through one of its views, and that of its views from then on.

Both need to know where the view lies in its base. For a subscript of ints and slices that is the
subscript; else it is a `Window`, found from addresses; and where a view reads the memory as another
dtype (`view_as_real`), the view is taken again.
"""

from __future__ import annotations

import weakref
from typing import Any

from ...backends import spec_of
from ...backends.memory_layout import Window, window
from ...base import late
from ...base.errors import saved_was_freed
from ...base.modes import MODE, VIEW_REPLAY, Mode
from ...core import views
from ...core.hooks import extras_of
from ...core.tensor import Tensor, View, alias, wrap
from ...core.views import chain_of
from ...graph.node import Node, next_seq
from ..op import REGISTRY

_PLAIN = Mode()


class Place:
    """Where a view lies in its base: a subscript of ints, slices, None and Ellipsis."""

    __slots__ = ("place", "shape", "zeros")

    def __init__(self, place: Any, shape: tuple[int, ...], zeros: Any) -> None:
        self.place, self.shape, self.zeros = place, shape, zeros

    def of_examples(self, count: int) -> Place:
        """Return the same place in each of `count` stacked bases."""
        place = self.place if isinstance(self.place, tuple) else (self.place,)
        return Place((slice(None), *place), (count, *self.shape), self.zeros)

    def within(self, whole: Any) -> tuple[Any, Any]:
        """Return a writable copy of an array, and the view of that copy."""
        copy = whole.copy()
        return copy, copy[self.place]

    def take(self, whole: Any) -> Any:
        return whole[self.place]

    def spread(self, part: Any) -> Any:
        """Zeros with `part` at the view: the transpose of taking it."""
        out = self.zeros(self.shape, dtype=part.dtype)
        out[self.place] = part
        return out


def where(tensor: Tensor, base: Tensor) -> Place | Window | list[View]:
    """Return where a view lies in its base, or the chain of view operations if that is not a subscript or window."""
    view: Any = tensor._view
    if VIEW_REPLAY.get() and not base._relaid and not tensor._relaid:
        return chain_of(tensor)
    if view.parent is base and not base._relaid and not tensor._relaid:
        op = getattr(view.replay, "op", None)
        if op is not None and "place" in op.params and base._spec.numpy:
            return Place(view.args[0], base._shape, base._spec.backend.xp.zeros)
    found = window(base._data, tensor._data)
    return chain_of(tensor) if found is None else found


def _remake(tensor: Tensor, base: Tensor) -> Node | None:
    """Return a new grad_fn for a view whose base was written to in place."""
    at = where(tensor, base)
    outer = MODE.get()
    try:
        MODE.set(_PLAIN)
        if isinstance(at, list):
            again = base
            for step in at:
                again = step.replayed(again)
            return again._edge
    finally:
        MODE.set(outer)
    return AsStridedBackward0(base._edge, at)


class AsStridedBackward0(Node):
    """The grad_fn of a view after its base was written to in place: it takes the part from the base."""

    __slots__ = ("at",)

    def __init__(self, base_edge: Node | None, at: Place | Window) -> None:
        self.edges, self.seq, self.extras = (base_edge,), next_seq(), None
        self.at = at

    def backward(self, g: Any, keep: bool) -> list[Any]:
        if self.edges[0] is None:
            return [None]
        return [spec_of(g).backend.body(REGISTRY["_part_spread"])(g, self.at)]

    def backward_graph(self, g: Any, keep: bool) -> list[Any]:
        return [None if self.edges[0] is None else REGISTRY["_part_spread"].public(g, self.at)]


class CopySlices(Node):
    """The grad_fn of a base after an in-place write through one of its views.

    The gradient of the base goes on to what the base was before, except for the part that was
    written: that goes through the node of the write.
    """

    __slots__ = ("at", "node", "whole")
    __module__ = "builtins"  # as torch has it

    def __init__(self, base: Tensor, node: Node, at: Place | Window | list[View]) -> None:
        base_edge = base._edge
        self.edges = (base_edge, *node.edges[1:])
        self.seq = next_seq()
        self.extras = None
        self.node: Any = node
        self.at: Any = [(step.replay, step.args) for step in at] if isinstance(at, list) else at
        self.whole: Any = (base._data, base._spec, base._shape) if isinstance(at, list) else None
        if hasattr(type(node), "out") or hasattr(type(node), "_forward_cls"):  # the node may have saved its result
            extras_of(node).outer = weakref.ref(self)

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def part(self) -> Node | None:
        """Return an edge for the part that was written: the new grad_fn of the view."""
        if not isinstance(self.at, list):
            return AsStridedBackward0(self, self.at)
        base = alias(*self.whole)
        base._edge = self
        return self._view(base)._edge

    def _view(self, source: Any) -> Any:
        for replay, args in self.at:
            source = replay(source, *args)
        return source

    def backward(self, g: Any, keep: bool) -> list[Any]:
        node = self.node
        if node is None or not keep:
            node = self._take_node(keep)
        if not hasattr(g, "__array_interface__"):
            return [x if x is None else x._data for x in self._graph(node, wrap(g), keep)]
        if isinstance(self.at, list):
            result = g.copy()
            part = self._view(result)
        else:
            result, part = self.at.within(g)
        gradients = list(node.backward(part.copy(), keep))
        if self.edges[0] is None:
            return [None, *gradients[1:]]
        part[...] = 0 if gradients[0] is None else gradients[0]
        return [result, *gradients[1:]]

    def backward_graph(self, g: Any, keep: bool) -> list[Any]:
        return self._graph(self._take_node(keep), g, keep)

    def _take_node(self, keep: bool) -> Any:
        node = self.node
        if node is None:
            raise saved_was_freed(self.name(), "node")
        if not keep:
            self.node = None
        return node

    def _graph(self, node: Any, g: Any, keep: bool) -> list[Any]:
        steps = isinstance(self.at, list)
        part = self._view(g) if steps else REGISTRY["_part_taken"].public(g, self.at)
        gradients = list(node.backward_graph(part, keep))
        result = None
        if self.edges[0] is not None:
            change = -part if gradients[0] is None else gradients[0] - part
            if steps:  # the transpose of taking the view
                whole = late.zeros_like(g)
                self._view(whole).copy_(change)
            result = g + (whole if steps else REGISTRY["_part_spread"].public(change, self.at))
        return [result, *gradients[1:]]

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_saved_", "_raw_saved_")):
            return getattr(self.node, name)
        raise AttributeError(f"'CopySlices' object has no attribute {name!r}")


views.remake = _remake  # type: ignore[assignment]
