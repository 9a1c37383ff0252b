"""`torch.accelerator`: whichever device computes beside the CPU. There is none."""

from typing import Any


def is_available() -> bool:
    """Whether there is an accelerator: no."""
    return False


def device_count() -> int:
    """How many accelerators there are: none."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """The device of the accelerator: None."""
    return


def _of(name: str, doc: str) -> Any:
    """A function of `gradpack.cpu.memory` for the accelerator, or for the device that is given."""

    def call(device: Any = None, /) -> Any:
        from .base.devices import device as device_type
        from .cpu import memory

        return getattr(memory, name)(device_type(0) if device is None else device)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{doc} See `gradpack.cpu.{name}`.

    Args:
        device: a device, "cpu" too. Default: the accelerator.

    Raises:
        RuntimeError: without a device, if there is no accelerator.
    """
    return call


memory_allocated = _of("memory_allocated", "The bytes that tensors hold on a device.")
max_memory_allocated = _of("max_memory_allocated", "The most that was held.")
memory_reserved = _of("memory_reserved", "The bytes that are reserved on a device.")
max_memory_reserved = _of("max_memory_reserved", "The most that was reserved.")
memory_stats = _of("memory_stats", "All numbers about memory.")
reset_peak_memory_stats = _of("reset_peak_memory_stats", "Count peaks anew.")
reset_accumulated_memory_stats = _of("reset_accumulated_memory_stats", "Count what comes and goes anew.")


def empty_cache() -> None:
    """Give unused memory back: none is kept."""


__all__ = [
    "current_accelerator",
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
]
