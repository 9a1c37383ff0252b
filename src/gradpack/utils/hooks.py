"""Handles of hooks, and what pickling makes of hooks on tensors."""

from __future__ import annotations

from typing import Any

from ..core.copying import warn_if_has_hooks
from ..core.hooks import RemovableHandle


def unserializable_hook(f: Any) -> Any:
    """Mark a hook as one that need not survive pickling, so that `warn_if_has_hooks` says nothing of it."""
    f.__torch_unserializable__ = True
    return f


__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
