"""Steps of optimizers while JAX traces them.

The formulas of optimizers on tensors run on traced arrays. Options that schedulers change are arguments of the program;
the others are constants, which are compared at each call.
"""

from __future__ import annotations

from itertools import chain
from operator import is_
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...base.modes import using
from ...core.tensor import Tensor, wrap
from ...graph.node import AccumulateGrad
from ...optim._formula_optimizer import FormulaOptimizer, PerParameterOptimizer
from ..program import Instruction
from .arrays import TracedArray
from .backend import JAX
from .deferred import held_by, plain_class

_NUMBERS = ("lr", "momentum", "weight_decay", "betas")  # those that schedulers change
_TAKES_TENSORS = frozenset({"SGD", "Adam", "AdamW"})  # in all of these; others take a tensor for `lr` only


class Option(TracedArray):
    """A number that is not zero."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True


class Numbers:
    """The options of optimizers in a program.

    Attributes:
        places: group and name of each that is an argument; for betas with their position.
        constants: group, name and value of the others.
    """

    _values: list[float] | None = None  # the answer for groups that have the values which were seen

    def __init__(self, instructions: list[Instruction]) -> None:
        self.places: list[tuple[dict[str, Any], str, int]] = []
        self.constants: list[tuple[dict[str, Any], str, Any]] = []
        self._views: list[Any] = []  # the keys and values of all groups
        self._seen: list[Any] | None = None  # what these were
        for each in instructions:
            if each.kind == "update":
                self._add(keywords_of(each)["optimizer"])

    def _add(self, optimizer: Any) -> None:
        names = _NUMBERS if type(optimizer).__name__ in _TAKES_TENSORS else _NUMBERS[:1]
        self._views += [view for group in optimizer.param_groups for view in (group.keys(), group.values())]
        for group in optimizer.param_groups:
            for name, value in group.items():
                if name in names and type(value) is float and value:
                    self.places.append((group, name, -1))
                elif name in names and type(value) is tuple and all(type(v) is float and v for v in value):
                    self.places += [(group, name, i) for i in range(len(value))]
                elif name != "params":
                    self.constants.append((group, name, value))

    def now(self) -> list[float] | None:
        """Return the values of the arguments, the same list while they stay; None if another program is needed."""
        count = sum(map(len, self._views))
        if (
            self._seen is None
            or count != len(self._seen)
            or not all(map(is_, chain.from_iterable(self._views), self._seen))
        ):
            self._values, self._seen = self._looked_up(), [*chain.from_iterable(self._views)]
        return self._values

    def _looked_up(self) -> list[float] | None:
        for group, name, value in self.constants:
            found = group.get(name)
            if found is not value and (type(found) is not type(value) or found != value):
                return None
        try:
            values = [group[name] if i < 0 else group[name][i] for group, name, i in self.places]
        except (KeyError, TypeError, IndexError):
            return None
        return values if all(type(v) is float and v for v in values) else None


def keywords_of(each: Instruction) -> dict[str, Any]:
    """Return optimizer, parameters and tensors of an update."""
    function: Any = each.function
    found: dict[str, Any] = function.keywords
    return found


class Updates:
    """Runs steps of optimizers in a trace, on tensors that hold traced arrays meanwhile.

    Args:
        numbers: the options that are arguments.
        values: an array of them, of JAX's.
    """

    def __init__(self, numbers: Numbers, values: Any) -> None:
        self.numbers, self.values = numbers, values

    def __call__(self, tracing: Any, each: Instruction) -> None:
        """Run one step.

        Raises:
            NotImplementedError: for an optimizer whose steps are no formulas.
        """
        given = keywords_of(each)
        optimizer, params, tensors = given["optimizer"], given["params"], given["tensors"]
        if not isinstance(optimizer, PerParameterOptimizer):
            raise NotImplementedError(f"the step of {type(optimizer).__name__} is no formula for one parameter")
        grads = [tracing.value(g) for g in each.args]
        arrays = [tracing.value(v) for v in each.writes]
        counts = _counts(optimizer, params)
        held = [(t, type(t), held_by(t), t._spec, t._counter[0]) for t in tensors]  # arrays may be gone by now
        edges = [(p, p._edge, _grad(p)) for p in params]
        options = [(group, dict(group)) for group in optimizer.param_groups]
        try:
            for tensor, array in zip(tensors, arrays, strict=True):
                array = array.astype(np.float64) if id(tensor) in counts else array
                tensor.__class__ = plain_class(type(tensor))
                tensor._data, tensor._spec = array, JAX.spec(array)
            for p, grad in zip(params, grads, strict=True):
                _set_grad(p, None if grad is None else wrap(grad))
            self._fill(optimizer)
            with using(grad=False):
                for group in optimizer.param_groups:
                    optimizer._step_tensors([p for p in group["params"] if p.grad is not None], group)
            for tensor, array in zip(tensors, arrays, strict=True):
                array.write(tensor._data)
        finally:
            for group, before in options:
                group.clear()
                group.update(before)
            for p, edge, grad in edges:
                p._edge = edge
                _set_grad(p, grad)
            for tensor, kind, data, spec, count in held:
                tensor._data, tensor._spec, tensor._counter[0], tensor.__class__ = data, spec, count, kind

    def _fill(self, optimizer: Any) -> None:
        """Let options be tensors in place of numbers."""
        for i, (group, name, place) in enumerate(self.numbers.places):
            if any(group is own for own in optimizer.param_groups):
                number = wrap(Option(self.values[i]))
                group[name] = number if place < 0 else (*group[name][:place], number, *group[name][place + 1 :])
        for group in optimizer.param_groups:
            if isinstance(optimizer, FormulaOptimizer):
                group["capturable"] = True  # the number of the step stays a tensor


def _counts(optimizer: Any, params: list[Tensor]) -> set[int]:
    """Return the identities of tensors that count steps: powers of them are computed in float64, as Python does."""
    return {id(own["step"]) for p in params if isinstance((own := optimizer.state.get(p, {})).get("step"), Tensor)}


def _grad(p: Tensor) -> Any:
    edge = p._edge
    return edge.grad if type(edge) is AccumulateGrad else p._own_grad


def _set_grad(p: Tensor, grad: Any) -> None:
    edge = p._edge
    if type(edge) is AccumulateGrad:
        edge.grad = grad
    else:
        p._own_grad = grad


def array_of(values: list[float]) -> Any:
    """Return numbers as an array of JAX's."""
    return jnp.asarray(np.asarray(values, np.float64))
