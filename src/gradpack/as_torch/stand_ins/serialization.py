"""Names of `torch.serialization` that say which code a file may run: here no file can run any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Nothing needs to be allowed."""


def clear_safe_globals() -> None:
    """Nothing was allowed."""


def get_safe_globals() -> list[Any]:
    """Return the globals allowed in addition to the built-in ones: always an empty list."""
    return []


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Nothing needs to be allowed."""
    yield


__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"]
