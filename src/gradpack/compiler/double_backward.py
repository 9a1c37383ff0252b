"""Gradients of results of a program that are differentiated themselves, as a penalty of gradients is.

A program has no graph of its backward pass. The function runs again, on the tensors that it was given, and the backward
pass of its graph takes the place of the program's, whose gradients have to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import ref

from ..autograd.backward_pass import captured
from ..base.tree import tree_unflatten
from ..core.tensor import Tensor
from ..declare.batching.batch_tensor import BatchedData
from .comparison import equal
from .facts import TENSOR, Kept, Result
from .python.lifting import Lifted
from .trees import fields_of_new, flattened


class Recomputation(NamedTuple):
    """A function that is called once more.

    Attributes:
        results: returns the results that require grad, with a graph, for what `held` returned.
        saved: the positions of tensors among the arguments whose memory the program saves for its backward pass.
    """

    results: Callable[[Sequence[Any]], list[Tensor]]
    saved: frozenset[int]

    def held(self, tensors: Sequence[Tensor]) -> Sequence[Any]:
        """Return the tensors whose memory is saved, and weak references to others: these may be freed before."""
        if len(self.saved) == len(tensors):
            return tensors
        return [t if i in self.saved else ref(t) for i, t in enumerate(tensors)]


def recomputation_of(function: Any, kept: Kept) -> Recomputation | None:
    """Return how a function is called once more for results with a graph.

    Return None if the function does more than to return results, or what it does depends on more than its arguments.
    """
    settings, *_ = kept.context
    does_more = kept.written or kept.grads or kept.draws or kept.required or type(function) is Lifted
    if kept.backward is None or does_more or settings[-1] is not None:
        return None
    leaves, tree, results, seen = kept.leaves, kept.tree, kept.results, kept.walk.seen

    def results_of(held: Sequence[Any]) -> list[Tensor]:
        given = iter([_alive(each, i) for i, each in enumerate(held)])
        args, kwargs = tree_unflatten([next(given) if leaf is TENSOR else leaf for leaf in leaves], tree)
        found, _ = flattened(function(*args, **kwargs), fields_of_new(seen))
        roots = {e.root: found[i] for i, e in enumerate(results) if type(e) is Result and e.root >= 0}
        return [roots[i] for i in range(len(roots))]

    memory = {kept.program.outputs[i].memory for i in kept.backward.saved}
    arguments = [(v, s) for v, s in zip(kept.program.state, kept.facts.given, strict=True) if s.tensor is None]
    return Recomputation(results_of, frozenset(s.place for v, s in arguments if v.memory in memory and not s.grad))


def _alive(held: Any, place: int) -> Tensor:
    found: Tensor | None = held() if type(held) is ref else held
    if found is None:
        raise RuntimeError(
            f"tensor {place} among the arguments of a compiled function was freed before the gradients of its results "
            "were computed with create_graph=True, for which the function runs again: keep the tensor until then"
        )
    return found


def with_graph(results: list[Tensor], seeds: list[Any], edges: Any, wanted: Sequence[Any]) -> list[Tensor | None]:
    """Return gradients that have a graph.

    Args:
        results: those that the function returned when it ran again.
        seeds: their gradients, or None.
        edges: the nodes that get the gradients.
        wanted: the gradients that the program gives.

    Raises:
        RuntimeError: if they are others: something has changed since the program ran.
    """
    there = [(t._edge, seed) for t, seed in zip(results, seeds, strict=True) if seed is not None]
    found = captured([edge for edge, _ in there], [seed for _, seed in there], edges, True, True)  # type: ignore[misc]
    for one, other in zip(found, wanted, strict=True):
        if one is not None and other is not None and not equal(_array_of(one._data), _array_of(other)):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: the "
                "compiled function ran again, for gradients that are differentiated, and its gradients are others now"
            )
    return found


def _array_of(data: Any) -> Any:
    while type(data) is BatchedData:
        data = data.value._data
    return data
