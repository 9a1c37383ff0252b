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


__all__ = ["current_accelerator", "device_count", "is_available"]
