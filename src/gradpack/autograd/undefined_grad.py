"""Identity operations that stop gradients: by raising an error, or by returning undefined gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from ..core.tensor import Tensor
from ..graph.node import Gradient, Node, Nowhere, Slot, next_seq


class Error(Node):
    """A node whose backward raises RuntimeError."""

    __slots__ = ("message", "outputs")

    def __init__(self, message: str) -> None:
        self.message = message

    def backward(self, g: Gradient, keep: bool) -> NoReturn:
        raise RuntimeError(self.message)

    backward_graph = backward

    def undefined(self, keep: bool, create_graph: bool) -> NoReturn:
        raise RuntimeError(self.message)

    def name(self) -> str:
        return "torch::autograd::Error"


class UndefinedGradBackward(Node):
    """A node that returns undefined gradients (None)."""

    __slots__ = ("outputs",)

    def backward(self, g: Gradient, keep: bool) -> Iterable[Gradient]:
        return (None,) * len(self.edges)

    backward_graph = backward

    def name(self) -> str:
        return "torch::autograd::UndefinedGradBackward"


class DelayedError:
    """`DelayedError(message, n)(*tensors)` returns the `n` tensors; backward through them raises RuntimeError.

    Example::

        >>> import gradpack as torch
        >>> stop = torch._C._functions.DelayedError("not there yet", 1)
        >>> stop(torch.ones(2, requires_grad=True)).sum().backward()
        Traceback (most recent call last):
        ...
        RuntimeError: not there yet
    """

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message, self.num_inputs = message, num_inputs

    def __call__(self, *tensors: Any) -> Any:
        if len(tensors) != self.num_inputs:
            raise TypeError(f"expected {self.num_inputs} arguments, got {len(tensors)} instead")
        return _through(Error(self.message), tensors)


class UndefinedGrad:
    """`UndefinedGrad()(x)` returns `x`; its gradient is undefined (None).

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> torch._C._functions.UndefinedGrad()(x).sum().backward()
        >>> x.grad is None
        True
    """

    def __call__(self, *tensors: Any) -> Any:
        return _through(UndefinedGradBackward(), tensors)


def _through(node: Any, tensors: tuple[Any, ...]) -> Any:
    """Return aliases of the tensors as outputs of a node. None stays None."""
    for i, x in enumerate(tensors):
        if x is not None and not isinstance(x, Tensor):
            raise TypeError(f"argument {i} is not a Variable")
    edges = [None if x is None else x._current_edge() for x in tensors]
    node.edges = tuple(None if type(e) is Nowhere else e for e in edges)
    node.seq, node.extras, node.outputs = next_seq(), None, len(tensors)
    record = any(e is not None for e in node.edges)  # also under `no_grad`, as in torch
    found = []
    for nr, x in enumerate(tensors):
        made = x
        if x is not None:
            made = x.detach()
            if record and made._spec.differentiable:
                made._edge = node if len(tensors) == 1 else Slot(node, nr, len(tensors))
        found.append(made)
    return found[0] if len(found) == 1 else tuple(found)


for _kind in (DelayedError, UndefinedGrad, Error, UndefinedGradBackward):
    _kind.__module__ = "gradpack._C._functions"
