"""The autograd graph and saved tensor hooks: `torch.autograd.graph`."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from ..base.modes import RUN
from ..core.hooks import RemovableHandle
from ..core.tensor import InferenceCounter, Tensor
from ..graph import node as _graph
from ..graph.node import NoGradEdge, OutputSlot
from .arguments import GradientEdge, get_gradient_edge
from .saved_hooks import (
    PackHook,  # noqa: F401 - under this name, too
    UnpackHook,  # noqa: F401
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from .undefined_grad import DelayedError, UndefinedGrad

if TYPE_CHECKING:  # imported lazily
    from .drawing.draw import GraphDrawing, draw

__all__ = ["GradientEdge", "GraphDrawing", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks"]
__all__ += ["draw", "get_gradient_edge", "increment_version", "region_activation_memory_budget"]
__all__ += ["register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks", "set_override_stale_capture_stream"]
__all__ += ["set_warn_on_accumulate_grad_stream_mismatch"]


class Node(abc.ABC):
    """The abstract base class of graph nodes: `isinstance(y.grad_fn, torch.autograd.graph.Node)`.

    Example::

        >>> import gradpack as torch
        >>> y = torch.ones(1, requires_grad=True).exp()
        >>> isinstance(y.grad_fn, torch.autograd.graph.Node), y.grad_fn.name()
        (True, 'ExpBackward0')
    """

    @abc.abstractmethod
    def name(self) -> str:
        """The name of the operation's node: `MulBackward0`."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each differentiable input, its grad_fn and the number of that node's output."""

    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's metadata on the node."""

    @abc.abstractmethod
    def _sequence_nr(self) -> int:
        """The number that nodes are ordered by: the larger, the newer."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> list[Any]:
        """The shape, dtype and device of each output."""

    @abc.abstractmethod
    def _register_hook_dict(self, tensor: Tensor) -> None:
        """Let the hooks of a tensor run at this node."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node has run; the tuple it returns replaces grad_inputs."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs; the tuple it returns replaces grad_outputs."""


for _kind in (_graph.Node, DelayedError, UndefinedGrad):
    Node.register(_kind)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Increment the version counter of a tensor, or several, that was modified unnoticed by autograd.

    Inference tensors have no version counter and are skipped.

    Args:
        tensor: a tensor, or several.

    Raises:
        RuntimeError: for an argument that is no tensor.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x.exp()  # saved for backward
        >>> y.detach().numpy()[0] = 0  # autograd does not see that
        >>> torch.autograd.graph.increment_version(y)
        >>> y._version
        1
        >>> y.sum().backward()
        Traceback (most recent call last):
            ...
        RuntimeError: one of the variables needed for gradient computation has been modified by an inplace ...
    """
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if type(t._counter) is not InferenceCounter:
            t._counter[0] += 1


class _MultiHandle(RemovableHandle):
    """The handle of a hook on several tensors."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Remove the hook from all of them."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[RemovableHandle, ...]:
        return self.handles

    def __setstate__(self, state: tuple[RemovableHandle, ...]) -> None:
        self.handles = state


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: Literal["all", "any"] = "all"
) -> RemovableHandle:
    """Call `fn` when the gradients of all of `tensors` have been computed, or the first of them.

    Args:
        tensors: tensors that require grad. For mode "any" others are ignored.
        fn: called with a list of the gradients (None for a tensor outside of the pass) in mode "all", and with one
            gradient in mode "any".
        mode: "all" or "any".

    Returns:
        A handle whose `remove()` removes the hook from all of them.

    Raises:
        ValueError: for another mode.
        AssertionError: if a tensor does not require grad, for mode "all".

    Example::

        >>> import gradpack as torch
        >>> a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
        >>> seen = []
        >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), seen.append)
        >>> (a * 2 + b * 3).backward()
        >>> seen
        [[tensor([2.]), tensor([3.])]]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        called: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

        def on_any(grad: Any) -> None:
            if not called.setdefault(RUN.get(), False):
                called[RUN.get()] = True
                fn(grad)

        return _registered([(t, on_any) for t in tensors if t.requires_grad])
    tensors = tuple(tensors)
    nodes = [_node_of(t) for t in tensors]
    passes: WeakKeyDictionary[Any, _Gathered] = WeakKeyDictionary()

    def on_all(i: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            run = RUN.get()
            found = passes.get(run)
            if found is None:
                found = passes[run] = _Gathered([None] * len(nodes), sum(run.will_run(n) for n in nodes))
            found.grads[i] = grad
            found.left -= 1
            if not found.left:
                del passes[run]
                fn(found.grads)

        return hook

    return _registered([(t, on_all(i)) for i, t in enumerate(tensors)])


def _registered(hooks: list[tuple[Tensor, Callable[..., Any]]]) -> _MultiHandle:
    """Register a hook on each tensor: on all of them, or, on failure or interrupt, on none."""
    handles: list[RemovableHandle] = []
    try:
        for tensor, hook in hooks:
            handles.append(tensor.register_hook(hook))
    except BaseException:
        _MultiHandle(tuple(handles)).remove()
        raise
    return _MultiHandle(tuple(handles))


class _Gathered:
    """The gradients of one pass so far, and the number of missing ones."""

    def __init__(self, grads: list[Any], left: int) -> None:
        self.grads, self.left = grads, left


def _node_of(tensor: Tensor) -> Any:
    edge = tensor._current_edge()
    if edge is None or type(edge) is NoGradEdge:
        raise AssertionError("Expected gradient function to be set: the tensor does not require grad")
    return edge.parent if isinstance(edge, OutputSlot) else edge


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """A setting of torch's compiler: raises here, as torch does outside of a compiled region. See `saved.budget`.

    Args:
        budget: the fraction of the activations to keep, from 0 to 1.

    Raises:
        TypeError: if `budget` is no number.
        ValueError: if it is not between 0 and 1.
        RuntimeError: otherwise.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.graph.region_activation_memory_budget(0.5)
        Traceback (most recent call last):
            ...
        RuntimeError: torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile ...
    """
    if isinstance(budget, bool) or not isinstance(budget, int | float):
        raise TypeError(
            "torch.autograd.graph.region_activation_memory_budget: budget must be a number, got "
            f"{type(budget).__name__}"
        )
    if not 0 <= budget <= 1:
        raise ValueError(f"torch.autograd.graph.region_activation_memory_budget: must be in [0, 1], got {budget}")
    raise RuntimeError(
        "torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile region; it has "
        "no effect in eager mode."
    )


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Set whether to warn of gradients from another GPU stream. Has no effect here.

    Args:
        enabled: whether to warn.

    Raises:
        RuntimeError: if `enabled` is no bool.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    """
    _check_flag(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Set how stale streams are treated during CUDA graph capture. Has no effect here.

    Args:
        enabled: whether to replace stale streams.

    Raises:
        RuntimeError: if `enabled` is no bool.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.graph.set_override_stale_capture_stream(True)
    """
    _check_flag(enabled)


def _check_flag(enabled: Any) -> None:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        if name in ("GraphDrawing", "draw"):
            return getattr(import_module(f"{__package__}.drawing.draw"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
