"""Taking back what a program did."""

from __future__ import annotations

from typing import Any

from ..graph.node import AccumulateGrad
from ..ops.random.generator import default_generator
from .facts import grad_of, version_of
from .program import Instruction


class Undo:
    """Copies of all that a program may write to, and states of the generators that it may draw from."""

    def __init__(
        self, instructions: list[Instruction], tensors: list[Any], arrays: list[Any], generators: list[Any]
    ) -> None:
        self.arrays = [(a, a.copy()) for a in arrays]
        self.counters = [(t, version_of(t)) for t in tensors]
        self.grads = [(t, grad_of(t)) for t in tensors]
        self.more: list[Any] = []
        for each in instructions:
            if each.kind == "update":
                function: Any = each.function
                self.more += function.keywords["tensors"]
        self.grads += [(t, grad_of(t)) for t in self.more]
        self.more = [(t, t._data.copy(), version_of(t)) for t in self.more]
        self.states = [(g, g.get_state()) for g in {id(g): g for g in (default_generator, *generators)}.values()]

    def restore(self) -> None:
        for array, copy in self.arrays:
            if array.flags.writeable:
                array[...] = copy
        for tensor, count in self.counters:
            tensor._counter[0] = count
        for tensor, data, count in self.more:
            tensor._data[...] = data
            tensor._counter[0] = count
        for tensor, grad in self.grads:
            edge = tensor._edge
            if type(edge) is AccumulateGrad:
                edge.grad = grad
            else:
                tensor._own_grad = grad
        for generator, state in self.states:
            generator.set_state(state)
