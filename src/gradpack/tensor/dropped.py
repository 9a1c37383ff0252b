"""Leaves that the user has dropped while a graph still leads to them.

A tensor holds its node and the node its tensor only weakly: the other way round too would be a
cycle. When the tensor goes, what is left of it goes to the node, which can make it again.
"""

from __future__ import annotations

import weakref
from typing import Any


class Remains:
    """Held by a leaf; moves into the leaf's node, in place of its weak reference, when the leaf dies."""

    __slots__ = ("again", "data", "kind", "node", "shape", "spec")

    def __init__(self, tensor: Any, node: Any) -> None:
        self.kind = type(tensor)
        self.node = weakref.ref(node)
        self.again: Any = None
        self.follow(tensor)

    def follow(self, tensor: Any) -> None:
        """Take over the array that the tensor has now."""
        self.data, self.spec, self.shape = tensor._data, tensor._spec, tensor._shape

    def __del__(self) -> None:
        try:
            node = self.node()
        except AttributeError:  # the program was interrupted before there was one
            return
        if node is not None:
            node.tensor = self

    def __call__(self) -> Any:
        """The leaf, made again: the same object for as long as somebody holds it."""
        tensor = None if self.again is None else self.again()
        if tensor is None:
            from .tensor import alias

            tensor = alias(self.data, self.spec, self.shape, self.kind)
            tensor._edge = self.node()
            self.again = weakref.ref(tensor)
        return tensor
