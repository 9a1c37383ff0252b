"""Names of `torch` itself."""

from __future__ import annotations

from typing import Any

from ...tensor.storage import UntypedStorage
from .jit import _identity
from .version import __version__


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Any = None,
    disable: bool = False,
) -> Any:
    """Give back the function or module: operations run one by one. Without one, a decorator."""
    return _identity if model is None else model


TypedStorage = UntypedStorage


__all__ = ["TypedStorage", "UntypedStorage", "__version__", "compile"]
