"""`torch.accelerator`: the device beside the CPU, which is CUDA's if CuPy finds one."""

from typing import Any

__name__ = "gradpack.accelerator"


def is_available() -> bool:
    """Whether there is an accelerator: a CUDA device, and CuPy."""
    return device_count() > 0


def device_count() -> int:
    """How many accelerators there are."""
    from ..backends.cupy_loading import count

    return count()


def current_accelerator(check_available: bool = False) -> Any:
    """The kind of device of the accelerator; None without one."""
    from ..base.devices import device as device_type

    return device_type("cuda") if is_available() else None


def _of(name: str, doc: str) -> Any:
    """A function of `gradpack.cuda` or `gradpack.cpu.memory`, for the accelerator or for the device that is given."""

    def call(device: Any = None, /) -> Any:
        from importlib import import_module

        from ..base.devices import device as device_type

        where = device_type(0) if device is None else device_type(device)
        module = import_module("gradpack.cuda" if where.type == "cuda" else "gradpack.cpu.memory")
        return getattr(module, name)(where)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{doc} See `gradpack.cpu.{name}`.

    Args:
        device: a device, "cpu" too. Default: the accelerator.

    Raises:
        RuntimeError: without a device, if there is no accelerator.
    """
    return call


def _on_cuda(name: str, doc: str) -> Any:
    """A function of `gradpack.cuda`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        from .. import cuda

        if not is_available():
            raise RuntimeError("Cannot access accelerator device when none is available.")
        return getattr(cuda, _NAMES.get(name, name))(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{doc} See `gradpack.cuda.{_NAMES.get(name, name)}`.

    Raises:
        RuntimeError: if there is no accelerator.
    """
    return call


_NAMES = {"current_device_index": "current_device", "set_device_index": "set_device"}

current_device_index = _on_cuda("current_device_index", "The index of the device in use.")
set_device_index = _on_cuda("set_device_index", "Use a device.")
synchronize = _on_cuda("synchronize", "Wait until a device has done all its work.")
current_stream = _on_cuda("current_stream", "The stream that work goes to.")
set_stream = _on_cuda("set_stream", "Give work to a stream.")

memory_allocated = _of("memory_allocated", "The bytes that tensors hold on a device.")
max_memory_allocated = _of("max_memory_allocated", "The most that was held.")
memory_reserved = _of("memory_reserved", "The bytes that are reserved on a device.")
max_memory_reserved = _of("max_memory_reserved", "The most that was reserved.")
memory_stats = _of("memory_stats", "All numbers about memory.")
reset_peak_memory_stats = _of("reset_peak_memory_stats", "Count peaks anew.")
reset_accumulated_memory_stats = _of("reset_accumulated_memory_stats", "Count what comes and goes anew.")


def empty_cache() -> None:
    """Return memory that is cached but unused to the device."""
    if is_available():
        from .. import cuda

        cuda.empty_cache()


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
