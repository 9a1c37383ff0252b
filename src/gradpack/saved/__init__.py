"""Policies for saved tensors (compress, offload, recompute), chosen per tensor, and tools that measure them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .budgets.budget import budget
from .hook_pairs import Disk, bfloat16
from .info import SavedInfo
from .meter import Meter, meter
from .policies.casts import bf16, fp8, fp16
from .policies.lossless import lossless, mask
from .policies.offload import cpu, disk
from .policies.quantize import quantize
from .policies.recompute import recompute
from .policies.storage_policy import keep
from .policy import Policy
from .recorder.recording import Record, record
from .scope import bypass, forbid, name, propagate

if TYPE_CHECKING:  # imported at first use, by `__getattr__`
    from . import torch as torch


def __getattr__(name: str) -> Any:
    if name == "torch":
        return import_module(f"{__name__}.torch")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Disk",
    "Meter",
    "Policy",
    "Record",
    "SavedInfo",
    "bf16",
    "bfloat16",
    "budget",
    "bypass",
    "cpu",
    "disk",
    "forbid",
    "fp8",
    "fp16",
    "keep",
    "lossless",
    "mask",
    "meter",
    "name",
    "propagate",
    "quantize",
    "recompute",
    "record",
    "torch",
]
