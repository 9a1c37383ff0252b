"""Policies for saved tensors (compress, offload, recompute), chosen per tensor, and tools that measure them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .budget import budget
from .casts import bf16, fp8, fp16
from .codecs import bfloat16
from .cpu import cpu
from .disk import disk
from .info import SavedInfo
from .lossless import lossless
from .masks import mask
from .meter import Meter, meter
from .policy import Policy
from .quantize import quantize
from .recompute import recompute
from .recording import Record, record
from .scope import bypass, forbid, name, propagate
from .spill import Disk
from .store import keep

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
