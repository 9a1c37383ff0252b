"""A backward pass for a batch of gradients at once, on the arrays with all examples where nodes can do that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from ..base.modes import TRANSFORMS, Mode
from ..core.tensor import Tensor, wrap
from ..declare.batching.batch_tensor import all_examples, batched, below, outside
from ..graph.engine import GraphTask
from ..graph.node import Node, PartialGrads

_extras_of = attrgetter("extras")
_NONE = frozenset({None})


def batched_or_tensors(seeds: list[Any], task: GraphTask, mode: Mode, create_graph: bool) -> list[Any]:
    """Return what a task on Tensors starts with: the seeds, or the arrays of all examples if it can run on these.

    It can if one level of `vmap` has batched them all, the result is captured and not recorded, and nothing watches
    operations or nodes.
    """
    if (
        create_graph
        or not (task.capture and seeds)
        or task.observer is not None
        or len(mode.levels) != 1
        or TRANSFORMS.get()
    ):
        return list(seeds)
    (level,) = mode.levels
    for seed in seeds:
        if not level.has(seed) or not seed._data.value._spec.plain or seed._data.same:
            return list(seeds)
    if (mode.below or below(mode)).leaves_fast_path or not _NONE.issuperset(map(_extras_of, task._seen or ())):
        return list(seeds)
    grads = [seed._data.value._data for seed in seeds]
    task.create_graph, task.visitor = False, _visitor(level, grads[0].dtype)
    return grads


def _visitor(level: Any, native: Any) -> Callable[[GraphTask, Node], Iterable[Any]]:
    """Make the function that runs a node on an array of gradients."""

    def visit(task: GraphTask, node: Node) -> Iterable[Any]:
        g, keep, task.incoming = task.incoming, task.keep, None
        if node in task.captured:
            task.captured[node] = g
            if task.needed is not None and task.needed.isdisjoint(node.edges):
                return ()
        if g is None:
            return [_unwrapped(x, level) for x in node.undefined(keep, True)]
        if type(g) is PartialGrads or g.dtype is native:
            found = node.backward_batched(g, keep)
            if found is not None:
                return found
        return [_unwrapped(x, level) for x in node.backward_graph(_wrapped(g, level), keep)]

    return visit


def _wrapped(g: Any, level: Any) -> Any:
    """Return arrays as tensors that a level has batched."""
    if type(g) is PartialGrads:
        return PartialGrads(_wrapped(x, level) for x in g)
    return g if g is None else batched(wrap(g), level)


def _unwrapped(g: Any, level: Any) -> Any:
    """Return tensors as arrays of all examples."""
    if isinstance(g, Tensor) and not level.has(g):
        with outside():
            return all_examples(g, level)._data
    return g if g is None else g._data.value._data
