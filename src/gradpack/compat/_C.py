"""The few names of torch's compiled core that users of autograd reach for."""  # noqa: N999 - torch's name

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any
from weakref import ref

from ..autograd.backward_pass import current_node, execution_order
from ..autograd.forward_ad import _is_fwd_grad_enabled
from ..autograd.forward_ad import _set_fwd_grad_enabled as _set_forward
from ..autograd.grad_mode import (
    is_grad_enabled,
    is_multithreading_enabled,
    is_view_replay_enabled,
    set_grad_enabled,
    set_multithreading_enabled,
)
from ..autograd.saved_hooks import leave_saved_tensors_hooks, saved_tensors_hooks
from ..autograd.undefined_grad import DelayedError, Error, UndefinedGrad, UndefinedGradBackward
from ..base.devices import device
from ..base.errors import LinAlgError as _LinAlgError
from ..base.modes import MODE, RUN
from ..core.node_methods import _InputMetadata
from ..core.tensor import Tensor
from ..core.torch_function import DisableTorchFunction, DisableTorchFunctionSubclass
from ..core.torch_function import disabled_torch_function_impl as _disabled_torch_function_impl
from ..declare.dispatch.saved_attributes import SavedTensor
from ..declare.op import REGISTRY
from ..graph.node import AccumulateGrad, Node, peek_seq
from .accelerator import current_accelerator

__name__ = "gradpack._C"


def _log_api_usage_once(event: str) -> None:
    """Do nothing: API usage is not logged."""


def _are_functorch_transforms_active() -> bool:
    """Whether a transform is under way."""
    return bool(MODE.get().levels)


def _keeps_graph() -> bool:
    """Whether the current backward pass retains the graph; True outside of a backward pass."""
    this = RUN.get()
    return this is None or bool(this.keep)


class _Functions(SimpleNamespace):
    """The classes of nodes by name: `isinstance(y.grad_fn, torch._C._functions.ExpBackward0)`."""

    def __getattr__(self, name: str) -> Any:
        found = _node_class(name)
        if found is None:
            raise AttributeError(f"module 'torch._C._functions' has no attribute {name!r}")
        return found


@cache
def _node_class(name: str) -> Any:
    for op in REGISTRY.values():
        if op.node_name == name and op.inputs:
            return op.node_classes()[0]
    return None


def _unsafe_set_version_counter(tensors: tuple[Tensor, ...], versions: tuple[int, ...]) -> None:
    """Set the version counters of tensors.

    Raises:
        RuntimeError: for a negative number, or where there are not as many numbers as tensors.
    """
    if len(tensors) != len(versions):
        raise RuntimeError("tensors and versions must have the same length")
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        tensor._counter[0] = int(version)


def _forbidden() -> str | None:
    return MODE.get().forbidden


def _push_saved_tensors_default_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    """Enter a block of `saved_tensors_hooks` without a `with` statement."""
    saved_tensors_hooks(pack_hook, unpack_hook).__enter__()


def _pop_saved_tensors_default_hooks() -> None:
    """Leave the block entered last.

    Raises:
        RuntimeError: if there is none.
    """
    leave_saved_tensors_hooks()


_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _InputMetadata=_InputMetadata,
    _get_current_graph_task_keep_graph=_keeps_graph,
    _get_sequence_nr=peek_seq,
    _pop_saved_tensors_default_hooks=_pop_saved_tensors_default_hooks,
    _profiler_enabled=lambda: MODE.get().profiler is not None,
    _push_saved_tensors_default_hooks=_push_saved_tensors_default_hooks,
    _saved_tensors_hooks_get_disabled_error_message=_forbidden,
    _saved_tensors_hooks_is_enabled=lambda: _forbidden() is None,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
)
_functions = _Functions(
    AccumulateGrad=AccumulateGrad,
    DelayedError=DelayedError,
    Error=Error,
    UndefinedGrad=UndefinedGrad,
    UndefinedGradBackward=UndefinedGradBackward,
)
_TensorMeta = type(Tensor)
_current_autograd_node = current_node
_current_graph_task_execution_order = execution_order
_is_grad_enabled = is_grad_enabled
_is_multithreading_enabled = is_multithreading_enabled
_is_view_replay_enabled = is_view_replay_enabled


class _WeakTensorRef:
    """Refers to a tensor without keeping it."""

    def __init__(self, tensor: Tensor) -> None:
        self._ref = ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._ref() is None


class DispatchKeySet:
    """A set of keys of torch's dispatcher. Nothing is dispatched by it here; libraries make such sets when imported."""

    def __init__(self, *keys: Any) -> None:
        self.keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self.keys, *other.keys)

    def has(self, key: Any) -> bool:
        """Whether a key is in the set."""
        return key in self.keys


def _get_accelerator(check: bool | None = None) -> device:
    """Return the device that is there beside the CPU; the CPU if there is none."""
    found = current_accelerator()
    return device("cpu") if found is None else found


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Switch the propagation of tangents on or off."""
    _set_forward(enabled)


def _set_grad_enabled(enabled: bool) -> None:
    """Switch recording on or off."""
    set_grad_enabled(enabled)


def _set_multithreading_enabled(enabled: bool) -> None:
    """Set what `is_multithreading_enabled` returns."""
    set_multithreading_enabled(enabled)


def _current_graph_task_id() -> int:
    """Return the id of the current backward pass, -1 outside of one."""
    this = RUN.get()
    return -1 if this is None else int(this.number)


def _will_engine_execute_node(node: Any) -> bool:
    """Return whether the current backward pass executes this node.

    Raises:
        RuntimeError: outside of a backward pass.
    """
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    this = RUN.get()
    if this is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    return bool(this.will_run(node))


__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKeySet",
    "_LinAlgError",
    "_WeakTensorRef",
    "_autograd",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_disabled_torch_function_impl",
    "_functions",
    "_is_fwd_grad_enabled",
    "_is_grad_enabled",
    "_is_multithreading_enabled",
    "_is_view_replay_enabled",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_set_multithreading_enabled",
    "_will_engine_execute_node",
]
