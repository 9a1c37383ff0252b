"""Finds what a function changes for good besides numbers and gradients of tensors: no program would do that again."""

from __future__ import annotations

import pickle
import random
import sys
from typing import Any

from ..core.tensor import Tensor
from ..graph.node import AccumulateGrad, OutputSlot
from .arguments import context
from .facts import facts_of
from .trees import containers, fields_of_new, parts_of


class Lasting:
    """Keeps what a function could change, as it is before it runs.

    Attributes:
        required: the arguments, by place, that require grad from now on: programs let them do so, too.

    Args:
        tensors: within its reach, with their names, the arguments first.
        arguments: nested ones.
        given: the places of the tensors that are arguments.
    """

    def __init__(self, tensors: list[tuple[Tensor, str]], arguments: Any, given: list[int]) -> None:
        self.given, self.required = given, list[int]()
        self.tensors = [(t, name, t._edge, facts_of(t), hooks_of(t)) for t, name in tensors]
        self.containers = [(c, parts_of(c)) for c in containers(arguments)]
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
        for i, ((tensor, name, edge, facts, _), (found, array)) in enumerate(zip(self.tensors, arrays, strict=True)):
            now = facts_of(tensor)
            if found is not array:
                return f"it gives {name} other memory, as `.data =`, `set_` or `resize_`: write to it by `copy_`"
            if edge is None and type(tensor._edge) is AccumulateGrad and i < len(self.given):
                self.required.append(self.given[i])
                now = (*now[:3], None, *now[4:])
            elif tensor._edge is not edge:
                return f"{name} gets a graph, or requires grad, inside of it: let it return a new tensor"
            if now != facts:
                return f"it changes the shape, the layout or an attribute of {name}: do so outside"
        for container, before in self.containers:
            if not _is_as(parts_of(container), before):
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
        known = {id(c) for c, *_ in self.containers}
        for each in containers(result, fields_of_new(seen)):
            if isinstance(each, tuple):
                continue
            if id(each) in seen or id(each) in known:
                return (
                    f"it returns a {type(each).__name__} that outlives the call, or one at two places: return a new one"
                )
            known.add(id(each))
        return ""


def _is_as(a: Any, b: Any) -> bool:
    """Return whether the parts of a container are those that it had."""
    if a is None or b is None or a[1] != b[1] or len(a[0]) != len(b[0]):
        return a is b
    return all(x is y for x, y in zip(a[0], b[0], strict=True))


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
