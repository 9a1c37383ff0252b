"""What torch has under `torch.cpu`: `amp`, and answers about the only device of its kind."""

from . import amp


def is_available() -> bool:
    """True: there is a CPU."""
    return True


def device_count() -> int:
    """How many CPU devices there are: one."""
    return 1


def current_device() -> str:
    """The CPU."""
    return "cpu"


def synchronize(device: object = None) -> None:
    """Wait for work on the CPU: it has ended when a call returns."""


__all__ = ["amp", "current_device", "device_count", "is_available", "synchronize"]
