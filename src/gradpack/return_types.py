"""Named tuples of multiple results: `torch.max(x, 0)` returns a `return_types.max`."""

from __future__ import annotations

from typing import Any

from .base.return_types import TYPES
from .ops.methods import load_all


def __getattr__(name: str) -> Any:
    if name not in TYPES and not name.startswith("__"):
        load_all()
    if name in TYPES:
        return TYPES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    load_all()
    return sorted(TYPES)
