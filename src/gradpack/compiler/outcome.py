"""The results of a function, and new gradients, as outputs of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.tree import TreeSpec
from ..core.tensor import Tensor
from ..graph.node import AccumulateGrad
from .comparison import is_constant
from .facts import Result, Source, grad_of, own_of, version_of
from .program import Variable
from .recorded_array import RecordedArray
from .returned_numbers import Number
from .trees import fields_of_new, flattened

if TYPE_CHECKING:
    from .session import Session


class Outcome:
    """The outputs of a program, and what tensors are made of them.

    Attributes:
        outputs: the variables.
        counters: of the tensor of each output: a number of writes, -1 in inference mode, or a tensor that has the same
            one, which is a source or, by its place, another output.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.refuse = session, session.recorder.refuse
        self.outputs: list[Variable] = []
        self.counters: list[int | Source | tuple[int]] = []
        self._known: dict[int, Any] = {}  # who has a version counter, by its identity
        for source, (tensor, *_) in zip(session.sources, session.before, strict=True):
            self._known.setdefault(id(tensor._counter), source)
        self._roots = {} if session.backward is None else {r: i for i, r in enumerate(session.backward.roots)}
        self._rooted: set[int] = set()  # memory of outputs that require grad

    def _add(self, variable: Variable, tensor: Tensor) -> int:
        """Add an output, and return its place."""
        place, counter = len(self.outputs), tensor._counter
        self.outputs.append(variable)
        own = (place,)
        found = self._known.setdefault(id(counter), own)
        self.counters.append(int(version_of(tensor)) if found is own else found)
        return place

    def results(self, result: Any) -> tuple[list[Any], TreeSpec]:
        """Return what makes the results of the function, and their structure."""
        session, (flat, shape) = self.session, flattened(result, fields_of_new(self.session.walk.seen))
        results: list[Any] = []
        made: dict[int, Result] = {}
        sources = {id(t): i for i, (t, *_) in enumerate(session.before)}
        new_grads = {id(g): i for i, g in enumerate(session.new_grads) if g is not None and id(g) not in sources}
        for leaf in flat:
            leaf = session.recorder.floats.get(id(leaf), leaf) if type(leaf) is float else leaf
            if type(leaf) is Number:
                results.append(Result(len(self.outputs), -1, False, is_number=True))
                self.outputs.append(leaf.variable)
                self.counters.append(0)
            elif not isinstance(leaf, Tensor):
                if not is_constant(leaf) and id(leaf) not in session.walk.seen:
                    self.refuse(f"it returns a {type(leaf).__name__}, which may be another one at each call")
                results.append(leaf)
            elif id(leaf) in new_grads:
                results.append(Result(-1, new_grads[id(leaf)], True))
            elif id(leaf) in sources:
                results.append(Result(-1, sources[id(leaf)], False))
            elif id(leaf) in made:
                results.append(made[id(leaf)])
            elif (found := self._result(leaf)) is not None:
                made[id(leaf)] = found
                results.append(found)
        return results, shape

    def _result(self, leaf: Tensor) -> Result | None:
        """Return what makes a result that is a new tensor; None if there is no program."""
        session, array = self.session, self.session.found.get(id(leaf))
        if type(leaf) is not Tensor or array is None:
            self.refuse(f"it returns a {type(leaf).__name__} that none of its operations made: return a copy")
            return None
        is_leaf = type(leaf._edge) is AccumulateGrad
        if own_of(leaf) or grad_of(leaf) is not None or (is_leaf and leaf._edge.extras is not None):  # type: ignore[union-attr]
            self.refuse("it gives a result an attribute, a hook or a gradient: do so outside")
        memory = array.variable.memory
        own = any(a.variable.memory == memory for a in session.arrays)
        grads = leaf._edge is not None or leaf.requires_grad
        others = any(v.memory == memory for v in self.outputs)
        # Gradients of one array, as those of both addends, have no version counter in common: XLA makes two of it.
        alike = id(leaf._counter) in self._known or "data" in session.walk.names
        if (own or (others and alike)) and session.recorder.whole:
            self.refuse("it returns a view of another tensor: return a copy")
        elif own and grads:
            self.refuse("it returns a view of a tensor within its reach that requires grad: return a copy")
        elif grads and others and memory in self._rooted:
            self.refuse("it returns a tensor that requires grad and a view of it: return a copy of the view")
        if grads:
            self._rooted.add(memory)
        root = self._roots.get(id(leaf), -1)
        freed = leaf._edge is not None and root < 0 and not is_leaf
        return Result(self._add(array.variable, leaf), -1, freed, root, is_leaf=is_leaf)

    def gradients(self) -> list[tuple[Source, int | None]]:
        """Return where each new `.grad` comes from."""
        session, recorder = self.session, self.session.recorder
        grads: list[tuple[Source, int | None]] = []
        set_already = {
            (id(p), v)
            for e in recorder.instructions
            if e.kind == "update"
            for p, v in zip(_keywords(e.function)["params"], e.args, strict=True)
        }
        old = {id(t) for source, (t, *_) in zip(session.sources, session.before, strict=True) if source.grad}
        memories = {v.memory for v in (*self.outputs, *(a.variable for a in session.arrays))}
        for source, grad, array in zip(session.sources, session.new_grads, session.grad_arrays, strict=True):
            if source.grad or id(grad) in old:
                continue
            if grad is None:
                had = any(s.grad and s.tensor is source.tensor and s.place == source.place for s in session.sources)
                if had or any(p == id(source.tensor) for p, _ in set_already):  # a step gives it one
                    grads.append((source, None))
                continue
            if type(array) is not RecordedArray or array.variable.memory in memories or array._array.base is not None:
                self.refuse("a gradient shares memory with another tensor, or was not recorded")
                continue
            memories.add(array.variable.memory)
            if (id(source.tensor), array.variable) in set_already:
                continue
            grads.append((source, self._add(array.variable, grad)))
        return grads


def _keywords(function: Any) -> Any:
    return function.keywords
