"""Helpers under torch's paths: `checkpoint`, `data`, `dlpack`, `hooks`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..tensor.swap import swap_tensors
from . import checkpoint, dlpack, hooks

if TYPE_CHECKING:  # imported when it is first asked for
    from . import data as data


def __getattr__(name: str) -> Any:
    if name == "data":
        return import_module(f"{__name__}.data")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["checkpoint", "data", "dlpack", "hooks", "swap_tensors"]
