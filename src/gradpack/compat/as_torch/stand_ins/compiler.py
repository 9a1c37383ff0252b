"""`torch.compiler` without a compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .jit import _given


def is_compiling() -> bool:
    """Whether a compiler reads the code: no."""
    return False


is_dynamo_compiling = is_exporting = is_compiling
disable = allow_in_graph = assume_constant_result = substitute_in_graph = _given
forbid_in_graph = nested_compile_region = _given


def reset() -> None:
    """Do nothing: there are no compiled functions."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Return the available compiler backends: none."""
    return []


@contextmanager
def set_stance(stance: Any = "default", **options: Any) -> Iterator[None]:
    """Do nothing: nothing is compiled."""
    yield


__all__ = ["allow_in_graph", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]
