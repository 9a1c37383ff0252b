"""Handles of hooks, and what pickling makes of hooks on tensors."""

from __future__ import annotations

import warnings
from typing import Any

from ..tensor.hooks import RemovableHandle


def unserializable_hook(f: Any) -> Any:
    """Mark a hook as one that need not survive pickling, so that `warn_if_has_hooks` says nothing of it."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook on a tensor that pickling the tensor would lose."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
