"""Information on the current backward pass: the running node, and the execution order."""

from __future__ import annotations

import sys
from collections import Counter
from operator import attrgetter
from typing import Any

from ..base.modes import MODE, RUN
from ..graph import engine
from ..graph.node import AccumulateGrad, Node, OutputSlot

# The local variables of the engine's functions that hold the running node. To store it elsewhere would slow down every
# node of every pass; searching the frames costs time only on request.
_HOLDERS = {engine.run.__code__: "node", engine.GraphTask.serve.__code__: "leaf"}


def current_node() -> Node | None:
    """Return the node that the current backward pass runs, else None. Tensor hooks run before their node does."""
    if RUN.get() is None:
        return None
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = _HOLDERS.get(frame.f_code)
        if name is not None:
            node = frame.f_locals.get(name)
            return node.settled() if isinstance(node, Node) else None
        frame = frame.f_back
    return None


def execution_order() -> list[Node]:
    """Return the nodes of the current backward pass, in the order of execution.

    Raises:
        RuntimeError: outside of a pass, or where several threads may take part in it.
    """
    this = RUN.get()
    if this is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    if MODE.get().threads:
        raise RuntimeError(
            "_current_graph_task_execution_order expects the current backward to be executed with multithreading "
            "disabled, e.g. by running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n...     "
            "torch.autograd.grad(...)\n"
        )
    roots = dict.fromkeys(e.parent if isinstance(e, OutputSlot) else e for e in this.roots)
    seen, uses = dict(roots), Counter[Node]()
    nodes = list(seen)
    for node in nodes:  # `nodes` grows during the loop
        for edge in _edges(node, this.needed):
            uses[edge] += 1
            if edge not in seen:
                seen[edge] = None
                nodes.append(edge)
    order: list[Node] = [node for node in roots if isinstance(node, AccumulateGrad) and not uses[node]]
    for node in sorted((n for n in nodes if not isinstance(n, AccumulateGrad)), key=attrgetter("seq")):
        order.append(node.settled())
        for edge in _edges(node, this.needed):
            uses[edge] -= 1
            if isinstance(edge, AccumulateGrad) and not uses[edge]:
                order.append(edge)
    return order


def _edges(node: Node, needed: set[Node] | None) -> list[Node]:
    """The nodes that receive gradients of a node in this pass, without slots."""
    found = [e.parent if isinstance(e, OutputSlot) else e for e in node.edges if e is not None]
    return found if needed is None else [e for e in found if e in needed]
