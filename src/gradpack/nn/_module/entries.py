"""Indices and entries of containers, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

from ..modules.module import Module


def position(length: int, where: Any) -> int:
    """A list index, counted from the end if negative, as a position."""
    at: int = index(where)
    if not -length <= at < length:
        raise IndexError(f"index {at} is out of range for {length} entries")
    return at % length


def pairs(what: str, entries: Any) -> list[tuple[str, Any]]:
    """Names and values, from a mapping or something like one, or from pairs; checked before anything is done."""
    if not isinstance(entries, Iterable):
        raise TypeError(
            f"{what} should be called with an iterable of key/value pairs, but got {type(entries).__name__}"
        )
    if isinstance(entries, Mapping) or (isinstance(entries, Module) and hasattr(entries, "items")):
        found: Any = entries
        return list(found.items())
    found = []
    for i, entry in enumerate(entries):
        if not isinstance(entry, Iterable):
            raise TypeError(f"{what}: entry {i} should be a pair of key and value, but is {type(entry).__name__}")
        pair = tuple(entry)
        if len(pair) != 2:
            raise ValueError(f"{what}: entry {i} has length {len(pair)}; 2 is required")
        found.append(pair)
    return found
