"""`torch.cuda`, on a machine without: what programs ask before they choose a device."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


def is_available() -> bool:
    """Whether there is a CUDA device: no."""
    return False


is_initialized = is_bf16_supported = is_available


def device_count() -> int:
    """How many CUDA devices there are: none."""
    return 0


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors hold on a CUDA device: none."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Numbers of the allocator of a CUDA device: none. Those of the CPU: `gradpack.cpu.memory_stats()`."""
    return OrderedDict()


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The numbers of `memory_stats` as a table: an empty text."""
    return ""


def empty_cache() -> None:
    """Give unused memory of CUDA devices back: there is none."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Start to count peaks anew: nothing is counted."""


def manual_seed(seed: int) -> None:
    """Seed the generator of a CUDA device: there is none, and nothing happens."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all CUDA devices: there are none, and nothing happens."""


def seed() -> None:
    """Seed the generator of a CUDA device by chance: there is none, and nothing happens."""


def _absent(name: str, doc: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("Torch not compiled with CUDA enabled")

    refuse.__name__ = name
    refuse.__doc__ = f"{doc} Refused: there is no CUDA device."
    return refuse


current_device = _absent("current_device", "The index of the device that is in use.")
get_device_name = _absent("get_device_name", "The name of a device.")
get_device_properties = _absent("get_device_properties", "What is known of a device.")
get_device_capability = _absent("get_device_capability", "The version of what a device can do.")
set_device = _absent("set_device", "Choose a device.")
synchronize = _absent("synchronize", "Wait until a device has done its work.")
current_stream = _absent("current_stream", "The stream of operations that is in use.")

__all__ = [
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "seed",
    "set_device",
    "synchronize",
]
