"""Helpers under torch's paths: `checkpoint`, `hooks`."""

from . import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
