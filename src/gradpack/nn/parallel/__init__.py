"""A model on several ranks: `DistributedDataParallel`."""

from .distributed import DistributedDataParallel as DistributedDataParallel

__all__ = ["DistributedDataParallel"]
