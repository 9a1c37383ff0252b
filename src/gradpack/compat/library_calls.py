"""Calls of operations that `torch.library` makes: through autograd, and under `vmap`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from ..autograd.function import Function
from ..autograd.functions.vmap import call_mapped
from ..base.modes import using
from ..base.tree import tree_flatten, tree_unflatten
from ..core.tensor import Tensor
from ..declare.batching.batch_tensor import outside
from ..ops.shape.join import stack


class Call:
    """One call of the operation through autograd, which sees its tensors as a flat list."""

    __slots__ = ("keyword", "op", "results", "shape")

    def __init__(self, op: Any, shape: list[Any], keyword: dict[str, Any], results: list[Any]) -> None:
        self.op, self.shape, self.keyword, self.results = op, shape, keyword, results


def flattened(args: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Return the arguments with lists flattened, and for each the length of the list or None."""
    flat: list[Any] = []
    shape: list[Any] = []
    for a in args:
        if isinstance(a, list | tuple) and a and all(isinstance(t, Tensor | None) for t in a):
            flat.extend(a)
            shape.append((type(a), len(a)))
        else:
            flat.append(a)
            shape.append(None)
    return flat, shape


def _nested(flat: Sequence[Any], shape: list[Any]) -> tuple[Any, ...]:
    rest = iter(flat)
    return tuple([next(rest) if one is None else one[0](next(rest) for _ in range(one[1])) for one in shape])


def _flat_gradients(gradients: Any, shape: list[Any]) -> list[Any]:
    given = gradients if isinstance(gradients, tuple) else (gradients,)
    flat: list[Any] = []
    for one, g in zip(shape, given, strict=True):
        if one is None:
            flat.append(g)
        else:
            flat.extend([None] * one[1] if g is None else g)
    return flat


def function_of(op: Any) -> Any:
    """Return the autograd Function of an operation."""

    def forward(call: Call, *flat: Any) -> Any:
        with using(dual=0):
            output = op._compute(_nested(flat, call.shape), call.keyword)
        kind = type(output)
        if kind in (tuple, list):
            call.results.append(lambda made: kind(made if isinstance(made, tuple) else (made,)))
            return tuple(output)
        call.results.append(lambda made: made)
        return output

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        call, *flat = inputs
        ctx.shape = call.shape
        if op._setup is None:
            return
        needs = ctx.needs_input_grad
        ctx.needs_input_grad = _nested(needs[1:], call.shape)
        try:
            args = _nested(flat, call.shape)
            extra = (call.keyword,) if call.keyword else ()
            op._setup(ctx, args, *extra, output)
        finally:
            ctx.needs_input_grad = needs

    def backward(ctx: Any, *gradients: Any) -> Any:
        if op._backward is None:
            raise RuntimeError(
                f"Trying to backward through {op._namespace}.{op._name}.default but no autograd formula was "
                "registered. Please use register_autograd to add one."
            )
        needs = ctx.needs_input_grad
        ctx.needs_input_grad = _nested(needs[1:], ctx.shape)
        try:
            found = op._backward(ctx, *gradients)
        finally:
            ctx.needs_input_grad = needs
        return None, *_flat_gradients(found, ctx.shape)

    rules: dict[str, Any] = {"forward": forward, "setup_context": setup_context, "backward": backward}
    body = {name: staticmethod(rule) for name, rule in rules.items()}
    return type(f"GeneratedBackwardFor_{op._namespace}_{op._name}_default", (Function,), body)


def call_mapped_by(op: Any, level: Any, args: tuple[Any, ...], keyword: dict[str, Any]) -> Any:
    """Call an operation inside of `vmap`: by the rule that was registered for it, else once for each example."""
    flat, form = tree_flatten((args, keyword))
    if not any(map(level.has, flat)):
        with outside():
            return op(*args, **keyword)
    if op._vmap_fn is not None:
        return call_mapped(SimpleNamespace(vmap=op._vmap_fn, generate_vmap_rule=False), level, args, keyword)
    if not level.size:
        raise RuntimeError(f"{op._qualname}(): without a rule of its own, it is not run over a batch of size 0")
    with outside():
        results = []
        for nr in range(level.size):
            one = tree_unflatten([level.unwrap(v)[nr] if level.has(v) else v for v in flat], form)
            results.append(op(*one[0], **one[1]))
        if not isinstance(results[0], tuple | list):
            return _joined(results, level)
        return type(results[0])([_joined(parts, level) for parts in zip(*results, strict=True)])


def _joined(parts: Sequence[Any], level: Any) -> Any:
    return level.wrap(stack([*parts])) if isinstance(parts[0], Tensor) else parts[0]
