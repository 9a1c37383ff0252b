"""Names of `torch.serialization` for allowed globals: no effect, as loading never runs code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Do nothing: loading never runs code."""


def clear_safe_globals() -> None:
    """Do nothing: nothing is ever added."""


def get_safe_globals() -> list[Any]:
    """Return the globals allowed in addition to the built-in ones: always an empty list."""
    return []


@contextmanager
def safe_globals(safe_globals: list[Any]) -> Iterator[None]:
    """Do nothing: loading never runs code."""
    yield


__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"]
