"""Helpers under torch's paths: `checkpoint`, `hooks`."""

from ..tensor.swap import swap_tensors
from . import checkpoint, hooks

__all__ = ["checkpoint", "hooks", "swap_tensors"]
