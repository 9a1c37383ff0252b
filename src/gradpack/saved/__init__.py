"""Policies for saved tensors (compress, offload, recompute), chosen per tensor, and tools that measure them."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from .budgets.budget import budget as budget
from .hook_pairs import Disk as Disk
from .hook_pairs import bfloat16 as bfloat16
from .info import SavedInfo as SavedInfo
from .meter import Meter as Meter
from .meter import meter as meter
from .policies.compress import bf16 as bf16
from .policies.compress import fp8 as fp8
from .policies.compress import fp16 as fp16
from .policies.compress import lossless as lossless
from .policies.compress import mask as mask
from .policies.offload import cpu as cpu
from .policies.offload import disk as disk
from .policies.quantize import quantize as quantize
from .policies.recompute import recompute as recompute
from .policies.storage_policy import keep as keep
from .policy import Policy as Policy
from .recorder.recording import Record as Record
from .recorder.recording import record as record
from .scope import bypass as bypass
from .scope import forbid as forbid
from .scope import name as name
from .scope import propagate as propagate

if TYPE_CHECKING:  # imported at first use, by `__getattr__`
    from . import torch as torch


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> _Any:
        if name == "torch":
            return _import_module(f"{__name__}.torch")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = sorted(["torch", *(n for n, found in globals().items() if n[0] != "_" and callable(found))])
