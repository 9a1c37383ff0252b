"""Debug logging to `gradpack.autograd.graph`: the nodes that a backward pass runs, in order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..backends import spec_of
from ..core.tensor import Tensor
from ..graph.node import Node, Nowhere, Origin, Part, Slot

_DEBUG = 10
_HIDDEN = (Slot, Nowhere, Origin)  # represent edges, hidden from users
_found: list[Any] = []  # the logger, once `logging` is imported


def is_wanted() -> bool:
    """Whether the logger is enabled for DEBUG."""
    if _found:
        return bool(_found[0].isEnabledFor(_DEBUG))
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return False
    _found.append(logging.getLogger("gradpack.autograd.graph"))
    return is_wanted()


def _shown(g: Any) -> str:
    if g is None:
        return "None"
    spec = g._spec if isinstance(g, Tensor) else spec_of(g)
    return f"{spec.dtype.abbr}[{', '.join(map(str, g.shape))}]"


def _tell(node: Node, g: Any) -> None:
    if not isinstance(node, _HIDDEN):
        given = ",".join(map(_shown, g if isinstance(g, Part) else (g,)))
        _found[0].debug(f"Executing: {node.settled()} with grad_outputs: [{given}]")


class LoggedPass:
    """Observer of a backward pass that logs its nodes, and forwards to another observer if there is one."""

    named = note = None

    def __init__(self, other: Any) -> None:
        self._other = other

    def start(self, node: Node, g: Any) -> None:
        """Called before a node runs."""
        _tell(node, g)
        if self._other is not None:
            self._other.start(node, g)

    def end(self, grads: Any) -> None:
        """Called after a node has run."""
        if self._other is not None:
            self._other.end(grads)

    def serving(self, serve: Callable[..., None]) -> Callable[..., None]:
        """Wrap the function that accumulates into a leaf."""
        if self._other is not None:
            serve = self._other.serving(serve)

        def served(leaf: Node, g: Any, create_graph: bool, wanted: Any, capture: bool) -> None:
            if wanted is None or (leaf in wanted and not capture):
                _tell(leaf, g)
            serve(leaf, g, create_graph, wanted, capture)

        return served

    def close(self) -> None:
        """Called at the end of the pass."""
        if self._other is not None:
            self._other.close()
