"""Nodes of the autograd graph.

An edge is a reference to the node that receives the gradient: there is no separate edge object.
A node with several outputs hands out one `OutputSlot` for each, so that an edge is always one node.
Sequence numbers fall from older to newer nodes: a heap yields the newest node first.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from functools import cache
from itertools import count
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ..core.hooks import RemovableHandle

_numbers = count(0, -1)
next_seq: Callable[[], int] = _numbers.__next__


def peek_seq() -> int:
    """The sequence number, counted upward, of the next node; does not advance the counter."""
    return -int(repr(_numbers).removeprefix("count(").partition(",")[0])


Gradient = Any  # an array, a Tensor under create_graph, PartialGrads, or None


class Node:
    """One recorded operation, as `Tensor.grad_fn` shows it.

    Subclasses give, for the gradient of the result, one gradient for each edge:
    `backward(g, keep)` over arrays and `backward_graph(g, keep)` over Tensors. Where `selects` is set, `backward` takes
    the edges as a third argument, with None for those whose gradient is not needed.
    """

    __slots__ = ("__weakref__", "_like", "edges", "extras", "seq")

    edges: tuple[Node | None, ...]  # one for each differentiable input; None where none is wanted
    seq: int
    extras: Any  # hooks and metadata, None for most nodes
    _like: list[Any]  # (shape, spec) of each result that was asked for its `grad_fn`, else None

    label: ClassVar[str] = "Node"
    selects: ClassVar[bool] = False

    if TYPE_CHECKING:  # see core/node_methods.py
        metadata: dict[Any, Any]

        def register_hook(self, fn: Callable[..., Any], /) -> RemovableHandle: ...
        def register_prehook(self, fn: Callable[..., Any], /) -> RemovableHandle: ...
        def __call__(self, *grads: Any) -> Any: ...

    def backward(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        raise NotImplementedError

    def backward_graph(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        raise NotImplementedError

    def backward_batched(self, g: Gradient, keep: bool) -> Iterable[Gradient] | None:
        """`backward` for an array of gradients, the examples in front; None if only `backward_graph` can do it."""
        return None

    def undefined(self, keep: bool, create_graph: bool) -> Iterable[Gradient]:
        """Return the gradients of the inputs where the incoming gradient is undefined (None): None for each edge."""
        return (None,) * len(self.edges)

    def name(self) -> str:
        """The name of the operation's node, as torch writes it: `MulBackward0`."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each differentiable input, the node that made it and which output of that node it was."""
        places = self.shown
        edges = self.edges if places is None else [self.edges[i] for i in places]
        return tuple(
            (None, 0)
            if e is None or type(e) in (NoGradEdge, TransformInput)
            else (e.parent.settled(), e.nr)
            if isinstance(e, OutputSlot)
            else (e.settled(), 0)
            for e in edges
        )

    @property
    def shown(self) -> tuple[int, ...] | None:
        """The indices of the edges that `next_functions` shows, in order; None for all."""
        return None

    def settled(self) -> Node:
        """The node that `grad_fn` and `next_functions` show for this one."""
        return self

    def _sequence_nr(self) -> int:
        return -self.seq

    def _set_sequence_nr(self, number: int) -> None:
        index(number).to_bytes(8)  # raises for what is no unsigned 64-bit integer
        self.seq = -number

    @property
    def requires_grad(self) -> bool:
        """Always True: tensors that do not require grad have no node."""
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


class AccumulateGrad(Node):
    """The node of a leaf: accumulates incoming gradients into its `.grad`.

    Holds the gradient, and the tensor only weakly: a strong reference would be a cycle.
    """

    __slots__ = ("dtype", "grad", "tensor")
    __module__ = "builtins"  # as torch has it

    grad: Any
    dtype: Any  # `grad_dtype`, if set (`extras` is then set, too): gradients are cast to it; False: no cast
    tensor: Callable[[], Any]  # a weak reference; for a leaf that was freed, a `LeafState` that recreates it

    cast: ClassVar[Callable[[AccumulateGrad, Gradient], Gradient]]  # casts a gradient to `dtype`
    store: ClassVar[Callable[[AccumulateGrad, Gradient, bool], None]]  # accumulates a gradient

    def __init__(self, tensor: Callable[[], Any]) -> None:
        self.edges, self.seq, self.extras = (), 1, None
        self.grad = self.dtype = None
        self.tensor = tensor

    @property
    def variable(self) -> Any:
        """The leaf tensor; if the user has dropped it, a new one on the same data."""
        return self.tensor()

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def _sequence_nr(self) -> int:
        return 2**64 - 1


class _EndEdge(Node):
    """An edge at which gradients end."""

    __slots__ = ()

    def __init__(self) -> None:
        self.edges, self.seq, self.extras = (), next_seq(), None

    def backward(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        return ()

    backward_graph = backward


class NoGradEdge(_EndEdge):
    """The edge of a view without history whose base requires grad: gradients that arrive are discarded.

    Such a view was taken before its base required grad, or under `no_grad`.
    """

    __slots__ = ()


class TransformInput(_EndEdge):
    """The edge of an input that a functional transform differentiates: its gradient is for the transform only."""

    __slots__ = ()


class OutputSlot(Node):
    """One output of a node with several: passes its gradient on as part of `PartialGrads`."""

    __slots__ = ("nr", "outputs")

    def __init__(self, parent: Node, nr: int, outputs: int) -> None:
        self.edges, self.seq, self.extras = (parent,), next_seq(), None
        self.nr, self.outputs = nr, outputs

    @property
    def parent(self) -> Node:
        return self.edges[0]  # type: ignore[return-value]  # a slot always has one

    def backward(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        part = PartialGrads((None,) * self.outputs)
        part[self.nr] = g
        part.only = self.nr
        return (part,)

    backward_graph = backward_batched = backward

    def name(self) -> str:
        return self.parent.name()


class Lent(OutputSlot):
    """The edge of a result as pack hooks get it: a weak reference to the node."""

    __slots__ = ("_node",)

    def __init__(self, parent: Node, nr: int = 0, outputs: int = 1) -> None:
        self._node = weakref.ref(parent)
        self.seq, self.extras, self.nr, self.outputs = next_seq(), None, nr, outputs

    @property
    def edges(self) -> tuple[Node, ...]:  # type: ignore[override]
        node = self._node()
        return () if node is None else (node,)

    @property
    def parent(self) -> Node:
        return self._node() or self

    def backward(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        if self._node() is None:
            raise RuntimeError(
                "a tensor that a pack hook was given was used after its graph had been let go of: it does not hold that"
            )
        return (g,) if self.outputs == 1 else OutputSlot.backward(self, g, keep)

    backward_graph = backward_batched = backward

    def name(self) -> str:
        node = self._node()
        return "Lent" if node is None else node.name()


def reachable(roots: Iterable[Node]) -> list[Node]:
    """All nodes and slots that gradients of these reach, these included, breadth first."""
    order = list(dict.fromkeys(roots))
    seen = set(order)
    for node in order:  # `order` grows during the loop
        for edge in node.edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                order.append(edge)
    return order


class PartialGrads(list[Any]):
    """The gradients of a node's outputs, None where undefined. Adding others accumulates in place."""

    only: int | None = None  # the number of the output that is filled, if it is only one

    def __add__(self, other: Any) -> PartialGrads:
        for i in range(len(self)) if other.only is None else (other.only,):
            b = other[i]
            if b is not None:
                a = self[i]
                self[i] = b if a is None else a + b
        self.only = None
        return self


def variant_of(kind: Any, name: str) -> Any:
    """Return a node class under another name: for an overload of the operation, or its in-place form."""
    return _variant(kind, name)


@cache
def _variant(kind: Any, name: str) -> Any:
    return type(name, (kind,), {"__slots__": (), "__module__": kind.__module__, "is_settled": True})
