"""Methods of nodes for users: hooks, metadata, and running a node by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..base.modes import MODE
from ..graph.node import AccumulateGrad, Node, PartialGrads
from .hooks import RemovableHandle, add, extras_of, node_hooks_of, run, tensor_hooks_of
from .tensor import Tensor, wrap


def _register_hook(self: Node, fn: Callable[..., Any], /) -> RemovableHandle:
    """Call `fn(grad_inputs, grad_outputs)` after the node has run; the tuple it returns replaces grad_inputs.

    Example::

        >>> import gradpack as torch
        >>> a = torch.zeros(2, requires_grad=True)
        >>> b = a.clone()
        >>> handle = b.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (grad_outputs[0] * 2,))
        >>> b.sum().backward()
        >>> a.grad
        tensor([2., 2.])
    """
    return add(node_hooks_of(self, "post"), fn)


def _register_prehook(self: Node, fn: Callable[..., Any], /) -> RemovableHandle:
    """Call `fn(grad_outputs)` before the node runs; the tuple it returns replaces grad_outputs.

    Example::

        >>> import gradpack as torch
        >>> a = torch.zeros(2, requires_grad=True)
        >>> b = a.clone()
        >>> handle = b.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 3,))
        >>> b.sum().backward()
        >>> a.grad
        tensor([3., 3.])
    """
    return add(node_hooks_of(self, "pre"), fn)


def _register_hook_dict(self: Node, tensor: Tensor, /) -> None:
    """Create the dict of tensor hooks of a tensor that this node made."""
    edge = tensor._current_edge()
    if edge is not None:
        tensor_hooks_of(edge)


def _metadata(self: Node) -> dict[Any, Any]:
    """A dict for the user's own notes on the node."""
    extras = extras_of(self)
    if extras.metadata is None:
        extras.metadata = {}
    return extras.metadata


class _InputMetadata:
    """The shape, dtype and device of the gradient of one output of a node."""

    __slots__ = ("device", "dtype", "shape")

    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, shape: tuple[int, ...], spec: Any) -> None:
        self.shape, self.dtype, self.device = list(shape), spec.dtype, spec.device


_InputMetadata.__module__ = "gradpack._C._autograd"


def _input_metadata(self: Node) -> tuple[_InputMetadata | None, ...]:
    """The shape, dtype and device of the gradients that the node takes: those of its outputs.

    A node knows those of an output once its `grad_fn` was accessed; None otherwise.
    """
    if isinstance(self, AccumulateGrad):
        tensor = self.tensor()
        return () if tensor is None else (_InputMetadata(tensor._shape, tensor._spec),)
    like = getattr(self, "_like", [None] * getattr(self, "outputs", 1))
    return tuple(None if item is None else _InputMetadata(*item) for item in like)


def _call(self: Node, *grads: Tensor | None) -> Any:
    """Compute the gradients of the node's inputs from those of its outputs. Frees nothing and runs no hooks.

    Recorded under grad mode. A single gradient comes without a tuple around it.
    """
    outputs = getattr(self, "outputs", 1)
    if len(grads) != outputs:
        raise TypeError(f"expected {outputs} arguments, got {len(grads)} instead")
    for i, x in enumerate(grads):
        if x is not None and not isinstance(x, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    record = MODE.get().grad
    values = grads if record else tuple(x if x is None else x._data for x in grads)
    g: Any = PartialGrads(values) if outputs > 1 else values[0]
    if isinstance(self, AccumulateGrad):
        if g is not None:
            AccumulateGrad.store(self, g, record)
        return ()
    found = run(self, None if all(value is None for value in grads) else g, True, record)
    results = tuple(x if x is None or isinstance(x, Tensor) else wrap(x) for x in found)
    if self.shown is not None:
        results = tuple(results[i] for i in self.shown)
    return results[0] if len(results) == 1 else results


def _not_copied(self: Node, protocol: Any = None) -> NoReturn:
    raise TypeError(f"cannot pickle {type(self).__name__!r} object")


Node.register_hook = _register_hook  # type: ignore[method-assign]
Node.register_prehook = _register_prehook  # type: ignore[method-assign]
Node._register_hook_dict = _register_hook_dict  # type: ignore[attr-defined]
Node.metadata = property(_metadata)  # type: ignore[assignment]
Node._input_metadata = property(_input_metadata)  # type: ignore[attr-defined]
Node.__call__ = _call  # type: ignore[method-assign]
Node.__reduce_ex__ = _not_copied  # type: ignore[assignment, method-assign]
