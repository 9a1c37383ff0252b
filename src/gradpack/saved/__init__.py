"""Saved tensors under control: ways of keeping them, chosen by what they are, and a meter."""

from .codecs import bfloat16
from .info import SavedInfo
from .meter import Meter, meter
from .policy import Policy
from .record import Record, record
from .scope import bypass, forbid, name, propagate
from .spill import Disk

__all__ = [
    "Disk",
    "Meter",
    "Policy",
    "Record",
    "SavedInfo",
    "bfloat16",
    "bypass",
    "forbid",
    "meter",
    "name",
    "propagate",
    "record",
]
