"""Helpers under torch's paths: `checkpoint`, `dlpack`, `hooks`."""

from ..tensor.swap import swap_tensors
from . import checkpoint, dlpack, hooks

__all__ = ["checkpoint", "dlpack", "hooks", "swap_tensors"]
