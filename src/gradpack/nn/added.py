"""Registration of module hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.hooks import RemovableHandle
from ..core.hooks import add as add_hook


def add(
    hooks: dict[int, Any], hook: Callable[..., Any], prepend: bool = False, flags: tuple[dict[int, bool], ...] = ()
) -> RemovableHandle:
    """Put `hook` last, or first, among `hooks`, and set each of `flags` for it."""
    handle = add_hook(hooks, hook, prepend=prepend, extra=flags)  # type: ignore[arg-type]
    try:
        for flag in flags:
            flag[handle.id] = True
    except BaseException:  # an interrupt: the caller never got the handle
        handle.remove()
        raise
    return handle
