"""How an operation runs on a batch of examples: by the rule of its name or kind, or else in a loop with one warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...base.modes import MODE
from ...core.tensor import Tensor
from ..op import REGISTRY, Op
from .batch_call import Call, Rule, _loop, elementwise, wrapped
from .batch_tensor import BatchedData, batched, below, expanded, first_if_same, with_same
from .vmap_fallback import results

if TYPE_CHECKING:
    from .level import VmapLevel


def process(level: VmapLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Run an operation one level further out, by its rule if anything is batched."""
    mode = MODE.get()
    values: list[Any] = []
    flags: list[Any] = []
    some, same = False, True
    spec: Any = None  # of all tensors; False if they differ
    most = least = 0  # dimensions of an example: the most of all, the least of batched tensors
    for value in args:
        if isinstance(value, Tensor):
            data, n = value._data, len(value._shape)
            batch = type(data) is BatchedData and data.level is level
            if batch:
                value = data.value
                some, same = True, same and data.same
                if n < least or not least:
                    least = n
            values.append(value)
            flags.append(batch)
            most = max(most, n)
            if value._spec is not spec or not n:  # numbers have lower priority when dtypes are promoted
                spec = value._spec if spec is None and n else False
        elif isinstance(value, list | tuple) and any(map(level.has, value)):
            values.append([level.unwrap(v) for v in value])
            flags.append([level.has(v) for v in value])
            some, same = True, same and all(v._data.same for v in value if level.has(v))
        else:
            values.append(value)
            flags.append(False)
    try:
        MODE.set(mode.below or below(mode))
        if not some:
            if op.draws is None or not values[op.params.index(op.draws)]:
                return op.call(values)
            if level.randomness == "same":
                return op.call(values)
            if level.randomness == "different":
                values[0], flags[0], same, spec = expanded(values[0], level.size), True, False, False
        if same and not op.inputs and op.result in ("bool", "index"):
            firsts = _firsts(values, flags)
            if firsts is not None:
                return op.call(firsts)
        rule = _rules.get(op.name) or rule_of(op)
        if rule is elementwise and spec and least == most:  # broadcasting aligns them as they are
            made = op.call(values)
        else:
            made = _loop(Call(level, op, values, flags)) if rule is None else rule(Call(level, op, values, flags))
    finally:
        MODE.set(mode)
    if same:
        return results(made, lambda t: with_same(batched(t, level), [True]) if isinstance(t, Tensor) else t)
    return batched(made, level) if isinstance(made, Tensor) else wrapped(level, made)


def _firsts(values: list[Any], flags: list[Any]) -> list[Any] | None:
    """Return the arguments of one example, if they are equal for all examples."""
    found = list(values)
    for i, (value, flag) in enumerate(zip(values, flags, strict=True)):
        if isinstance(value, list):
            found[i] = _firsts(value, flag)
        elif flag:
            found[i] = first_if_same(value)
    return None if any(v is None for v, f in zip(found, flags, strict=True) if f) else found


def rule_of(op: Op) -> Rule | None:
    """The rule of an operation, None if it has none."""
    if not _rules:
        from .rule_table import RULES  # when a level first runs an operation

        _rules.update(RULES)
    if op.name not in _rules and op.kind == "elementwise":
        _rules[op.name] = elementwise
    return _rules.get(op.name)


_rules: dict[str, Rule] = {}


def uncovered() -> list[str]:
    """The operations that have no rule, and loop. Those of sparse tensors are not among them: vmap takes none."""
    return sorted(name for name, op in REGISTRY.items() if not op.sparse and rule_of(op) is None)
