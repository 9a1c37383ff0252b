"""`torch.mps`: reported as unavailable."""

from .backends.absent import device_count, empty_cache, is_available, manual_seed, not_compiled

synchronize = not_compiled("MPS")

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]
