"""Differentiation of a function inside other transforms, `vmap`, or a recorded graph of the user's.

There is one graph for all transforms. A transform passes the function new tensors of the same values, its
sources, and computes the gradients at these. They are connected to the original tensors only if these are
differentiated too. Under `vmap` the graph is that of all examples, where a source has a batch dimension
even if it is the same for all of them: otherwise the gradients of the examples would be summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ..autograd.backward_pass import captured
from ..base import late
from ..base.dtypes import FLOATING
from ..base.exits import surely
from ..base.modes import MODE, TRANSFORMS, Transform, changed, using
from ..base.tree import tree_map
from ..core import printing
from ..core.tensor import DUALS, InferenceCounter, Tensor, alias
from ..declare.batching.batch_tensor import below, bottom, cut, is_batched, lifted, lifted_like, same_of
from ..graph.node import AccumulateGrad, Node, OutputSlot, TransformInput, reachable
from ..ops.shape.shape import reshape

if TYPE_CHECKING:
    from ..declare.batching.level import VmapLevel


_EDGE = attrgetter("_edge")


class Sources:
    """The inputs with respect to which a transform differentiates a function.

    Attributes:
        given: the tensors that the user passed.
        whole: the sources in the graph, with all batch dimensions.
        inside: the sources as the function gets them, without batch dimensions.
        levels: the levels of `vmap` around.
        grad: whether grad mode is on outside.
    """

    __slots__ = ("given", "grad", "inside", "levels", "own", "whole")

    def __init__(self, given: Iterable[Tensor], function: Any = None) -> None:
        mode = MODE.get()
        self.given = list(given)
        self.levels: tuple[VmapLevel, ...] = mode.levels
        self.grad = mode.grad
        self.own = Transform(function)
        self.whole: list[Tensor] = []
        self.inside: list[Tensor] = []
        for value in self.given:
            whole = inner = self._source(value)
            if self.levels:
                inner = lifted_like(whole, value, self.levels)
                inner._edge = whole._edge
            self.whole.append(whole)
            self.inside.append(inner)

    def _source(self, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
        if value._spec.dtype.category < FLOATING:
            raise RuntimeError(
                f"only Tensors of floating point dtype can require gradients, and this one is {value.dtype}"
            )
        found = bottom(value, self.levels) if self.levels else value
        if found._current_edge() is not None:  # under `no_grad` too: a later vjp with grad mode on depends on it
            with using(levels=(), grad=True):
                made: Tensor = reshape(found, found._shape)
            self.own.add(made._edge)
            return made
        made = alias(found._data, found._spec, found._shape)
        if type(found._counter) is not InferenceCounter:
            made._counter = found._counter
        if DUALS and found._tangents is not None:
            made._tangents = found._tangents
        made._edge = TransformInput()
        self.own.add(made._edge)
        return made

    def run(self, function: Callable[..., Any], args: Iterable[Any] = (), kwargs: Any = None) -> Any:
        """Call the function with grad mode on, whatever the mode outside."""
        mode, transforms = MODE.get(), TRANSFORMS.get()
        try:
            MODE.set(changed(mode, {"grad": True, "inference": False, "tangents": True}))
            TRANSFORMS.set((*transforms, self.own))
            return function(*args, **(kwargs or {}))
        finally:
            try:
                TRANSFORMS.set(transforms)
            finally:
                MODE.set(mode)

    def results(self, tree: Any) -> Any:
        """Return nested results for the code outside: they require grad only if tensors there do."""
        return tree_map(self._result, tree)

    def _result(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        whole = bottom(value, self.levels) if self.levels else value
        edge = whole._current_edge()
        if edge is None:
            return value
        return value if self.grad and reaches([edge], self.own) else cut(value)

    def pull(
        self, outputs: list[Tensor], seeds: list[Tensor] | None, keep: bool, create_graph: bool | None = None
    ) -> list[Tensor]:
        """Return the gradients at the sources, given those of the outputs: zeros for sources that were not used.

        Args:
            seeds: the gradients of the outputs; None for ones.
            keep: do not free what the graph saved.
            create_graph: whether to record what is done; by default if the result depends on what is followed outside.
        """
        mode = MODE.get()
        inner = mode.levels[len(self.levels) :]
        edges: list[Node] = []
        grads: list[Tensor] = []
        for i, out in enumerate(outputs):
            whole = bottom(out, self.levels) if self.levels else out
            edge = whole._current_edge()
            if edge is None:
                continue
            g = (
                late.ones_like(whole)
                if seeds is None
                else bottom(seeds[i], self.levels, inner)
                if mode.levels
                else seeds[i]
            )
            if g._spec.dtype is not whole._spec.dtype:
                g = g.to(whole._spec.dtype)
            edges.append(edge)
            grads.append(g)
        create = mode.grad and create_graph is not False
        if create and create_graph is None:
            create = (seeds is not None and any(map(is_tracked, grads))) or reaches(edges, self.own)
        found: list[Any] = [None] * len(self.whole)
        try:
            outside = mode
            while outside.levels and not inner:
                outside = outside.below or below(outside)
            MODE.set(outside.replace(levels=inner) if inner else outside)
            if edges:
                wanted: list[Any] = list(map(_EDGE, self.whole))
                found = captured(edges, grads, wanted, keep, create)
            for i, whole in enumerate(self.whole):
                if found[i] is None:
                    found[i] = late.zeros_like(whole.detach())
        finally:
            MODE.set(mode)
        if not mode.levels:
            return found
        of_outputs = []
        for t in () if inner else (*outputs, *(seeds or ())):
            of_outputs.append(same_of(t, self.levels))  # noqa: PERF401 - called often
        for i, value in enumerate(self.given):
            same = () if inner else map(all, zip(same_of(value, self.levels), *of_outputs, strict=True))
            found[i] = lifted(found[i], self.levels, inner, same)
        return found


def is_tracked(value: Tensor) -> bool:
    """Whether autograd records operations on a tensor, or on the one behind it with all batch dimensions."""
    while is_batched(value):
        value = value._data.value
    return value._current_edge() is not None


def _text(tensor: Tensor) -> str | None:
    """The text of a tensor wrapped by active transforms; None if there are none around it."""
    around: list[tuple[int, str]] = []
    shown = value = tensor
    while is_batched(value):
        number = value._data.level.number
        around.append((number, f"BatchedTensor(lvl={number}, bdim={value._data.place}, value="))
        value = value._data.value
    while is_batched(shown):
        shown = shown._data.given
    edge = value._current_edge()
    tangent = value._tangents is not None
    for own in reversed(TRANSFORMS.get()):
        if tangent if own.forward else edge is not None and not own.isdisjoint(reachable([edge])):
            around.append((own.number, f"GradTrackingTensor(lvl={own.number}, value="))
            tangent = tangent and not own.forward
    if not any(start.startswith("G") for _, start in around):
        return None
    transforms = TRANSFORMS.get()
    with using(levels=()), surely(partial(TRANSFORMS.set, transforms)):
        TRANSFORMS.set(())
        text = repr(alias(shown._data, shown._spec, shown._shape))
    for _, start in sorted(around):
        text = f"{start}\n" + indent(text, "    ") + "\n)"
    return text


printing.TRANSFORMED[0] = _text


def reaches(edges: Iterable[Node], own: set[Node]) -> bool:
    """Whether edges lead to a leaf, or to a source of another active transform."""
    active: set[Node] = set().union(*TRANSFORMS.get()) - own
    stack = list(edges)
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is AccumulateGrad:
            return True
        if kind is TransformInput:
            if node in active:
                return True
            continue
        if node in seen:
            continue
        if kind is not OutputSlot:
            seen.add(node)
        stack.extend(filter(None, node.edges))
    return False
