"""How an operation runs on a batch of examples: the rule of its name or kind, or else a loop with one warning.

Rules are functions of a `Call`; which operation has which stands in `rule_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import TYPE_CHECKING, Any

from ...base.dtypes import operand_dtype, result_dtype
from ...base.errors import dim_out_of_range
from ...core.tensor import Tensor
from ..op import REGISTRY, Op
from .batch_tensor import expanded
from .vmap_fallback import examples, results, stacked, warn_of_loop

if TYPE_CHECKING:
    from .level import VmapLevel


class Call:
    """An operation and its arguments, batched tensors among them as tensors of all examples.

    Attributes:
        op: the operation.
        values: the arguments, by parameter.
        flags: for each whether it has a batch dimension, its first; for a list of tensors a list.
        size: of that dimension.
    """

    __slots__ = ("flags", "level", "op", "size", "values")

    def __init__(self, level: VmapLevel, op: Op, values: list[Any], flags: list[Any]) -> None:
        self.level, self.size, self.op, self.values, self.flags = level, level.size, op, values, flags

    def at(self, name: str) -> int:
        return self.op.params.index(name)

    def get(self, name: str) -> Any:
        return self.values[self.at(name)]

    def has(self, name: str) -> bool:
        """Whether an argument is batched."""
        return bool(self.flags[self.at(name)])

    def tensors(self) -> list[int]:
        """The positions of the tensor arguments."""
        return [i for i, v in enumerate(self.values) if isinstance(v, Tensor)]

    def ndim(self, i: int) -> int:
        """The number of dimensions that the function sees."""
        value = self.values[i]
        return len(value._shape) - bool(self.flags[i])

    def whole(self, i: int) -> Tensor:
        """A tensor with its batch dimension, expanded if it has none."""
        value: Tensor = self.values[i]
        return value if self.flags[i] else expanded(value, self.size)

    def wholes(self, places: Iterable[int] | None = None, ndim: int = 0) -> list[Any]:
        """Return the arguments with tensors, all or those at `places`, whole and with `ndim` dimensions or more."""
        values = list(self.values)
        for i in self.tensors() if places is None else places:
            values[i] = lift(self.whole(i), ndim)
        return values

    def run(self, values: list[Any] | None = None, op: Op | None = None) -> Any:
        return run(op or self.op, self.values if values is None else values)


Rule = Callable[[Call], Any]


def run(op: Op, values: list[Any]) -> Any:
    if not op.keyword_only:
        return op.public(*values)
    count = len(op.params) - op.keyword_only
    return op.public(*values[:count], **dict(zip(op.params[count:], values[count:], strict=True)))


def call(name: str, *args: Any) -> Any:
    """Call the operation of this name."""
    return REGISTRY[name].public(*args)


def lift(value: Tensor, ndim: int) -> Tensor:
    """Insert dimensions of size 1 after the batch dimension until each example has `ndim` dimensions."""
    missing = ndim + 1 - len(value._shape)
    if missing <= 0:
        return value
    found: Tensor = call("reshape", value, (value._shape[0], *(1,) * missing, *value._shape[1:]))
    return found


def rows(value: Tensor) -> Tensor:
    """Flatten each example: shape (batch, elements). An empty batch works too, where reshape to -1 is ambiguous."""
    found: Tensor = call("reshape", value, (value._shape[0], prod(value._shape[1:])))
    return found


def shifted(dim: Any, ndim: int) -> Any:
    """Convert a dimension, or several, of an example to that of the batched tensor."""
    if isinstance(dim, list | tuple):
        return tuple(shifted(d, ndim) for d in dim)
    dim, n = dim.__index__(), max(ndim, 1)
    if not -n <= dim < n:
        raise dim_out_of_range(dim, ndim)
    return dim % n + 1


def wrapped(level: VmapLevel, made: Any) -> Any:
    """Wrap results of all examples as batched tensors."""
    return results(made, level.wrap)


# -- what rules there are --


def elementwise(c: Call) -> Any:
    """Align examples at their last dimensions, as broadcasting does."""
    places = c.tensors()
    ndim = max(c.ndim(i) for i in places)
    values = list(c.values)
    for i in places:
        if c.flags[i]:
            values[i] = lift(values[i], ndim)
    promoted = [c.at(p) for p in c.op.promote]
    operands = [i for i in promoted if isinstance(values[i], Tensor)]
    specs = {id(values[i]._spec.dtype) for i in operands}
    if len(specs) > 1 or (len(promoted) > len(operands) and not all(c.ndim(i) for i in operands)):
        # A number per example still counts as a number when dtypes are promoted.
        full = [values[i]._spec.dtype for i in operands if c.ndim(i)]
        zero = [values[i]._spec.dtype for i in operands if not c.ndim(i)]
        rest = [operand_dtype(values[i]) for i in promoted if isinstance(values[i], bool | int | float | complex)]
        common = result_dtype(full, zero, rest)
        for i in operands:
            if values[i]._spec.dtype is not common:
                values[i] = call("_to_copy", values[i], common)
    return c.run(values)


# -- the loop --


def _loop(c: Call) -> Any:
    """Call the operation once per example and stack the results."""
    warn_of_loop(c.op.name)
    if not c.size:
        raise RuntimeError(
            f"vmap: {c.op.name} has no batching rule, and without one there must be at least one example: the batch "
            "dimension has size 0"
        )
    columns = [examples(v, f, c.size) for v, f in zip(c.values, c.flags, strict=True)]
    return stacked(c.op.name, [run(c.op, list(values)) for values in zip(*columns, strict=True)])
