"""The few names of torch's compiled core that users of autograd reach for."""  # noqa: N999 - torch's name

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .autograd.grad_mode import (
    is_grad_enabled,
    is_multithreading_enabled,
    is_view_replay_enabled,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .base.errors import LinAlgError as _LinAlgError
from .base.modes import MODE, RUN
from .declare.saved_attributes import SavedTensor
from .graph.node import AccumulateGrad, Node
from .tensor.torch_function import DisableTorchFunction, DisableTorchFunctionSubclass
from .tensor.torch_function import disabled_torch_function_impl as _disabled_torch_function_impl


def _keeps_graph() -> bool:
    """Whether the backward pass that is going on keeps the graph; True outside of one."""
    this = RUN.get()
    return this is None or bool(this.keep)


_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _get_current_graph_task_keep_graph=_keeps_graph,
    _saved_tensors_hooks_is_enabled=lambda: not _forbidden(),
)
_functions = SimpleNamespace(AccumulateGrad=AccumulateGrad)
_is_grad_enabled = is_grad_enabled
_is_multithreading_enabled = is_multithreading_enabled
_is_view_replay_enabled = is_view_replay_enabled


def _forbidden() -> bool:
    return MODE.get().forbidden is not None


def _set_grad_enabled(enabled: bool) -> None:
    """Switch recording on or off."""
    set_grad_enabled(enabled)


def _set_multithreading_enabled(enabled: bool) -> None:
    """Allow or forbid backward to use several threads."""
    set_multithreading_enabled(enabled)


def _current_graph_task_id() -> int:
    """A number for the backward pass that is going on, -1 outside of one."""
    this = RUN.get()
    return -1 if this is None else int(this.number)


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the backward pass that is going on runs this node.

    Raises:
        RuntimeError: outside of a backward pass.
    """
    this = RUN.get()
    if this is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if not isinstance(node, Node):
        raise TypeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    return bool(this.will_run(node))


__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_LinAlgError",
    "_autograd",
    "_current_graph_task_id",
    "_disabled_torch_function_impl",
    "_functions",
    "_is_grad_enabled",
    "_is_multithreading_enabled",
    "_is_view_replay_enabled",
    "_set_grad_enabled",
    "_set_multithreading_enabled",
    "_will_engine_execute_node",
]
