"""The tensors of a program: what has to hold for them, their arrays for JAX, and what they get."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import jax
import jax.numpy as jnp

from ...backends.memory_layout import _array_type
from ...base.tree import tree_unflatten
from ...core.tensor import Tensor
from ...graph.node import AccumulateGrad
from ..facts import Kept, Result, Source, facts_of, grad_of, hold, is_steady, kin_of, memory_of, own_of
from ..freed import freed_edge
from ..graphs import noder
from ..turn import moving_facts
from .deferred import CLASSES, counter_of, edge_of, held_by, is_shared, new, put
from .graph import backward_program
from .placement import Placement, names_of
from .program import JaxProgram
from .updates import keywords_of

_DEFERRED = frozenset(CLASSES.values())


def _is_like(tensor: Any, known: Any) -> bool:
    """Return whether a deferred tensor has the facts that it had; it lies in memory as JAX likes."""
    shape, _, spec, kind, _, _, own = known
    edge = edge_of(tensor)
    if (kind is None) != (edge is None) or (kind is True and edge.extras is not None):
        return False
    return bool(tensor._shape == shape and tensor._spec is spec and own_of(tensor) == own)


class Binding:
    """A program, and the tensors that it works on.

    Args:
        placement: where its arrays lie.
        with_grads: whether parameters keep the gradients that optimizers are given.

    Attributes:
        grads: as those of `kept`, with the gradients that optimizers are given.
        given: how many of them these are, at the end.
        counts: how many writes each captured tensor gets by a call: their versions go up by that.
    """

    def __init__(self, kept: Kept, placement: Placement, with_grads: bool = True) -> None:
        self.kept, self.placement = kept, placement
        outputs, self.grads = list(kept.program.outputs), list(kept.grads)
        listed = {id(source.tensor) for source, _ in kept.grads}
        for each in kept.program.instructions:
            if each.kind == "update" and with_grads:
                for p, v in zip(keywords_of(each)["params"], each.args, strict=True):
                    if v is not None and id(p) not in listed:
                        self.grads.append((Source(p, -1, False), len(outputs)))
                        outputs.append(v)
        self.given = len(self.grads) - len(kept.grads)
        self.program = JaxProgram(kept.program._replace(outputs=outputs))
        of = dict(zip(kept.program.state, kept.facts.given, strict=True))
        self.sources = [
            Source(tensor, -1, False) if tensor is not None else of[v]
            for v, tensor in zip(self.program.given, self.program.tensors, strict=True)
        ]
        self._captured: list[Any] = [s.tensor for s in kept.sources if is_steady(s)]
        self._edges = [edge_of(t) for t in self._captured]
        self._arrays: list[Any] | None = None  # of the captured tensors after the last call
        self._rest: Callable[[list[Tensor]], bool]
        self._owners: frozenset[int] | None = None
        if kept.backward is not None:
            self.backward = backward_program(kept.backward)
            self.nodes = noder(kept.backward, self.backward)
        self.steady = False  # whether its calls leave its guards as they were
        self.scans: dict[int, Any] = {}  # of `many`, by the identity of a trace
        self.counts: list[tuple[Tensor, int]] = []
        self.specs: list[tuple[Any, tuple[int, ...]]] = []
        self.shardings: list[Any] = [None] * len(self.sources)

    def holds(self, inputs: list[Tensor]) -> bool:
        """Return whether the facts of tensors are as they were: at once where tensors have the arrays that they had."""
        arrays = list(map(held_by, self._captured))
        if self._arrays is not None and all(map(is_, arrays, self._arrays)):
            return all(map(is_, map(edge_of, self._captured), self._edges)) and self._rest(inputs)
        facts = self.kept.facts
        for source, known in zip(facts.sources, facts.facts, strict=True):
            captured: Any = source.tensor
            if is_steady(source) and type(captured) in _DEFERRED:
                if not _is_like(captured, known):
                    return False
            elif not (source.grad and source.tensor is not None) and not hold(facts_of(source.now(inputs)), known):
                return False
        self._own(arrays)
        if not self._rest(inputs) or kin_of(facts.sources, inputs) != facts.kin:
            return False
        self._arrays, self._edges = None, list(map(edge_of, self._captured))
        return True

    def _own(self, arrays: list[Any]) -> None:
        """Make the rest of the comparison for the memory that captured tensors have now."""
        owners = frozenset([memory_of(a) for a in arrays if type(a) is _array_type])
        if owners != self._owners:
            self._rest, self._owners = moving_facts(self.kept, owners), owners

    def arrays(self, inputs: list[Tensor]) -> tuple[list[Any], list[Any]]:
        """Return the arrays that are written to, and the others. None is one that may change."""
        found = [
            held_by(tensor)
            if type(tensor) in _DEFERRED and source.tensor is not None
            else self._taken(source, tensor, i)
            for i, source in enumerate(self.sources)
            for tensor in (source.now(inputs),)
        ]
        return found[: self.program.writes], found[self.program.writes :]

    def _taken(self, source: Source, tensor: Any, place: int) -> Any:
        """Return a copy of the array of a tensor; a captured one that is only read stays with JAX."""
        sharding = self.shardings[place]
        copy = tensor._data.copy()  # JAX may read it after the call, when the tensor is another
        made = copy if sharding is None else jax.device_put(copy, sharding)
        if place >= self.program.writes and source.tensor is not None and not is_shared(tensor):
            made = jnp.asarray(made)
            put(tensor, made)
        return made

    def place(self, inputs: list[Tensor]) -> None:
        """Look up where arrays lie."""
        if self.placement.place is None:
            return
        walk = self.kept.walk
        names = names_of(walk.tensors, list(walk.seen.values()), self.kept.program)
        for i, source in enumerate(self.sources):
            array = source.now(inputs)._data
            name = str(source.place) if source.tensor is None else names.get(id(source.tensor), "")
            self.shardings[i] = self.placement.of(f"{name}.grad" if source.grad else name, array, source.tensor is None)
        self.program.shardings = self.shardings[: self.program.writes]

    def commit(self, state: list[Any], inputs: list[Tensor]) -> None:
        """Give tensors their new arrays."""
        for source, array in zip(self.sources, state, strict=False):
            put(source.now(inputs), array)
        self._arrays = list(map(held_by, self._captured))  # not before: an array that this sees is shared
        self._own(self._arrays)

    def finish(self, outputs: list[Any], inputs: list[Tensor]) -> Any:
        """Change versions and gradients, and return the results."""
        kept = self.kept
        for source, count in kept.written:
            counter_of(source.now(inputs))[0] += count
        for tensor, count in self.counts:
            counter_of(tensor)[0] += count
        for place in kept.required:
            inputs[place].requires_grad_()
        same: dict[int, Any] = {}  # tensors by their outputs: what a function returns twice is one
        for source, output in self.grads:
            holder: Any = inputs[source.place] if source.tensor is None else source.tensor
            made = None if output is None else self._tensor(outputs, output, same)
            edge = edge_of(holder)
            if type(edge) is AccumulateGrad:
                edge.grad = made
            else:
                holder._own_grad = made
        results = []
        roots: dict[int, Any] = {}
        for each in kept.results:
            if type(each) is not Result:
                results.append(each)
            elif each.source >= 0:
                found = kept.sources[each.source].now(inputs)
                results.append(grad_of(found) if each.requires_grad else found)
            else:
                made = same[each.output] if each.output in same else self._tensor(outputs, each.output, same)
                if each.root >= 0:
                    roots[each.root] = made
                elif each.requires_grad:
                    made._edge = freed_edge()
                results.append(made)
        if roots:
            tensors = [roots[i] for i in range(len(roots))]
            for tensor, edge in zip(tensors, self.nodes(outputs, inputs, same), strict=True):
                tensor._edge = edge
        return tree_unflatten(results, kept.shape)

    def _tensor(self, outputs: list[Any], place: int, same: dict[int, Any]) -> Any:
        """Return a new tensor, which is noted in `same`."""
        made = same[place] = new(outputs[place], *self.specs[place])
        if place < len(self.kept.counters):  # the gradients of optimizers come behind
            counter_of(made)[0] = self.kept.counters[place]
        return made
