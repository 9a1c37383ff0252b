"""What a function changes for good besides numbers and gradients of tensors: no program would do that again."""

from __future__ import annotations

import pickle
import random
import sys
from typing import Any

from ..base.tree import SUPPORTED_NODES, node_type
from ..core.tensor import Tensor
from ..graph.node import OutputSlot
from .facts import facts_of
from .turn import context


class Lasting:
    """What a function could change, as it is before it runs.

    Args:
        tensors: within its reach, with their names.
        arguments: nested ones.
    """

    def __init__(self, tensors: list[tuple[Tensor, str]], arguments: Any) -> None:
        self.tensors = [(t, name, t._edge, facts_of(t), hooks_of(t)) for t, name in tensors]
        self.containers = [(c, *_parts(c)) for c in containers(arguments)]
        self.context = context()
        self.drawn = _drawn()

    def hooked(self) -> str:
        """Return which tensor has other hooks now, or ""."""
        return next((name for t, name, _, _, hooks in self.tensors if hooks_of(t) != hooks), "")

    def changed(self, arrays: list[Any]) -> str:
        """Return what the function did that a program would not, or "".

        Args:
            arrays: those that the tensors have to have.
        """
        for (tensor, name, edge, facts, _), (found, array) in zip(self.tensors, arrays, strict=True):
            if found is not array:
                return f"it gives {name} other memory, as `.data =`, `set_` or `resize_`: write to it by `copy_`"
            if tensor._edge is not edge:
                return f"{name} gets a graph, or requires grad, inside of it: let it return a new tensor"
            if facts_of(tensor) != facts:
                return f"it changes the shape, the layout or an attribute of {name}: do so outside"
        for container, parts, structure in self.containers:
            now, structure_now = _parts(container)
            if structure_now != structure or len(now) != len(parts) or any(a is not b for a, b in zip(now, parts)):  # noqa: B905
                return f"it changes a {type(container).__name__} among its arguments: return a new one"
        if context() != self.context:
            return "it leaves another grad mode, default dtype or setting of algorithms behind: change it outside"
        if _drawn() != self.drawn:
            return "it draws random numbers of Python's or NumPy's: draw them outside, or by `torch.rand`"
        return ""

    def returned(self, result: Any, seen: dict[int, Any]) -> str:
        """Return which container of a result is one that the function was given, or that it can reach, or "".

        Args:
            seen: what it can reach, by identity.
        """
        given = {id(c) for c, *_ in self.containers}
        held = (c for c in containers(result) if not isinstance(c, tuple) and (id(c) in given or id(c) in seen))
        return next((f"it returns a {type(c).__name__} that outlives the call: return a new one" for c in held), "")


def containers(value: Any) -> list[Any]:
    """Return the lists, dicts and the like in nested values, and these themselves."""
    kind = node_type(value)
    if kind not in SUPPORTED_NODES:
        return []
    return [value, *[c for part in SUPPORTED_NODES[kind].flatten_fn(value)[0] for c in containers(part)]]


def _parts(container: Any) -> tuple[list[Any], Any]:
    parts, structure = SUPPORTED_NODES[node_type(container)].flatten_fn(container)
    return list(parts), list(structure) if isinstance(structure, list) else structure


def hooks_of(tensor: Tensor) -> list[Any]:
    """Return what runs when a tensor gets its gradient, by the numbers of hooks."""
    edge = tensor._edge
    node = edge.parent if isinstance(edge, OutputSlot) else edge
    extras = None if node is None else node.extras
    if extras is None:
        return []
    kinds = [*(extras.tensor_hooks or {}).values(), extras.retained, extras.pre, extras.post, extras.accumulated]
    return [tuple(hooks) for hooks in kinds if hooks]


def _drawn() -> tuple[Any, bytes | None]:
    """Return the states of the random numbers of Python and NumPy."""
    module = sys.modules.get("numpy.random")
    return random.getstate(), None if module is None else pickle.dumps(module.get_state(legacy=False))
