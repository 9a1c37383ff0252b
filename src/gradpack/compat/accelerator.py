"""`torch.accelerator`: the device beside the CPU, which is CUDA's if CuPy finds one."""

from importlib import import_module
from typing import Any

from ..base.devices import device as _device

__name__ = "gradpack.accelerator"


def is_available() -> bool:
    """Whether there is an accelerator: a CUDA device, and CuPy.

    Example::

        >>> import gradpack as torch
        >>> device = "cuda" if torch.accelerator.is_available() else "cpu"
    """
    return device_count() > 0


def device_count() -> int:
    """How many accelerators there are.

    Example::

        >>> import gradpack as torch
        >>> (torch.accelerator.device_count() > 0) == torch.accelerator.is_available()
        True
    """
    from ..backends.cupy_loading import count

    return count()


def current_accelerator(check_available: bool = False) -> Any:
    """The kind of device of the accelerator; None without one.

    Args:
        check_available: accepted, and of no effect: the result is None wherever there is no device.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, device=torch.accelerator.current_accelerator() or "cpu")
    """
    return _device("cuda") if is_available() else None


def _cuda() -> Any:
    """The module `gradpack.cuda`.

    Raises:
        RuntimeError: if there is no accelerator.
    """
    from .. import cuda

    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return cuda


def current_device_index() -> int:
    """The index of the accelerator in use.

    Raises:
        RuntimeError: if there is no accelerator.

    Example::

        >>> import gradpack as torch
        >>> if torch.accelerator.is_available():
        ...     assert torch.accelerator.current_device_index() < torch.accelerator.device_count()
    """
    return int(_cuda().current_device())


def set_device_index(device: Any, /) -> None:
    """Use an accelerator in this thread from now on.

    Args:
        device: its index, a device, or the name of one; a negative index changes nothing.

    Raises:
        RuntimeError: if there is no accelerator.

    Example::

        >>> import gradpack as torch
        >>> if torch.accelerator.is_available():
        ...     torch.accelerator.set_device_index(torch.accelerator.device_count() - 1)
    """
    _cuda().set_device(device)


def synchronize(device: Any = None, /) -> None:
    """Wait until an accelerator has done all its work.

    Args:
        device: its index, a device, or the name of one; None for the one in use.

    Raises:
        RuntimeError: if there is no accelerator.

    Example::

        >>> import gradpack as torch
        >>> if torch.accelerator.is_available():
        ...     torch.accelerator.synchronize()
    """
    _cuda().synchronize(device)


def current_stream(device: Any = None, /) -> Any:
    """The stream that the work of this thread goes to.

    Args:
        device: the index of an accelerator, a device, or the name of one; None for the one in use.

    Raises:
        RuntimeError: if there is no accelerator.

    Example::

        >>> import gradpack as torch
        >>> if torch.accelerator.is_available():
        ...     torch.accelerator.current_stream().synchronize()
    """
    return _cuda().current_stream(device)


def set_stream(stream: Any) -> None:
    """Give the work of this thread to a stream from now on, and use the device of it.

    Args:
        stream: a stream, as `current_stream` returns one.

    Raises:
        RuntimeError: if there is no accelerator.

    Example::

        >>> import gradpack as torch
        >>> if torch.accelerator.is_available():
        ...     torch.accelerator.set_stream(torch.cuda.Stream())
    """
    _cuda().set_stream(stream)


def _of(name: str, doc: str, example: str) -> Any:
    """A function of `gradpack.cuda` or `gradpack.cpu.memory`, for the accelerator or for the device that is given."""

    def call(device: Any = None, /) -> Any:
        where = _device(0) if device is None else _device(device)
        module = import_module("gradpack.cuda" if where.type == "cuda" else "gradpack.cpu.memory")
        return getattr(module, name)(where)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{doc} See `gradpack.cpu.{name}`.

    Args:
        device: the index of an accelerator, a device, or the name of one, `"cpu"` too; None for the one in use.

    Raises:
        RuntimeError: without a device, if there is no accelerator.

    Example::

        >>> import gradpack as torch
        {example.replace("{name}", name)}
    """
    return call


_HELD = """>>> x = torch.zeros(1000)
        >>> torch.accelerator.{name}("cpu") >= 4000
        True"""
_PEAK = """>>> torch.accelerator.reset_peak_memory_stats("cpu")
        >>> x = torch.zeros(1000)
        >>> del x
        >>> torch.accelerator.{name}("cpu") - torch.accelerator.memory_allocated("cpu") >= 4000
        True
        >>> torch.cpu.memory._record_memory_history(enabled=None)"""
_STATS = """>>> x = torch.zeros(1000)
        >>> torch.accelerator.memory_stats("cpu")["allocated_bytes.all.current"] >= 4000
        True"""
_ANEW = """>>> torch.accelerator.reset_peak_memory_stats("cpu")
        >>> x = torch.zeros(1000)
        >>> torch.accelerator.reset_accumulated_memory_stats("cpu")
        >>> torch.accelerator.memory_stats("cpu")["allocated_bytes.all.allocated"]
        0
        >>> torch.cpu.memory._record_memory_history(enabled=None)"""

memory_allocated = _of("memory_allocated", "The bytes that tensors hold on a device.", _HELD)
max_memory_allocated = _of("max_memory_allocated", "The most that was held.", _PEAK)
memory_reserved = _of("memory_reserved", "The bytes that are reserved on a device.", _HELD)
max_memory_reserved = _of("max_memory_reserved", "The most that was reserved.", _PEAK)
memory_stats = _of("memory_stats", "All numbers about memory.", _STATS)
reset_peak_memory_stats = _of(
    "reset_peak_memory_stats", "Count peaks anew.", _PEAK.replace("{name}", "max_memory_allocated")
)
reset_accumulated_memory_stats = _of("reset_accumulated_memory_stats", "Count what comes and goes anew.", _ANEW)


def empty_cache() -> None:
    """Return memory that is cached but unused to the device; without an accelerator there is none.

    Example::

        >>> import gradpack as torch
        >>> torch.accelerator.empty_cache()
    """
    if is_available():
        _cuda().empty_cache()


__all__ = [
    "current_accelerator",
    "current_device_index",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_index",
    "set_stream",
    "synchronize",
]
