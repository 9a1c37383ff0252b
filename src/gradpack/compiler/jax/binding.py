"""The tensors of a program: what has to hold for them, their arrays for JAX, and what they get."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...backends.memory_layout import _array_type
from ...backends.numpy import NUMPY
from ...base.tree import tree_unflatten
from ...core.tensor import InferenceCounter, Tensor
from ...graph.node import AccumulateGrad
from ..arguments import is_known
from ..facts import Kept, Result, Source, facts_of, grad_of, hold, is_steady, kin_of, memory_of, own_of
from ..freed import freed_edge
from ..graphs import noder
from ..turn import moving_facts
from .call_text import call_of
from .deferred import CLASSES, counter_of, edge_of, held_by, is_shared, new, put
from .graph import backward_program
from .packing import Packs, Part, fetched
from .placement import Placement, names_of
from .program import JaxProgram, Made

_DEFERRED = frozenset(CLASSES.values())


def _is_like(tensor: Any, known: Any) -> bool:
    """Return whether a deferred tensor has the facts that it had; it lies in memory as JAX likes."""
    shape, _, spec, kind, _, _, own, _ = known
    edge = edge_of(tensor)
    if (kind is None) != (edge is None) or (kind is True and edge.extras is not None):
        return False
    return bool(tensor._shape == shape and tensor._spec is spec and own_of(tensor) == own)


class Binding:
    """A program, and the tensors that it works on.

    Args:
        placement: where its arrays lie.
        shared: the arrays of tensors that programs write to, by these tensors: those of all programs of one function.
        with_grads: whether parameters keep the gradients that optimizers are given.

    Attributes:
        grads: as those of `kept`, with the gradients that optimizers are given.
        given: how many of them these are, at the end.
        counts: how many writes each captured tensor gets by a call: their versions go up by that.
        specs: of outputs, with their shapes.
        captured, edges, held: captured tensors, and what is in two of their slots.
        stays: whether they are parts of `packs`, where the program writes to them.
        read: the arrays of what it only reads; None for those that each call looks up.
        simple: whether these are those of arguments, and it writes to nothing but captured tensors.
    """

    def __init__(self, kept: Kept, placement: Placement, shared: dict[Any, Packs], with_grads: bool = True) -> None:
        self.kept, self.placement, self.shared = kept, placement, shared
        outputs, self.grads = list(kept.program.outputs), list(kept.grads)
        for p, v in kept.stepped().values() if with_grads else ():
            self.grads.append((Source(p, -1, False), len(outputs)))
            outputs.append(v)
        self.given = len(self.grads) - len(kept.grads)
        apart = {each.output for each in kept.results if type(each) is Result}
        apart.update(() if kept.backward is None else kept.backward.saved)
        grads = [o for _, o in self.grads if o is not None and o not in apart]
        self.program = JaxProgram(kept.program._replace(outputs=outputs), grads, placement.place is None, kept.draws)
        of = dict(zip(kept.program.state, kept.facts.given, strict=True))
        self.sources = [
            Source(tensor, -1, False) if tensor is not None else of[v]
            for v, tensor in zip(self.program.given, self.program.tensors, strict=True)
        ]
        writes, layout = self.program.writes, self.program.states
        self._kept = [(i, s.tensor) for i, s in enumerate(self.sources[:writes]) if is_steady(s)]  # what it writes to
        self._loose = [(layout.places[i][0], i, s) for i, s in enumerate(self.sources[:writes]) if not is_steady(s)]
        like = [(v.shape, v.dtype.name) for v in self.program.given[:writes]]
        self._key = tuple([(i, id(t)) for i, t in self._kept]), tuple(like)
        self.packs: Packs
        self.captured: list[Any] = [s.tensor for s in kept.sources if is_steady(s)]
        self.edges = [edge_of(t) for t in self.captured]
        self.held: list[Any] | None = None  # what captured tensors had after the last call
        self.stays = False
        self.read: list[Any] = []
        self.simple = False
        self._others: list[tuple[Packs, list[Any]]] = []  # of other programs, that some of them are parts of
        self._owners: set[int] = set()  # the memory of captured tensors that are not with JAX
        self._rest = moving_facts(kept, self._owners)
        self.call: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None = None
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
        held = list(map(held_by, self.captured))
        if self.held is not None and all(map(is_, held, self.held)):
            return all(map(is_, map(edge_of, self.captured), self.edges)) and self._rest(inputs)
        facts = self.kept.facts
        for source, known in zip(facts.sources, facts.facts, strict=True):
            captured: Any = source.tensor
            if is_steady(source) and type(captured) in _DEFERRED:
                if not _is_like(captured, known):
                    return False
            elif not (source.grad and source.tensor is not None) and not hold(facts_of(source.now(inputs)), known):
                return False
        self._own(held)
        if not self._rest(inputs) or kin_of(facts.sources, inputs) != facts.kin:
            return False
        self.held, self.stays = None, False
        if not all(map(is_, map(edge_of, self.captured), self.edges)):
            self.edges, self.call = list(map(edge_of, self.captured)), None
            self._rest = moving_facts(self.kept, self._owners)
        return True

    def _own(self, held: list[Any]) -> None:
        """Note the memory that captured tensors have now, for the rest of the comparison."""
        self._owners.clear()
        self._owners.update([memory_of(a) for a in held if type(a) is _array_type])

    def bind(self, missed: Callable[[str], None], last: list[Any]) -> None:
        """Make `call`, which does all of a call; it stays None for arguments in containers that it does not know."""
        if self.call is None and is_known(self.kept.tree):
            self.call = call_of(self, self._owners, missed, last)

    def arrays(self, inputs: list[Tensor]) -> tuple[list[Any], list[Any]]:
        """Return the arrays that are written to, as they are packed, and the others. None is one that may change."""
        packs = self.packs if self.stays else self._together()
        if packs is not None:
            state = [*packs.arrays]
            for number, i, source in self._loose:
                state[number] = self._array(source, i, inputs)
        else:
            given = {i: self._array(self.sources[i], i, inputs) for i in range(self.program.writes)}
            state = self.program.states.packed(given, lambda arrays: np.concatenate(list(map(np.asarray, arrays))))
        if not self.stays or not all(other.arrays is known for other, known in self._others):
            self._look_up(inputs)
        read = self.read.copy()
        for i, source in self._moving:
            read[i - self.program.writes] = self._array(source, i, inputs)
        return state, read

    def _together(self) -> Packs | None:
        """Return the arrays whose parts all tensors have that it writes to; None if these have others."""
        packs = self.shared.get(self._key)
        for i, tensor in self._kept if packs is not None else ():
            held = held_by(tensor)
            if type(held) is not Part or held.packs is not packs or held.place != i:
                return None
        return packs

    def _look_up(self, inputs: list[Tensor]) -> None:
        """Look up the arrays of captured tensors that are only read."""
        self.read, self._moving, self._others = [], [], []
        for i, source in list(enumerate(self.sources))[self.program.writes :]:
            array = self._array(source, i, inputs) if is_steady(source) else None
            held = held_by(source.tensor) if array is not None else None
            if type(held) is Part:
                self._others.append((held.packs, held.packs.arrays))
            if array is None or type(held) is _array_type:
                self._moving.append((i, source))
            self.read.append(array)
        was_simple, moves = self.simple, any(s.tensor is not None or s.grad for _, s in self._moving)
        self.simple = not (self._loose or self._others or moves) and self.placement.place is None
        self.call = self.call if self.simple is was_simple else None

    def _array(self, source: Source, place: int, inputs: list[Tensor]) -> Any:
        """Return the array of a tensor for JAX."""
        tensor = source.now(inputs)
        if type(tensor) not in _DEFERRED or source.tensor is None:
            return self._taken(source, tensor, place)
        held = held_by(tensor)
        return held.packs.array(held.place) if type(held) is Part else held

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
        packs = self.packs if self.stays else self._together()
        if packs is not None:
            packs.arrays = state
        if packs is None or (self.stays and not all(map(is_, map(held_by, self.captured), self.held or ()))):
            packs = self.shared[self._key] = Packs(self.program.states, state)  # one was looked at during the run
            self.stays = False
            for i, tensor in self._kept:
                put(tensor, Part(packs, i))
        for number, _, source in self._loose:
            put(source.now(inputs), state[number])
            state[number] = None
        if not self.stays:
            self.held = list(map(held_by, self.captured))  # not before: an array that this sees is shared
            self._own(self.held)
            self.packs, self.stays = packs, self._together() is not None

    def finish(self, made: Made, inputs: list[Tensor]) -> Any:
        """Change versions and gradients, and return the results."""
        kept, outputs, grads = self.kept, made.outputs, Packs(self.program.grads, made.grads)
        for source, count in kept.written:
            counter_of(source.now(inputs))[0] += count
        for tensor, count in self.counts:
            counter_of(tensor)[0] += count
        for place in kept.required:
            inputs[place].requires_grad_()
        same: dict[int, Any] = {}  # tensors by their outputs: what a function returns twice is one
        for source, output in self.grads:
            holder: Any = inputs[source.place] if source.tensor is None else source.tensor
            grad = None
            if output is not None:
                packed = output in self.program.grads.places
                grad = self._tensor(Part(grads, output) if packed else outputs[output], output, same)
            edge = edge_of(holder)
            if type(edge) is AccumulateGrad:
                edge.grad = grad
            else:
                holder._own_grad = grad
        results = []
        roots: dict[int, Any] = {}
        for each in kept.results:
            if type(each) is not Result:
                results.append(each)
            elif each.is_number:
                results.append(NUMPY.number(fetched(outputs[each.output])))
            elif each.source >= 0:
                found = kept.sources[each.source].now(inputs)
                results.append(grad_of(found) if each.requires_grad else found)
            else:
                place = each.output
                result = same[place] if place in same else self._tensor(outputs[place], place, same)
                if each.root >= 0:
                    roots[each.root] = result
                else:
                    _let_require_grad(result, each)
                results.append(result)
        if roots:
            tensors = [roots[i] for i in range(len(roots))]
            for tensor, edge in zip(tensors, self.nodes(outputs, inputs, same), strict=True):
                tensor._edge = edge
        return tree_unflatten(results, kept.shape)

    def _tensor(self, array: Any, place: int, same: dict[int, Any]) -> Any:
        """Return a new tensor of an output, which is noted in `same`."""
        made = same[place] = new(array, *self.specs[place])
        if place < len(self.kept.counters):  # the gradients of optimizers come behind
            count = self.kept.counters[place]
            made._counter = InferenceCounter([0]) if count == -1 else [count]
        return made


def _let_require_grad(tensor: Tensor, result: Result) -> None:
    """Let a result that is no root of a backward pass require grad, if it has to."""
    if result.is_leaf:
        tensor.requires_grad_()
    elif result.requires_grad:
        tensor._edge = freed_edge()
