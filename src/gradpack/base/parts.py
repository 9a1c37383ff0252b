"""Modules whose contents are in private parts, because they are too long for one file."""

from __future__ import annotations

import sys
from types import FunctionType


def adopt_parts(name: str) -> None:
    """Set `__module__` of what a module took from private files and folders beside it, as if it were defined there."""
    private = f"{name.rpartition('.')[0]}._"
    for value in tuple(vars(sys.modules[name]).values()):
        if isinstance(value, type | FunctionType) and value.__module__.startswith(private):
            value.__module__ = name
