"""Automatic differentiation: `torch.autograd`, from scratch."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from ..base.filled import fill_when_asked as _fill_when_asked
from . import grad_mode
from .api import backward, grad
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
from .variable import Variable

if TYPE_CHECKING:  # imported lazily
    from . import anomaly_mode as anomaly_mode
    from . import forward_ad as forward_ad
    from . import function as function
    from . import functional as functional
    from . import graph as graph
    from . import profiler as profiler
    from . import profiler_util as profiler_util
    from .anomaly_mode import detect_anomaly as detect_anomaly
    from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
    from .function import Function as Function
    from .graph import Node as Node
    from .profiler_util import DeviceType as DeviceType
    from .profiler_util import ProfilerActivity as ProfilerActivity
    from .saved_hooks import PackHook as PackHook
    from .saved_hooks import UnpackHook as UnpackHook
    from .saved_hooks import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
    from .saved_hooks import disable_saved_tensors_hooks as disable_saved_tensors_hooks
    from .saved_hooks import save_on_cpu as save_on_cpu
    from .saved_hooks import saved_tensors_hooks as saved_tensors_hooks


def variable(*args: Any, **kwargs: Any) -> Any:
    """Raises, as in torch: use `tensor`. The module of this name is `autograd.variable` for imports only.

    Raises:
        RuntimeError: always.

    Example::

        >>> import gradpack as torch
        >>> try:
        ...     torch.autograd.variable([1.0])
        ... except RuntimeError as error:
        ...     print(error)
        torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead
    """
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


variable.Variable = Variable  # type: ignore[attr-defined]


def kineto_available() -> bool:
    """Always False: Kineto, the library behind torch's profiler, is not used.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.kineto_available()
        False
        >>> with torch.profiler.profile() as prof:
        ...     _ = torch.ones(3) + 1
        >>> [event.key for event in prof.key_averages()]
        ['aten::ones', 'aten::add']
    """
    return False


# Modules that are imported lazily, lazy names in such modules, and those of `torch._C._autograd`.
_LAZY = frozenset(
    "_functions anomaly_mode forward_ad function functional graph profiler profiler_util saved_hooks".split()
)
_FROM = {"Function": "function", "Node": "graph", "DeviceType": "profiler_util", "ProfilerActivity": "profiler_util"}
_FROM |= dict.fromkeys(("detect_anomaly", "set_detect_anomaly"), "anomaly_mode")
_FROM |= dict.fromkeys(
    (
        "PackHook UnpackHook allow_mutation_on_saved_tensors disable_saved_tensors_hooks save_on_cpu "
        "saved_tensors_hooks"
    ).split(),
    "saved_hooks",
)
_OF_THE_CORE = frozenset(
    "SavedTensor _get_sequence_nr _pop_saved_tensors_default_hooks _profiler_enabled "
    "_push_saved_tensors_default_hooks".split()
)


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return _import_module(f"{__name__}.{name}")
        if name in _OF_THE_CORE:
            return getattr(_import_module(__package__.rpartition(".")[0] + "._C")._autograd, name)
        if name in _FROM:
            value = globals()[name] = getattr(_import_module(f"{__name__}.{_FROM[name]}"), name)
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_FROM})


__all__ = ["Function", "Node", "PackHook", "UnpackHook", "Variable", "allow_mutation_on_saved_tensors", "anomaly_mode"]
__all__ += ["backward", "detect_anomaly", "disable_saved_tensors_hooks", "enable_grad", "enforce_grad_layout_policy"]
__all__ += ["forward_ad", "function", "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph"]
__all__ += ["inference_mode", "is_grad_enabled", "is_multithreading_enabled", "is_view_replay_enabled"]
__all__ += ["kineto_available", "no_grad", "profiler", "profiler_util", "save_on_cpu", "saved_tensors_hooks"]
__all__ += ["set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable"]

_fill_when_asked(__name__)
