"""The edge of results whose graph went with the backward pass inside of a program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..base.errors import saved_was_freed
from ..graph.node import Node, next_seq


class CompiledFunctionBackward(Node):
    """A node whose backward has run."""

    __slots__ = ()

    label = "CompiledFunctionBackward"

    def backward(self, g: Any, keep: bool) -> Iterable[Any]:
        raise saved_was_freed(self.label, "saved tensors of the program")

    backward_graph = backward


def freed_edge() -> CompiledFunctionBackward:
    """Return a node that raises the error of a second backward pass."""
    node = CompiledFunctionBackward()
    node.seq, node.edges, node.extras = next_seq(), (), None
    return node
