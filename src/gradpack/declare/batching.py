"""How an operation runs on a batch of examples: the rule of its name or kind, or else a loop with one warning.

Rules are functions of a `Call`; which operation has which stands in `batching_table`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..base.dtypes import operand_dtype, result_dtype
from ..base.errors import dim_out_of_range
from ..base.modes import MODE
from ..tensor.tensor import Tensor
from .batched import BatchedData, VmapLevel, batched, below, expanded, with_same
from .examples import first_if_same
from .looped import dynamic_shape, examples, results, warn_of_loop
from .op import REGISTRY, Op


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
        """The positions of tensors."""
        return [i for i, v in enumerate(self.values) if isinstance(v, Tensor)]

    def ndim(self, i: int) -> int:
        """The number of dimensions that the function sees."""
        value = self.values[i]
        return len(value._shape) - bool(self.flags[i])

    def whole(self, i: int) -> Tensor:
        """A tensor with its batch dimension, expanded if it has none."""
        value: Tensor = self.values[i]
        return value if self.flags[i] else expanded(value, self.size)

    def run(self, values: list[Any] | None = None, op: Op | None = None) -> Any:
        return run(op or self.op, self.values if values is None else values)


Rule = Callable[[Call], Any]


def run(op: Op, values: list[Any]) -> Any:
    if not op.keyword_only:
        return op.public(*values)
    count = len(op.params) - op.keyword_only
    return op.public(*values[:count], **dict(zip(op.params[count:], values[count:], strict=True)))


def call(name: str, *args: Any) -> Any:
    """An operation by name."""
    return REGISTRY[name].public(*args)


def lift(value: Tensor, ndim: int) -> Tensor:
    """A tensor of all examples, with dimensions of size 1 after the first so that examples have `ndim` of them."""
    missing = ndim + 1 - len(value._shape)
    if missing <= 0:
        return value
    found: Tensor = call("reshape", value, (value._shape[0], *(1,) * missing, *value._shape[1:]))
    return found


def rows(value: Tensor) -> Tensor:
    """The elements of each example in a row. Without examples, too, where -1 would stand for any number."""
    found: Tensor = call("reshape", value, (value._shape[0], prod(value._shape[1:])))
    return found


def shifted(dim: Any, ndim: int) -> Any:
    """A dimension, or several, of an example, as those of all examples."""
    if isinstance(dim, list | tuple):
        return tuple(shifted(d, ndim) for d in dim)
    dim, n = dim.__index__(), max(ndim, 1)
    if not -n <= dim < n:
        raise dim_out_of_range(dim, ndim)
    return dim % n + 1


def process(level: VmapLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Run an operation one level further out, by its rule if anything is batched."""
    mode = MODE.get()
    values: list[Any] = []
    flags: list[Any] = []
    some, same = False, True
    for value in args:
        if isinstance(value, Tensor):
            data = value._data
            if type(data) is BatchedData and data.level is level:
                values.append(data.value)
                flags.append(True)
                some, same = True, same and data.same
                continue
        elif isinstance(value, list | tuple) and any(map(level.has, value)):
            values.append([level.unwrap(v) for v in value])
            flags.append([level.has(v) for v in value])
            some, same = True, same and all(v._data.same for v in value if level.has(v))
            continue
        values.append(value)
        flags.append(False)
    try:
        MODE.set(below(mode))
        if not some:
            if op.name not in _DRAWING or not dict(zip(op.params, values, strict=True))[_DRAWING[op.name]]:
                return run(op, values)
            if level.randomness == "same":
                return run(op, values)
            if level.randomness == "different":
                values[0], flags[0], same = expanded(values[0], level.size), True, False
        if same and not op.inputs and op.result in ("bool", "index"):
            firsts = _firsts(values, flags)
            if firsts is not None:
                return run(op, firsts)
        rule = rule_of(op)
        if rule is elementwise and _aligned(values, flags):
            made = run(op, values)
        else:
            made = _loop(Call(level, op, values, flags)) if rule is None else rule(Call(level, op, values, flags))
    finally:
        MODE.set(mode)
    if same:
        return results(made, lambda t: with_same(batched(t, level), [True]) if isinstance(t, Tensor) else t)
    return batched(made, level) if isinstance(made, Tensor) else wrapped(level, made)


def _firsts(values: list[Any], flags: list[Any]) -> list[Any] | None:
    """The arguments for one example, if they are equal for all."""
    found = list(values)
    for i, (value, flag) in enumerate(zip(values, flags, strict=True)):
        if isinstance(value, list):
            found[i] = _firsts(value, flag)
        elif flag:
            found[i] = first_if_same(value)
    return None if any(v is None for v, f in zip(found, flags, strict=True) if f) else found


# Operations that draw, and the argument that says whether they do: `randomness` holds for them where nothing is
# batched, too.
_DRAWING = {"_dropout": "p", "_attention": "dropout_p", "rrelu": "training"}
VmapLevel.process = process  # type: ignore[assignment, method-assign]


def wrapped(level: VmapLevel, made: Any) -> Any:
    """Results of all examples as the function sees them."""
    return results(made, level.wrap)


# -- what rules there are --


def rule_of(op: Op) -> Rule | None:
    """The rule of an operation, None if it has none."""
    if not _rules:
        from .batching_table import RULES

        _rules.update(RULES)
    found = _rules.get(op.name)
    if found is None and op.kind == "elementwise":
        return elementwise
    return found


_rules: dict[str, Rule] = {}


def uncovered() -> list[str]:
    """The operations that have no rule, and loop. Those of sparse tensors are not among them: vmap takes none."""
    return sorted(name for name, op in REGISTRY.items() if not op.sparse and rule_of(op) is None)


def _aligned(values: list[Any], flags: list[Any]) -> bool:
    """Whether broadcasting aligns examples by itself, and numbers cannot be mistaken: the usual case, at less cost."""
    spec: Any = None
    most = least = 0
    for value, flag in zip(values, flags, strict=True):
        if isinstance(value, Tensor):
            if spec is None:
                spec = value._spec
            elif value._spec is not spec:
                return False
            n = len(value._shape)
            if flag:
                n -= 1
                if n < least or not least:
                    least = n
            if not n:
                return False
            most = max(most, n)
    return least == most


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
    """One call for each example."""
    warn_of_loop(c.op.name)
    if not c.size:
        raise RuntimeError(
            f"vmap: {c.op.name} has no batching rule, and without one there must be at least one example: the batch "
            "dimension has size 0"
        )
    columns = [examples(v, f, c.size) for v, f in zip(c.values, c.flags, strict=True)]
    rows = [run(c.op, list(values)) for values in zip(*columns, strict=True)]
    if isinstance(rows[0], tuple):
        made = [_stacked(c, column) for column in zip(*rows, strict=True)]
        return type(rows[0])(*made) if hasattr(rows[0], "_fields") else tuple(made)
    return _stacked(c, rows)


def _stacked(c: Call, results: Any) -> Any:
    shapes = {r._shape for r in results}
    if len(shapes) > 1:
        raise dynamic_shape(c.op.name)
    return call("stack", list(results), 0)
