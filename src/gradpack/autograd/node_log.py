"""What the logger `gradpack.autograd.graph` is told at level DEBUG: the nodes that a backward pass runs, in order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..backends import spec_of
from ..graph.node import Node, Nowhere, Origin, Part, Slot
from ..tensor.tensor import Tensor

_DEBUG = 10
_HIDDEN = (Slot, Nowhere, Origin)  # stand for edges, and are no nodes to users
_found: list[Any] = []  # the logger, once somebody has imported logging


def is_wanted() -> bool:
    """Whether somebody listens."""
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
    """Observes the nodes of a backward pass: tells the logger, and another observer if there is one."""

    named = note = None

    def __init__(self, other: Any) -> None:
        self._other = other

    def start(self, node: Node, g: Any) -> None:
        """A node begins to run."""
        _tell(node, g)
        if self._other is not None:
            self._other.start(node, g)

    def end(self, grads: Any) -> None:
        """It has run."""
        if self._other is not None:
            self._other.end(grads)

    def serving(self, serve: Callable[..., None]) -> Callable[..., None]:
        """What serves a leaf."""
        if self._other is not None:
            serve = self._other.serving(serve)

        def served(leaf: Node, g: Any, create_graph: bool, wanted: Any, capture: bool) -> None:
            if wanted is None or (leaf in wanted and not capture):
                _tell(leaf, g)
            serve(leaf, g, create_graph, wanted, capture)

        return served

    def close(self) -> None:
        """The pass is over."""
        if self._other is not None:
            self._other.close()
