"""Estimates of the bytes that other policies would save, and of their time on this machine.

Each policy is timed once per process, on a small and on a large tensor; times are linear in the bytes.
Background work counts as if the program waited for it. What recomputing a tensor would take is estimated from the
operations that computed the contents of each storage, their inputs and times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import Context
from functools import cache, partial
from time import perf_counter
from typing import Any, NamedTuple

from ...backends.memory_layout import owner_of
from ...core.tensor import Tensor
from ...ops.create.ranges import linspace
from ..info import storage_number
from ..policies.compress import bf16
from ..policies.offload import disk
from ..policies.quantize import quantize
from ..storage import WeakIdentityMap
from .document import Estimates, Row

_SMALL, _LARGE = 1 << 10, 1 << 20  # elements
_TRIES = 5
_WIDE = {"float32": 4, "float64": 8}  # bytes per element of the dtypes that rounding makes smaller
_EXACT = ("parameter", "buffer", "stat", "mask", "index")


class PolicyCost(NamedTuple):
    """The measured cost of a policy."""

    kept: float  # bytes in memory per element
    fixed: float  # milliseconds to pack and unpack, whatever the size
    per_byte: float  # milliseconds per byte of the tensor

    def ms(self, size: int) -> float:
        return self.fixed + self.per_byte * size


def estimates() -> Estimates:
    """Return for each policy a function from a row to (bytes saved, milliseconds), or None if it does not apply."""
    rounded: Estimates = {name: partial(_rounded, name) for name in ("bf16", "int8")}
    return rounded | {"recompute": _recomputed, "disk": _on_disk}


def _rounded(name: str, row: Row) -> tuple[int, float] | None:
    """Estimate a rounding policy, for floating-point tensors that are kept as they are and may be rounded."""
    if not row.charged or row.dtype not in _WIDE or row.kind in _EXACT or row.exact or row.packed_bytes is not None:
        return None
    cost = _costs().get(name)
    if cost is None:
        return None
    saved = round(row.charged - cost.kept * (row.charged // _WIDE[row.dtype]))
    return (saved, cost.ms(row.charged)) if saved > 0 else None


def _recomputed(row: Row) -> tuple[int, float] | None:
    return None if row.recompute_ms is None else (row.charged, row.recompute_ms)


def _on_disk(row: Row) -> tuple[int, float] | None:
    cost = _costs().get("disk")
    return None if cost is None or not row.charged or row.tier == "disk" else (row.charged, cost.ms(row.charged))


@cache
def _costs() -> dict[str, PolicyCost]:
    """Return the measured cost of each policy, measured in an empty context, without active modes."""
    return Context().run(_try_all)


def _try_all() -> dict[str, PolicyCost]:
    found = {"int8": _try(quantize(8, min_bytes=0))}
    with suppress(ImportError):  # no ml_dtypes, as may be in a browser
        found["bf16"] = _try(bf16(min_bytes=0))
    with suppress(OSError):  # no place for a temporary file: no estimate
        found["disk"] = _try(disk(min_bytes=0))
    return found


def _try(policy: Any) -> PolicyCost:
    small, _ = _measured(policy, _SMALL)
    large, kept = _measured(policy, _LARGE)
    per_byte = max(0.0, (large - small) / (4 * (_LARGE - _SMALL)))
    return PolicyCost(kept / _LARGE, max(0.0, small - per_byte * 4 * _SMALL), per_byte)


def _measured(policy: Any, elements: int) -> tuple[float, int]:
    """Return the minimum milliseconds of `_TRIES` runs, since noise only adds, and the bytes kept."""
    best, kept = float("inf"), 0
    for _ in range(_TRIES):
        tensor = linspace(-1, 1, elements)
        start = perf_counter()
        handle = policy.pack(tensor)
        policy.wait()
        kept = policy.packed_bytes
        policy.unpack(handle)
        best = min(best, perf_counter() - start)
        del handle
    return best * 1e3, kept


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
