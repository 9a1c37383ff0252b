"""The operation that computed the contents of each storage, its inputs and its time.

From these `cost` estimates what recomputing a saved tensor would take, instead of keeping it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...backends.memory_layout import owner_of
from ...core.tensor import Tensor
from ..info import storage_number
from ..storage import WeakIdentityMap

_DEPTH = 64  # longest chain of operations whose history is kept
_RANDOM = ("dropout", "rand", "bernoulli", "normal", "multinomial", "poisson", "rrelu", "uniform", "exponential_")


class OpResult:
    """One result of an operation, with the operation's time in milliseconds and its inputs."""

    repeatable: bool  # whether running the operation again gives the same result
    depth: int

    def __init__(self, number: int, version: int, ms: float, inputs: Sequence[OpResult], repeatable: bool) -> None:
        self.number, self.version, self.ms = number, version, ms
        depth = 1 + max((made.depth for made in inputs), default=0)
        self.repeatable = repeatable and depth <= _DEPTH
        self.depth = depth if self.repeatable else 0
        self.inputs: Sequence[OpResult] = inputs if self.repeatable else ()


class Provenance(WeakIdentityMap[OpResult]):
    """For each living storage, the operation result that is in it."""

    def add(self, op: Any, values: Iterable[Any], outs: Sequence[Tensor], seconds: float) -> None:
        """Note the results of an operation that took `seconds`."""
        tensors = [v for value in values for v in (value if isinstance(value, list | tuple) else (value,))]
        inputs = [self._input(v) for v in tensors if isinstance(v, Tensor)]
        known = {made.number for made in inputs}
        repeatable = not any(word in op.name for word in _RANDOM)
        for out in outs:
            whole = owner_of(out._data)
            number = storage_number(whole)
            if number in known:  # a view or in-place result: the storage of an input
                continue
            self.set(whole, OpResult(number, int(out._counter[0]), seconds * 1e3, inputs, repeatable))

    def _input(self, tensor: Tensor) -> OpResult:
        whole, version = owner_of(tensor._data), int(tensor._counter[0])
        found = self.of(whole, version)
        if found is not None:
            return found
        root = tensor
        while root._view is not None:
            root = root._view.parent
        # Its origin is not known. Only a parameter counts as available without being saved.
        return OpResult(storage_number(whole), version, 0.0, (), bool(root._is_param))

    def of(self, whole: Any, version: int) -> OpResult | None:
        """Return the operation result in a storage at a version, None if it is not known."""
        found = self.get(whole)
        return found if found is not None and found.version == version else None


def cost(made: OpResult | None, is_held: Callable[[int], bool]) -> tuple[float, list[int]] | None:
    """Return the milliseconds to recompute a result from held storages, and the numbers of those storages.

    None if that is not possible: an input is neither held nor can be recomputed itself, or an operation
    drew random numbers.
    """
    if made is None or not made.repeatable:
        return None
    ms, needs = 0.0, []
    seen: set[int] = set()
    stack = [made]
    while stack:
        one = stack.pop()
        if one.number in seen:
            continue
        seen.add(one.number)
        if one is not made and is_held(one.number):
            needs.append(one.number)
            continue
        if not one.repeatable or len(seen) > 4 * _DEPTH:
            return None
        ms += one.ms
        stack.extend(one.inputs)
    return ms, needs
