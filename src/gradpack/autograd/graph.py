"""The autograd graph and saved tensor hooks: `torch.autograd.graph`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal

from ..base.modes import RUN
from ..graph.node import Node, Slot
from ..tensor.hooks import RemovableHandle, add, tensor_hooks_of
from ..tensor.tensor import InferenceCounter, Tensor
from .edges import GradientEdge, get_gradient_edge
from .saved_hooks import (
    PackHook,
    UnpackHook,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "GradientEdge",
    "Node",
    "PackHook",
    "UnpackHook",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write to the storage of a tensor, or several, that autograd did not see."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if type(t._counter) is InferenceCounter:
            raise RuntimeError("Inference tensors do not track version counter.")
        t._counter[0] += 1


class _Handles:
    """The handles of a hook on several tensors, removed together."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook from all of them."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: Literal["all", "any"] = "all"
) -> _Handles:
    """Call `fn` when the gradients of all of `tensors`, or of the first of them, have been computed.

    Args:
        tensors: tensors that require grad.
        fn: gets a list with the gradients (None for a tensor outside of the pass) for mode "all", and one
            gradient for "any".
        mode: "all" or "any".

    Raises:
        ValueError: for another mode.

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
    tensors = list(tensors)
    edges = [_edge(t) for t in tensors]
    state: dict[str, Any] = {"run": None}

    def start(run: Any) -> None:
        if state["run"] is run:
            return
        state["run"] = run
        state["grads"] = [None] * len(tensors)
        state["called"] = False
        nodes = [e.parent if isinstance(e, Slot) else e for e in edges]
        state["left"] = sum(run.will_run(n) for n in nodes)

    def finished() -> None:
        state.clear()
        state["run"] = None

    def on_all(i: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            start(RUN.get())
            state["grads"][i] = grad
            state["left"] -= 1
            if not state["left"]:
                grads = state["grads"]
                finished()
                fn(grads)

        return hook

    def on_any(grad: Any) -> None:
        start(RUN.get())
        if not state["called"]:
            state["called"] = True
            fn(grad)

    handles = []
    for i, edge in enumerate(edges):
        handles.append(add(tensor_hooks_of(edge), on_all(i) if mode == "all" else on_any))
    return _Handles(handles)


def _edge(tensor: Tensor) -> Node:
    edge = tensor._current_edge()
    if edge is None:
        raise RuntimeError("register_multi_grad_hook() needs tensors that require grad")
    return edge


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """A setting of torch's compiler: refused here as torch refuses it outside of a compiled region.

    Raises:
        TypeError: if `budget` is no number.
        ValueError: if it is not between 0 and 1.
        RuntimeError: else.
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
    """Whether to warn of gradients that arrive on another GPU stream. There are no streams on the CPU."""


def set_override_stale_capture_stream(enabled: bool) -> None:
    """How to treat stale streams while a GPU graph is captured. There are no streams on the CPU."""
