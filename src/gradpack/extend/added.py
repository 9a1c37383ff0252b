"""Registered extensions, in order, and how to undo each."""

from __future__ import annotations

from collections.abc import Callable

_UNDO: dict[str, Callable[[], None]] = {}  # "op sinhc", "method sinhc", "dtype float8" -> how to undo it


def note(what: str, undo: Callable[[], None]) -> None:
    """Register how an addition is undone. Steps of `undo` must be idempotent: an interrupt may repeat them."""
    _UNDO[what] = undo


def known() -> list[str]:
    return list(_UNDO)


def undo(what: str) -> None:
    _UNDO[what]()
    _UNDO.pop(what, None)


def refuse(what: str, name: str, where: str) -> None:
    raise ValueError(
        f"extend.{what}(): the name {name!r} is taken: {where} has it. Choose another name, or extend.remove({name!r}) "
        "first if it is an addition of yours"
    )
