"""Automatic differentiation: `torch.autograd`, from scratch."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any

from . import anomaly_mode, forward_ad, function, grad_mode, graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .api import backward, grad
from .function import Function
from .grad_mode import (
    _force_original_view_tracking,  # noqa: F401 - torch has it here
    _unsafe_preserve_version_counter,  # noqa: F401
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import gradcheck, gradgradcheck
from .graph import Node
from .saved_hooks import (
    PackHook,
    UnpackHook,
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from .variable import Variable

if _TYPE_CHECKING:  # imported when they are first asked for
    from . import functional as functional
    from . import profiler as profiler
    from . import profiler_util as profiler_util


def variable(*args: Any, **kwargs: Any) -> Any:
    """Refused, as in torch: use `tensor`. The module of this name is `autograd.variable` for imports only."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


variable.Variable = Variable  # type: ignore[attr-defined]


def kineto_available() -> bool:
    """Whether Kineto, the library behind torch's profiler, is there: no."""
    return False


# Modules that are imported when they are first asked for, and names that are those of `torch._C._autograd`.
_LAZY = ("_functions", "functional", "profiler", "profiler_util")
_OF_THE_CORE = frozenset(
    "SavedTensor _get_sequence_nr _pop_saved_tensors_default_hooks _profiler_enabled "
    "_push_saved_tensors_default_hooks".split()
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return _import_module(f"{__name__}.{name}")
    if name in _OF_THE_CORE:
        return getattr(_import_module(__package__.rpartition(".")[0] + "._C")._autograd, name)
    if name in ("DeviceType", "ProfilerActivity"):
        return getattr(_import_module(f"{__name__}.profiler_util"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = [
    "Function",
    "Node",
    "PackHook",
    "UnpackHook",
    "Variable",
    "allow_mutation_on_saved_tensors",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "disable_saved_tensors_hooks",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "kineto_available",
    "no_grad",
    "profiler",
    "profiler_util",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
