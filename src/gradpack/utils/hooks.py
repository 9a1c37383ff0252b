"""Handles of hooks."""

from ..tensor.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
