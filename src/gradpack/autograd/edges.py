"""What `backward` and `grad` start from and arrive at: tensors, or places in the graph that stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..backends import Spec
from ..graph.node import AccumulateGrad, Node, Slot
from ..tensor.tensor import Tensor


class GradientEdge(NamedTuple):
    """A place in the graph: a node and which of its outputs. Stands for a tensor without holding its data."""

    node: Node
    output_nr: int
    ownership_token: Any = None


class Origin:
    """What a gradient edge remembers of its tensor: the exact edge, shape and dtype; a leaf itself."""

    __slots__ = ("edge", "leaf", "shape", "spec")

    def __init__(self, tensor: Tensor, edge: Node) -> None:
        self.edge = edge
        self.leaf = tensor if isinstance(edge, AccumulateGrad) else None  # nobody else may hold it
        self.shape: tuple[int, ...] = tensor._shape
        self.spec: Spec = tensor._spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin) and other.edge is self.edge

    def __hash__(self) -> int:
        return hash(self.edge)


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The gradient edge of a tensor that requires grad.

    Raises:
        RuntimeError: if it does not.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> y = x * 3
        >>> edge = torch.autograd.graph.get_gradient_edge(y)
        >>> torch.autograd.grad(y * y, [edge])
        (tensor(12.),)
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge: Any = tensor._current_edge()
    origin = Origin(tensor, edge)
    return GradientEdge(edge.parent, edge.nr, origin) if isinstance(edge, Slot) else GradientEdge(edge, 0, origin)


def origin_of(place: GradientEdge) -> Origin | None:
    """Shape and dtype of the tensor at an edge, where they are known."""
    if isinstance(place.ownership_token, Origin):
        return place.ownership_token
    leaf = place.node.tensor() if isinstance(place.node, AccumulateGrad) else None
    return None if leaf is None else Origin(leaf, place.node)


def root_edge(value: Any, i: int) -> Node:
    """The edge that the gradient of output `i` enters."""
    if isinstance(value, GradientEdge):
        return _node_of(value, ())
    edge: Node | None = value._current_edge()
    if edge is None:
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return edge


def input_edge(value: Any, roots: Iterable[Node]) -> Node:
    """The edge whose gradient is asked for."""
    if isinstance(value, GradientEdge):
        return _node_of(value, roots)
    if not isinstance(value, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(value).__name__}")
    edge = value._current_edge()
    if edge is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge


def _node_of(place: GradientEdge, roots: Iterable[Node]) -> Node:
    """The node at a place. Of a node with several outputs, the slot: the one that the graph uses, if it is found."""
    if isinstance(place.ownership_token, Origin):
        return place.ownership_token.edge
    outputs = getattr(place.node, "outputs", 1)
    if outputs == 1:
        return place.node
    seen = set[Node]()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, Slot) and node.parent is place.node and node.nr == place.output_nr:
            return node
        if node not in seen:
            seen.add(node)
            stack.extend(edge for edge in node.edges if edge is not None)
    return Slot(place.node, place.output_nr, outputs)
