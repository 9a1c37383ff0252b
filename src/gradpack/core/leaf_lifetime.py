"""Leaves that the user has dropped while a graph still leads to them.

A tensor holds its node, and the node its tensor only weakly, or there would be a cycle. When the tensor
is freed, its array moves to the node, which can recreate the tensor.
"""

from __future__ import annotations

import weakref
from typing import Any


class LeafState:
    """Held by a leaf; replaces the weak reference in the leaf's node when the leaf is freed."""

    __slots__ = ("data", "kind", "node", "recreated", "shape", "spec")

    def __init__(self, tensor: Any, node: Any) -> None:
        self.kind = type(tensor)
        self.node = weakref.ref(node)
        self.recreated: Any = None
        self.follow(tensor)

    def follow(self, tensor: Any) -> None:
        """Record the array that the tensor has now."""
        self.data, self.spec, self.shape = tensor._data, tensor._spec, tensor._shape

    def __del__(self) -> None:
        try:
            node = self.node()
        except AttributeError:  # interrupted before `node` was set
            return
        if node is not None:
            node.tensor = self

    def __call__(self) -> Any:
        """Return the leaf, recreated on its array: the same object while one is alive."""
        tensor = None if self.recreated is None else self.recreated()
        if tensor is None:
            from .tensor import alias

            tensor = alias(self.data, self.spec, self.shape, self.kind)
            tensor._edge = self.node()
            self.recreated = weakref.ref(tensor)
        return tensor
