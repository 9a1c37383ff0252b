"""`torch.mps`, on a machine without."""


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def device_count() -> int:
    """How many such devices there are: none."""
    return 0


def empty_cache() -> None:
    """Give unused memory back: there is none."""


def manual_seed(seed: int) -> None:
    """Seed the generator of such a device: there is none, and nothing happens."""


def synchronize() -> None:
    """Wait until such a device has done its work: there is none.

    Raises:
        AssertionError: always.
    """
    raise AssertionError("Torch not compiled with MPS enabled")


__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]
