"""`torch.distributed`: programs that run as several processes or threads, the ranks, which exchange tensors."""

from . import distributed_c10d as distributed_c10d
from . import threads as threads
from .distributed_c10d import *

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = [*vars(distributed_c10d)["__all__"], "distributed_c10d", "threads"]
