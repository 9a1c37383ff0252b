"""Saved tensors under control: ways of keeping them, chosen by what they are, and a meter."""

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
from .scope import bypass, forbid, name, propagate
from .spill import Disk
from .store import keep

__all__ = [
    "Disk",
    "Meter",
    "Policy",
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
]
