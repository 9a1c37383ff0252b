"""`torch.cpu`: `amp`, queries about the one CPU device, and statistics of the memory held by tensors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import memory
from .memory import empty_cache as empty_cache
from .memory import max_memory_allocated as max_memory_allocated
from .memory import max_memory_reserved as max_memory_reserved
from .memory import memory_allocated as memory_allocated
from .memory import memory_reserved as memory_reserved
from .memory import memory_stats as memory_stats
from .memory import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from .memory import memory_summary as memory_summary
from .memory import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from .memory import reset_max_memory_allocated as reset_max_memory_allocated
from .memory import reset_peak_memory_stats as reset_peak_memory_stats

if TYPE_CHECKING:  # imported when it is first asked for
    from . import amp as amp


def is_available() -> bool:
    """True: there is a CPU.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.is_available()
        True
    """
    return True


def device_count() -> int:
    """How many CPU devices there are: one, whatever the number of processors.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.device_count()
        1
    """
    return 1


def current_device() -> str:
    """The name of the device in use: always `"cpu"`.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.current_device()
        'cpu'
    """
    return "cpu"


def set_device(device: object) -> None:
    """Choose the CPU: there is one, and nothing to do. For code that does the same with `torch.cuda`.

    Args:
        device: anything; of no effect.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.set_device(0)
        >>> torch.cpu.current_device()
        'cpu'
    """


def is_initialized() -> bool:
    """True: the CPU is ready.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.is_initialized()
        True
    """
    return True


def synchronize(device: object = None) -> None:
    """Wait for work on the CPU: it has ended when a call returns, and there is nothing to wait for.

    Args:
        device: anything; of no effect.

    Example::

        >>> import gradpack as torch
        >>> y = torch.ones(9, 9) @ torch.ones(9, 9)
        >>> torch.cpu.synchronize()
    """


__all__ = [
    "amp",
    "current_device",
    "device_count",
    "is_available",
    "is_initialized",
    "memory",
    "set_device",
    "synchronize",
]
__all__ += memory.__all__


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        if name == "amp":
            return import_module(f"{__name__}.amp")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
