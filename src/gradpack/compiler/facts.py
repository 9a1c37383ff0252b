"""The tensors of a program, and what has to hold for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..backends import NUMPY
from ..backends.memory_layout import _array_type
from ..base.tree import TreeSpec
from ..core.tensor import InferenceCounter, Tensor, alias
from ..graph.node import AccumulateGrad
from .lowering import root
from .program import Program
from .python.state import Walk
from .python.values import PLAIN, is_users

TENSOR = object()  # stands for a tensor among the leaves of arguments


class Source(NamedTuple):
    """A tensor that a program reads or writes, as it is before the call.

    Attributes:
        tensor: a captured tensor, or None for an argument.
        place: the position of an argument.
        grad: whether it is the `.grad` of that tensor.
    """

    tensor: Tensor | None
    place: int
    grad: bool

    def now(self, inputs: list[Tensor]) -> Any:
        found = inputs[self.place] if self.tensor is None else self.tensor
        return grad_of(found) if self.grad else found


class Kept(NamedTuple):
    """A program with all that has to hold for it, and what happens to tensors after it.

    Attributes:
        sources: the tensors whose arrays the program takes, and what is known of them.
        facts: what has to hold for them.
        turn: runs it.
        written: how many writes each got: their versions go up by that.
        grads: for tensors, by source, the place in the outputs of the new `.grad`, or None.
        results: for each leaf of what the function returns: a constant, or a `Result`.
        undo: places of sources that are written to before a guard.
        draws: the generators that it draws from.
        counters: of outputs, as of `Outcome`.
        names: of the sources.
        kinds: the classes of the tensors among the arguments.
        required: which of these the function lets require grad.
    """

    program: Program
    walk: Walk
    leaves: list[Any]
    tree: TreeSpec
    sources: list[Source]
    facts: Facts
    turn: Any
    written: list[tuple[Source, int]]
    grads: list[tuple[Source, int | None]]
    results: list[Any]
    shape: TreeSpec
    undo: list[int]
    draws: list[Any]
    context: Any
    checked: list[bool]
    backward: Any  # of `graphs`, or None
    counters: list[Any]
    names: list[str]
    kinds: list[type]
    required: list[int]

    def steady(self) -> list[Any]:
        """Return the arrays that the program is bound to."""
        return [s.now([])._data for s in self.facts.given if is_steady(s)]

    def stepped(self) -> dict[int, tuple[Tensor, Any]]:
        """Return, by identity, the parameters that steps give the gradients that they have in the end, and these.

        Those are the last steps that are calls of the program, where no gradient is set behind them.
        """
        found: dict[int, tuple[Tensor, Any]] = {}
        for each in self.program.instructions:
            if each.kind == "update":
                params: Any = each.function.keywords["params"]  # type: ignore[attr-defined]
                found |= {id(p): (p, v) for p, v in zip(params, each.args, strict=True) if v is not None}
        for source, _ in self.grads:
            found.pop(id(source.tensor), None)
        return found


class Facts:
    """The facts of tensors that a program relies on.

    Attributes:
        facts: for each source, what `facts_of` returned; that of a gradient may be None.
        used: whether the program reads the array of a source.
        kin: which sources were one tensor, or shared memory.
        passed: the arguments, by place, that the function can reach besides.
        twice: the places of arguments that are tensors at other places, and these.
    """

    def __init__(
        self,
        sources: list[Source],
        facts: list[Any],
        used: list[bool],
        kin: list[Any],
        passed: list[tuple[int, Tensor]],
        twice: list[tuple[int, int]],
    ) -> None:
        self.sources, self.facts, self.used, self.kin, self.passed = sources, facts, used, kin, passed
        self.twice = twice
        self.given = [s for s, u in zip(sources, used, strict=True) if u]
        self.without = _without_grad(sources)

    def are(self, inputs: list[Tensor]) -> bool:
        """Return whether they are as they were."""
        if any(s.now(inputs) is not None for s in self.without) or any(inputs[i] is not t for i, t in self.passed):
            return False
        if any(inputs[i] is not inputs[j] for i, j in self.twice):
            return False
        if not all(hold(facts_of(s.now(inputs)), facts) for s, facts in zip(self.sources, self.facts, strict=True)):
            return False
        return kin_of(self.sources, inputs) == self.kin

    def differs(self, inputs: list[Tensor], names: list[str]) -> str:
        """Return what is not as it was."""
        for source, facts, name in zip(self.sources, self.facts, names, strict=True):
            now = facts_of(source.now(inputs))
            if now is None or facts is None or now[0] != facts[0]:
                shown, shown_before = [None if f is None else list(f[0]) for f in (now, facts)]
                if not hold(now, facts):
                    return f"{name} has shape {shown}, and had {shown_before}"
            elif now[2] is not facts[2]:
                return f"{name} is of {now[2].dtype}, and was of {facts[2].dtype}"
            elif not hold(now, facts):
                return f"{name} has another layout, attributes, hooks, inference mode, or another `requires_grad`"
        if any(s.now(inputs) is not None for s in self.without):
            return "a tensor has a gradient, and had none"
        return "tensors share memory, or are one, that did not, or the other way round"


class Result(NamedTuple):
    """A tensor among the results: an output of the program, or a source as it is, or its `.grad` if `requires_grad`.

    Attributes:
        root: which root of the backward pass it is; -1 for none.
        is_number: whether it is the number of an output of one element.
        is_leaf: whether it is a leaf that requires grad.
    """

    output: int
    source: int
    requires_grad: bool
    root: int = -1
    is_number: bool = False
    is_leaf: bool = False


def is_steady(source: Source) -> bool:
    """Return whether a program is bound to the array of a source: it runs while the tensor has that one."""
    return source.tensor is not None and not source.grad


def grad_of(tensor: Tensor) -> Tensor | None:
    edge = tensor._edge
    return edge.grad if type(edge) is AccumulateGrad else tensor._own_grad


def facts_of(tensor: Any) -> Any:
    """Return what programs depend on, but for the numbers: all that Python can ask a tensor for without them."""
    if tensor is None:
        return None
    edge = tensor._edge
    kind, hooked = (type(edge) is AccumulateGrad, edge.extras is not None) if edge is not None else (None, False)
    own, array = tensor.__dict__, tensor._data
    return (
        tensor._shape, array.strides, tensor._spec, kind, kind is True and hooked, array.flags.writeable,
        own_of(tensor) if own else (), type(tensor._counter) is InferenceCounter,
    )  # fmt: skip


def version_of(tensor: Any) -> int:
    """Return how often a tensor was written to; -1 for one of inference mode, which does not count that."""
    return -1 if type(tensor._counter) is InferenceCounter else tensor._counter[0]


_HOOKS = 4  # the place, among the facts, of whether a leaf has hooks


def without_hooks(facts: Any) -> Any:
    """Return facts of a leaf to which no backward pass inside of the program leads: hooks run outside."""
    return (*facts[:_HOOKS], None, *facts[_HOOKS + 1 :])


def hold(now: Any, facts: Any) -> bool:
    """Return whether facts of a tensor are those that a program relies on."""
    if now is None or facts is None or facts[_HOOKS] is not None:
        return bool(now == facts)
    return bool(without_hooks(now) == facts)


def own_of(tensor: Any) -> tuple[tuple[str, Any], ...]:
    """Return the attributes of a tensor that users gave it."""
    return tuple([(k, v if type(v) in PLAIN else id(v)) for k, v in vars(tensor).items() if k not in _INTERNAL])


_INTERNAL = frozenset({"_own_grad", "_relaid", "_tangents"})


def _unlike(tensor: Any) -> bool:
    """Return whether a tensor among the arguments has attributes that no fact tells of."""
    return any(type(v) not in PLAIN for k, v in vars(tensor).items() if k not in _INTERNAL)


def unfit(tensor: Tensor, name: str, given: bool) -> str:
    """Return why a tensor cannot be recorded, or ""."""
    if is_users(type(tensor).__module__):
        return f"{name} is a {type(tensor).__name__}, of a class of yours: give it as a Tensor"
    if not tensor._spec.numpy or type(tensor._data) is not _array_type:
        return f"{name} is not a dense tensor on the CPU"
    edge = tensor._edge
    if edge is not None and type(edge) is not AccumulateGrad and not given:
        return f"{name} has a graph from outside of the function"
    if given and _unlike(tensor):
        return f"{name}, an argument, has attributes that are no numbers or strings"
    return ""


def kin_of(sources: list[Source], inputs: list[Tensor]) -> list[tuple[int, int, int]]:
    """Return, for each source that is an earlier one, or shares memory with it, which that is."""
    tensors, memory, found = dict[int, int](), dict[int, int](), list[tuple[int, int, int]]()
    for i, array, tensor in _arrays(sources, inputs):
        same = tensors.setdefault(id(tensor), i)
        shared = memory.setdefault(id(tensor) if array is None else memory_of(array), i)
        if shared != i or same != i:
            found.append((i, same, shared))
    return found


def memory_of(array: Any) -> int:
    """Return what is the same for arrays that share memory."""
    return id(root(array))


_data: Any = vars(Tensor)["_data"].__get__


def _arrays(sources: list[Source], inputs: list[Tensor]) -> Iterator[tuple[int, Any, Any]]:
    """Yield number, array and tensor of sources; None for an array that is none of NumPy's, and shares no memory."""
    for i, source in enumerate(sources):
        tensor = source.now(inputs)
        if tensor is not None:
            array = _data(tensor)
            yield i, array if type(array) is _array_type else None, tensor


def _without_grad(sources: list[Source]) -> list[Source]:
    """Return the gradients that are not there."""
    there = {(id(s.tensor), s.place) for s in sources if s.grad}
    return [s._replace(grad=True) for s in sources if not s.grad and (id(s.tensor), s.place) not in there]


array_of: Any = np.asarray


def tensor_of(array: Any) -> Tensor:
    if type(array) is not _array_type:  # NumPy's reductions return numbers
        array = np.asarray(array)
    return alias(array, NUMPY.spec(array), array.shape)
