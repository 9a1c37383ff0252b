"""The roots and inputs of `backward` and `grad`: tensors, or `GradientEdge`s that stand for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..backends import Spec
from ..core.tensor import Tensor
from ..graph.node import AccumulateGrad, Node, Nowhere, Slot


class GradientEdge(NamedTuple):
    """An edge of the graph: a node and the number of its output. Stands for a tensor without holding its data."""

    node: Node
    output_nr: int
    ownership_token: Any = None


GradientEdge.__module__ = "gradpack.autograd.graph"


class Origin:
    """The shape and dtype of the tensor at a gradient edge; of a leaf, also the tensor, to keep it alive."""

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
        RuntimeError: if the tensor does not require grad.

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
    """The shape and dtype of the tensor at an edge; None if not known."""
    if isinstance(place.ownership_token, Origin):
        return place.ownership_token
    if isinstance(place.node, AccumulateGrad):
        leaf = place.node.tensor()
        return None if leaf is None else Origin(leaf._shape, leaf._spec, leaf)
    like = getattr(place.node, "_like", ())
    known = like[place.output_nr] if place.output_nr < len(like) else None
    return None if known is None else Origin(*known)


def root_edge(value: Any, i: int) -> Node:
    """The edge into which the gradient of output `i` is sent."""
    if isinstance(value, GradientEdge):
        return _node_of(value)
    edge: Node | None = value._current_edge()
    if edge is None or type(edge) is Nowhere:
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return edge


def input_edge(value: Any) -> Node:
    """The edge at which the gradient of an input is captured or accumulated."""
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
    """The node of a gradient edge; a `Slot` if the node has several outputs."""
    outputs = getattr(place.node, "outputs", 1)
    return place.node if outputs == 1 else Slot(place.node, place.output_nr, outputs)
