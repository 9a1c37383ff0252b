"""Helpers under torch's paths: `checkpoint`, `data`, `deterministic`, `dlpack`, `flop_counter`, `hooks`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.filled import fill_when_asked
from ..core.copying import swap_tensors
from . import checkpoint, dlpack, hooks

if TYPE_CHECKING:  # imported when it is first asked for
    from . import data as data
    from . import deterministic as deterministic
    from . import flop_counter as flop_counter


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        if name in ("data", "deterministic", "flop_counter"):
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["checkpoint", "data", "deterministic", "dlpack", "flop_counter", "hooks", "swap_tensors"]

fill_when_asked(__name__)
