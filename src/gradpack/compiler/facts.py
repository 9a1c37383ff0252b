"""The tensors of a program, what has to hold for them, and what happens to them after a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..backends import NUMPY
from ..backends.memory_layout import _array_type
from ..base.tree import TreeSpec
from ..core.tensor import Tensor, alias
from ..graph.node import AccumulateGrad
from .emit import Built
from .program import Program
from .python_state import Walk

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
        written: how many writes each got: their versions go up by that.
        grads: for tensors, by source, the place in the outputs of the new `.grad`, or None.
        results: for each leaf of what the function returns: a constant, or a `Result`.
        undo: places of sources that are written to before a guard.
    """

    program: Program
    walk: Walk
    leaves: list[Any]
    tree: TreeSpec
    sources: list[Source]
    facts: Facts
    written: list[tuple[Source, int]]
    grads: list[tuple[Source, int | None]]
    results: list[Any]
    shape: TreeSpec
    undo: list[int]
    draws: bool
    context: Any
    checked: list[bool]
    backward: Any  # of `graphs`, or None


class Facts:
    """The facts of tensors that a program relies on.

    Attributes:
        used: whether the program reads the array of a source.
    """

    def __init__(self, sources: list[Source], facts: list[Any], used: list[bool], built: Built) -> None:
        self.built = built
        self.sources, self.facts, self.used = sources, facts, used
        self.given = [s for s, u in zip(sources, used, strict=True) if u]
        self._quick: Callable[[list[Tensor]], bool] | None = None
        self._arrays: Callable[[list[Tensor]], list[Any]]
        self._program: Callable[..., tuple[Any, ...]]
        self.finish: Callable[[Any, list[Tensor]], list[Any]]
        self.after: Callable[[], Callable[[Any, list[Tensor]], list[Any]]]  # makes `finish`

    def hold(self, inputs: list[Tensor]) -> bool:
        """Return whether they are as they were."""
        if self._quick is not None and self._quick(inputs):
            return True
        if not self.are(inputs):
            return False
        self._remember()
        return True

    def are(self, inputs: list[Tensor]) -> bool:
        """Return whether they are as they were; remembers nothing, which would keep arrays alive."""
        return all(facts_of(s.now(inputs)) == facts for s, facts in zip(self.sources, self.facts, strict=True))

    def run(self, inputs: list[Tensor]) -> tuple[Any, ...]:
        """Run the program on the arrays of these tensors. Called after `hold`."""
        return self._program(*self._arrays(inputs))

    def _remember(self) -> None:
        """Make the functions for tensors that have the arrays that they have now."""
        names: dict[str, Any] = {"facts_of": facts_of, "grad_of": grad_of}
        tests, arrays = ["True"], []
        steady = [s.now([])._data for s, u in zip(self.sources, self.used, strict=True) if u and is_steady(s)]
        self._program = self.built.bind(*steady)
        self.finish = self.after()
        for i, (source, facts, used) in enumerate(zip(self.sources, self.facts, self.used, strict=True)):
            tensor = source.tensor
            if tensor is None:
                found = f"inputs[{source.place}]"
                found = f"grad_of({found})" if source.grad else found
                names[f"f{i}"] = facts
                tests.append(f"facts_of({found}) == f{i}")
                arrays.append(f"{found}._data" if used else "")
                continue
            names[f"t{i}"], names[f"a{i}"], names[f"e{i}"] = tensor, tensor._data, tensor._edge
            if not source.grad:
                tests.append(f"t{i}._data is a{i} and t{i}._edge is e{i}")
            elif used or type(tensor._edge) is not AccumulateGrad:
                names[f"f{i}"] = facts
                tests.append(f"facts_of(grad_of(t{i})) == f{i}")
                arrays.append(f"grad_of(t{i})._data" if used else "")
            else:
                tests.append(f"e{i}.grad is not None")
        text = f"def quick(inputs):\n    return {' and '.join(tests)}\n"
        text += f"def arrays(inputs):\n    return [{', '.join(a for a in arrays if a)}]\n"
        exec(text, names)
        self._quick, self._arrays = names["quick"], names["arrays"]


class Result(NamedTuple):
    """A tensor among the results: an output of the program, or a source as it is, or its `.grad` if `requires_grad`.

    Attributes:
        root: which root of the backward pass it is; -1 for none.
    """

    output: int
    source: int
    requires_grad: bool
    root: int = -1


def is_steady(source: Source) -> bool:
    """Return whether a program is bound to the array of a source: it runs while the tensor has that one."""
    return source.tensor is not None and not source.grad


def grad_of(tensor: Tensor) -> Tensor | None:
    edge = tensor._edge
    return edge.grad if type(edge) is AccumulateGrad else tensor._own_grad


def facts_of(tensor: Any) -> Any:
    if tensor is None:
        return None
    edge = tensor._edge
    return tensor._shape, tensor._data.strides, tensor._spec, edge is None, tensor._data.flags.writeable


def tensor_of(array: Any) -> Tensor:
    if type(array) is not _array_type:  # NumPy's reductions return numbers
        array = np.asarray(array)
    return alias(array, NUMPY.spec(array), array.shape)
