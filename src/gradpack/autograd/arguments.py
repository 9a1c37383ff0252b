"""The arguments of `backward` and `grad`: tensors and gradient edges, seeds, and checks."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any, NamedTuple

from ..backends import Spec
from ..base.errors import is_foreign, mixed
from ..base.size import Size
from ..core.tensor import Tensor, alias
from ..graph.node import AccumulateGrad, Node, NoGradEdge, OutputSlot


class GradientEdge(NamedTuple):
    """An edge of the graph: a node and the number of its output. Stands for a tensor without holding its data.

    Args:
        node: the node: a `grad_fn`, or the AccumulateGrad of a leaf.
        output_nr: the number of the output of the node.
        ownership_token: keeps alive what the node alone does not: of a leaf its tensor.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> y = x * 3
        >>> edge = torch.autograd.graph.GradientEdge(y.grad_fn, 0)
        >>> z = y * y
        >>> del y
        >>> torch.autograd.grad(z, [edge])
        (tensor(12.),)
    """

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
    if edge is None or type(edge) is NoGradEdge:
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return edge


def input_edge(value: Any) -> Node:
    """The edge at which the gradient of an input is captured or accumulated."""
    if isinstance(value, GradientEdge):
        return _node_of(value)
    if not isinstance(value, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(value).__name__}")
    edge = value._current_edge()
    if edge is None or type(edge) is NoGradEdge:
        if not value.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        return NoGradEdge()  # a view taken under `no_grad`: no gradient ever arrives
    return edge


def _node_of(place: GradientEdge) -> Node:
    """The node of a gradient edge; an `OutputSlot` if the node has several outputs."""
    outputs = getattr(place.node, "outputs", 1)
    return place.node if outputs == 1 else OutputSlot(place.node, place.output_nr, outputs)


_ONE = (Tensor, GradientEdge)


def sequence(value: Any) -> tuple[Any, ...]:
    """Return a single tensor or edge as a tuple of one, anything else as the tuple of its items."""
    if isinstance(value, _ONE):
        return (value,)
    if not hasattr(value, "__iter__"):
        wanted = "expected a Tensor, a GradientEdge or a sequence of them"
        raise TypeError(f"'{type(value).__name__}' object is not iterable: {wanted}")
    return tuple(value)


def inputs_of(value: Any, name: str) -> tuple[Any, ...]:
    """Return the inputs as a tuple: of one, of several, or of the values of a dict."""
    if type(value) is dict:
        found = tuple(value.values())
    elif isinstance(value, Mapping):
        raise TypeError(
            f"`inputs` argument to `{name}()` must be a dict, not {type(value).__name__}. Other Mapping types are "
            "not supported."
        )
    else:
        found = sequence(value)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{name}()` cannot be empty.")
    return found


def flag(name: str, value: Any) -> bool:
    """Convert a boolean option; integers from 0 to 255 are accepted, as by torch.

    Raises:
        TypeError: for a value that is no integer.
        OverflowError: for an integer that is not in [0, 255].
    """
    if type(value) is bool:
        return value
    if not hasattr(type(value), "__index__") or (isinstance(value, Tensor) and value.numel() != 1):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    number = index(value)
    if not 0 <= number < 256:
        raise OverflowError(f"{name} must be True or False, not {number}")
    return number != 0


def seeds_of(outputs: tuple[Any, ...], given: Any, batched: bool) -> list[Tensor | None]:
    """Return the gradient of each output: the given one, ones for a scalar, or None if it does not require grad."""
    grads = (None,) * len(outputs) if given is None else (given,) if isinstance(given, Tensor) else tuple(given)
    seeds = [
        _seed(i, out, g, batched)
        for i, (out, g) in enumerate(zip(outputs, grads))  # noqa: B905 - the checks of each come first
    ]
    if len(seeds) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(seeds)} gradients")
    return seeds


def _seed(i: int, out: Any, g: Any, batched: bool) -> Tensor | None:
    usual = isinstance(g, Tensor) and isinstance(out, Tensor) and not batched
    if usual and g._spec is out._spec and g._shape == out._shape:
        return g if g._spec.flow is g._spec.dtype else g.to(g._spec.flow)
    shape: tuple[int, ...] | None = None
    spec: Spec | None = None
    if isinstance(out, GradientEdge):
        origin = origin_of(out)
        if origin is not None:
            shape, spec = origin.shape, origin.spec
    elif isinstance(out, Tensor):
        shape, spec = out._shape, out._spec
    else:
        raise AssertionError(f"Expected output to be a torch.Tensor, but output {i} is {type(out).__name__}")
    if g is None:
        return _implicit(i, out, shape, spec)
    if not isinstance(g, Tensor):
        if is_foreign(g):
            raise mixed("backward")
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    first = g[0] if batched else g
    if shape is not None and first._shape != shape:
        raise _shape_mismatch(i, out, first.shape, shape, batched)
    if spec is None:
        return g
    if g._spec.dtype.is_complex != spec.dtype.is_complex:
        raise complex_mismatch(i, g.dtype, spec.dtype)
    if g._spec.device != spec.device:
        raise RuntimeError(f"grad_output[{i}] is on {g.device}, output[{i}] on {spec.device}: move it first")
    if spec.flow is not spec.dtype:
        return g.to(spec.flow)
    if g._spec is spec or (isinstance(out, Tensor) and out.is_leaf and out.grad_dtype is None):
        return g
    return g.to(spec.dtype)


def _shape_mismatch(i: int, out: Any, given: Any, shape: tuple[int, ...], batched: bool) -> RuntimeError:
    if batched and isinstance(out, GradientEdge):
        return RuntimeError("Batched grads are not supported with GradientEdge")
    sizes = f"grad_output[{i}] has a shape of {given} and output[{i}] has a shape of {Size(shape)}."
    if not batched:
        return RuntimeError(f"Mismatch in shape: {sizes}")
    return RuntimeError(
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
        "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
        f"mismatch was detected: {sizes} If you only want some tensors in `grad_output` to be considered batched, "
        "consider using vmap."
    )


def _implicit(i: int, out: Any, shape: tuple[int, ...] | None, spec: Spec | None) -> Tensor | None:
    """The implicit gradient of a scalar output: one."""
    if shape is None or spec is None:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs: the shape at this GradientEdge is not known, "
            "so give its gradient, or make the edge with get_gradient_edge"
        )
    if isinstance(out, Tensor) and not out.requires_grad:
        return None
    if shape and any(size != 1 for size in shape):
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs: output {i} has shape {list(shape)}; "
            "give its gradient, or reduce it to a scalar first"
        )
    if not spec.dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {spec.dtype}")
    if spec.plain and not shape:
        return alias(spec.backend.one(spec), spec, ())
    from ..ops.create.fill import ones
    from ..ops.create.fill_like import ones_like

    return ones_like(out) if isinstance(out, Tensor) else ones(shape, dtype=spec.dtype, device=spec.device)


def batch_size(seeds: list[Tensor | None]) -> int:
    """The size of the batch dimension of the seeds under `is_grads_batched`."""
    sizes = []
    for seed in seeds:
        if seed is None or not seed._shape:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
                "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0. Under is_grads_batched, give each "
                "output a gradient whose first dimension is the batch."
            )
        sizes.append(seed._shape[0])
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0] if sizes else 0


def complex_mismatch(i: int, given: Any, expected: Any) -> RuntimeError:
    """The error for a complex gradient of a real output, or the other way round."""
    return RuntimeError(
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
        f"grad_output[{i}] has a dtype of {given} and output[{i}] has a dtype of {expected}."
    )
