"""`torch._dynamo` without a compiler."""

from __future__ import annotations

from typing import Any

from .compiler import is_compiling, reset
from .jit import _given

optimize = disable = allow_in_graph = disallow_in_graph = forbid_in_graph = run = assume_constant_result = _given


def mark_dynamic(tensor: Any, index: Any, **limits: Any) -> None:
    """Do nothing: nothing is compiled for given shapes."""


mark_static = maybe_mark_dynamic = mark_static_address = mark_dynamic


def is_dynamo_supported() -> bool:
    """Whether functions can be compiled: no."""
    return False


def graph_break(msg: str = "") -> None:
    """Do nothing: there is no traced graph."""


__all__ = ["allow_in_graph", "disable", "is_compiling", "optimize", "reset", "run"]
