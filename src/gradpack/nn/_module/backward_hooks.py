"""Backward hooks of modules. Full ones are two nodes that pass gradients on, around what `forward` records.

Outputs go through one node, inputs through another. In backward the first to run is the one at
the outputs: it calls the pre-hooks and keeps the gradients of the outputs. The one at the inputs
calls the hooks with both. Non-full ones are registered on the grad_fn of the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...base.modes import MODE
from ...core.hooks import _replaced
from ...core.tensor import Tensor, alias, raw, wrap
from ...core.views import FUNCTION, mark_view
from ...graph.node import Gradient, Node, OutputSlot, PartialGrads, next_seq
from ...ops.create.fill import zeros

if TYPE_CHECKING:
    from ..modules.module import Module


class Passage:
    """One call of a module with backward hooks. The nodes refer to it, and it to no node."""

    __slots__ = ("count", "grad_output", "hooks", "module", "places", "pre_hooks")

    def __init__(self, module: Module, pre_hooks: tuple[Any, ...], hooks: tuple[Any, ...]) -> None:
        self.module, self.pre_hooks, self.hooks = module, pre_hooks, hooks
        self.grad_output: tuple[Any, ...] | None = None
        self.count = 0  # of the arguments
        self.places: list[int] = []  # of the tensors among them, if some tensor requires grad

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, with the tensors among them passed through the node."""
        self.count = len(args)
        node = _node_for(AtInputs, args)
        if node is None:
            return args
        node.passage = self
        self.places = node.places
        node.like = [(tuple(args[i].shape), args[i].dtype, args[i].device) for i in node.places]
        return _behind(node, args)

    def leave(self, result: Any) -> Any:
        """Return the result, with the tensors in it passed through the node."""
        if not isinstance(result, Tensor | tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)} from {type(self.module).__name__}",
                stacklevel=4,
            )
            return result
        results = result if isinstance(result, tuple) else (result,)
        node = _node_for(AtOutputs, results)
        if node is None:
            return result
        node.passage = self
        node.count = len(results)
        results = _behind(node, results)
        if not isinstance(result, tuple):
            return results[0]
        return results if type(result) is tuple else type(result)(*results)

    def at_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the pre-hooks, and also the hooks if no input requires grad."""
        for hook in self.pre_hooks:
            changed = hook(self.module, grads)
            if changed is not None:
                grads = _replaced(hook, grads, _as_tuple(changed))
        self.grad_output = grads
        if not self.places and self.hooks:
            warnings.warn(
                f"Full backward hook of {type(self.module).__name__} is firing when gradients are computed with "
                "respect to module outputs since no inputs require gradients.",
                stacklevel=2,
            )
            nothing = (None,) * self.count
            for hook in self.hooks:
                changed = hook(self.module, nothing, grads)
                if changed is not None and not (isinstance(changed, tuple) and all(g is None for g in changed)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        f"for all gradients, but that of {type(self.module).__name__} did not."
                    )
            self.grad_output = None
        return grads

    def at_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the hooks. Skipped if no gradient came through the outputs, as in a double backward."""
        if self.grad_output is not None:
            for hook in self.hooks:
                changed = hook(self.module, grads, self.grad_output)
                if changed is not None:
                    grads = _replaced(hook, grads, _as_tuple(changed))
            self.grad_output = None
        return grads


def _as_tuple(changed: Any) -> Any:
    """Normalise the result of a module hook: a tensor or a list becomes a tuple, anything else stays."""
    return (changed,) if isinstance(changed, Tensor) else tuple(changed) if isinstance(changed, list) else changed


class PassOn(Node):
    """Node that passes on one gradient for each tensor, after calling `see` on them."""

    __slots__ = ("passage", "places")

    passage: Passage
    places: list[int]  # of the tensors among the values that went through

    @property
    def outputs(self) -> int:
        return len(self.places)

    def see(self, g: PartialGrads) -> tuple[Any, ...]:
        raise NotImplementedError

    def backward(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        seen = self.see(PartialGrads([None if x is None else wrap(x) for x in g]))
        return [None if edge is None else raw(x) for edge, x in zip(self.edges, seen, strict=True)]

    def backward_graph(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        seen = self.see(g)
        return [None if edge is None else x for edge, x in zip(self.edges, seen, strict=True)]

    def spread(self, values: Iterable[Any], count: int) -> tuple[Any, ...]:
        """Return one value per position, None where no tensor was."""
        spread = [None] * count
        for place, value in zip(self.places, values, strict=True):
            spread[place] = value
        return tuple(spread)

    def name(self) -> str:
        return "BackwardHookFunctionBackward"


class AtOutputs(PassOn):
    __slots__ = ("count",)

    count: int  # of the results

    def see(self, g: PartialGrads) -> tuple[Any, ...]:
        seen = self.passage.at_outputs(self.spread(g, self.count))
        return tuple(seen[place] for place in self.places)


class AtInputs(PassOn):
    __slots__ = ("like",)

    like: list[tuple[Any, ...]]  # shape, dtype and device of each tensor

    def see(self, g: PartialGrads) -> tuple[Any, ...]:
        given = [
            zeros(shape, dtype=dtype, device=device) if x is None else x
            for x, (shape, dtype, device) in zip(g, self.like, strict=True)
        ]
        seen = self.passage.at_inputs(self.spread(given, self.passage.count))
        return tuple(seen[place] for place in self.places)


def _node_for(kind: type[Any], values: tuple[Any, ...]) -> Any:
    """A node of this kind for the tensors among the values; None if no gradient will come."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    edges = tuple(values[i]._current_edge() for i in places)
    if not MODE.get().grad or not any(edge is not None for edge in edges):
        return None
    node = kind()
    node.edges, node.seq, node.extras = edges, next_seq(), None
    node.places = places
    return node


def _behind(node: PassOn, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values, each tensor that requires grad replaced by an output of the node."""
    behind = list(values)
    for nr, (place, edge) in enumerate(zip(node.places, node.edges, strict=True)):
        if edge is not None:
            tensor = values[place]
            behind[place] = out = alias(tensor._data, tensor._spec, tensor._shape)
            mark_view(out, tensor, _same, (), FUNCTION)
            out._edge = OutputSlot(node, nr, len(node.places))
    return tuple(behind)


def _same(tensor: Tensor) -> Tensor:
    return tensor


# --- non-full backward hooks ---

_OLD = "Using non-full backward hooks on a Module that does not {} a single Tensor or a tuple of Tensors is deprecated"
_END = "and will be removed in future versions. This hook will be missing some {}."
_FULL = " Please use register_full_backward_hook to get the documented behavior."


def hang(module: Module, found: Sequence[Callable[..., Any]], args: Any, result: Any) -> None:
    """Register the hooks on the grad_fn of the first tensor in the result."""
    tensor = result
    while not isinstance(tensor, Tensor):
        tensor = next(v for v in tensor.values() if isinstance(v, Tensor)) if isinstance(tensor, dict) else tensor[0]
    node: Any = tensor.grad_fn
    if node is None:
        return
    for hook in found:
        node.register_hook(lambda grad_inputs, grad_outputs, hook=hook: hook(module, grad_inputs, grad_outputs))
    _warn(args, result, node)


def _warn(args: Any, result: Any, node: Any) -> None:
    """Warn about the gradients that these hooks do not see."""
    why = None
    if not _all_tensors(result):
        why = f"{_OLD.format('return')} {_END.format('of the grad_output')}{_FULL}"
    elif not _all_tensors(args):
        why = f"{_OLD.format('take as input')} {_END.format('of the grad_input')}{_FULL}"
    else:
        nodes = {t.grad_fn for t in _tuple(result) if t.grad_fn is not None}
        if len(nodes) > 1:
            why = f"Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated {_END.format('grad_output')}{_FULL}"  # noqa: E501
        elif node not in nodes:
            why = f"Using a non-full backward hook when outputs are nested in python data structure is deprecated {_END.format('grad_output')}"  # noqa: E501
        elif {t.grad_fn for t in _tuple(args) if t.grad_fn is not None} != {n for n, _ in node.next_functions}:
            why = f"Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated {_END.format('grad_input')}{_FULL}"  # noqa: E501
    if why is not None:
        warnings.warn(why, FutureWarning, stacklevel=5)


def _tuple(value: Any) -> Any:
    return (value,) if isinstance(value, Tensor) else value


def _all_tensors(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, tuple) and all(isinstance(v, Tensor) for v in value))
