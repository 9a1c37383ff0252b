"""Datasets, orders in which they are read, and batches: `torch.utils.data`, in one process."""

from ...declare.signature.constructors import explain_constructors as _explain_constructors
from .dataloader import *
from .dataset import *
from .distributed import *
from .sampler import *

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = sorted(n for n, found in globals().items() if n[0] != "_" and callable(found))
_explain_constructors([*globals().values()])
