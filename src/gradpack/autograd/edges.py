"""What `backward` and `grad` start from and arrive at: tensors, or places in the graph that stand for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..backends import Spec
from ..graph.node import AccumulateGrad, Node, Nowhere, Slot
from ..tensor.tensor import Tensor


class GradientEdge(NamedTuple):
    """A place in the graph: a node and which of its outputs. Stands for a tensor without holding its data."""

    node: Node
    output_nr: int
    ownership_token: Any = None


GradientEdge.__module__ = "gradpack.autograd.graph"


class Origin:
    """What is known of the tensor at a gradient edge: shape, dtype; of a leaf, which nobody else may hold, itself."""

    __slots__ = ("leaf", "shape", "spec")

    def __init__(self, shape: tuple[int, ...], spec: Spec, leaf: Tensor | None = None) -> None:
        self.shape, self.spec, self.leaf = shape, spec, leaf

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin) and other.leaf is self.leaf

    def __hash__(self) -> int:
        return id(self.leaf)


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
    node: Any = tensor.grad_fn
    if node is None:
        return GradientEdge(tensor._edge, 0, Origin(tensor._shape, tensor._spec, tensor))  # type: ignore[arg-type]
    return GradientEdge(node, tensor.output_nr)


def origin_of(place: GradientEdge) -> Origin | None:
    """Shape and dtype of the tensor at an edge, where they are known."""
    if isinstance(place.ownership_token, Origin):
        return place.ownership_token
    if isinstance(place.node, AccumulateGrad):
        leaf = place.node.tensor()
        return None if leaf is None else Origin(leaf._shape, leaf._spec, leaf)
    like = getattr(place.node, "_like", ())
    known = like[place.output_nr] if place.output_nr < len(like) else None
    return None if known is None else Origin(*known)


def root_edge(value: Any, i: int) -> Node:
    """The edge that the gradient of output `i` enters."""
    if isinstance(value, GradientEdge):
        return _node_of(value)
    edge: Node | None = value._current_edge()
    if edge is None or type(edge) is Nowhere:
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return edge


def input_edge(value: Any) -> Node:
    """The edge whose gradient is asked for."""
    if isinstance(value, GradientEdge):
        return _node_of(value)
    if not isinstance(value, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(value).__name__}")
    edge = value._current_edge()
    if edge is None or type(edge) is Nowhere:
        if not value.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        return Nowhere()  # a view taken under `no_grad`: no gradient ever arrives
    return edge


def _node_of(place: GradientEdge) -> Node:
    """The node at a place; of a node with several outputs, a slot."""
    outputs = getattr(place.node, "outputs", 1)
    return place.node if outputs == 1 else Slot(place.node, place.output_nr, outputs)
