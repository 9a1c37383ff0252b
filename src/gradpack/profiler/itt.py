"""Ranges of the user's own for Intel's VTune: `torch.profiler.itt`. They need the library ittapi (`gradpack[itt]`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

from ..autograd.profiling.emit import _library
from ..base.exits import block, surely

_depth: ContextVar[int] = ContextVar("gradpack itt depth", default=0)


def is_available() -> bool:
    """Whether ranges can be emitted: whether the library is installed."""
    return find_spec("ittapi") is not None


def _domain() -> tuple[Any, Any]:
    library = _library("ittapi", "itt")
    return library, library.domain("gradpack")


def range_push(msg: str) -> int:
    """Begin a nested range and return its depth, 0 for the outermost.

    Raises:
        ImportError: without the library.
    """
    library, domain = _domain()
    library.task_begin(domain, library.string_handle(msg))
    depth = _depth.get()
    _depth.set(depth + 1)
    return depth


def range_pop() -> int:
    """End the innermost range and return the depth that remains.

    Raises:
        ImportError: without the library.
    """
    library, domain = _domain()
    library.task_end(domain)
    depth = _depth.get() - 1
    _depth.set(depth)
    return depth


def mark(msg: str) -> None:
    """Mark a single point in time.

    Raises:
        ImportError: without the library.
    """
    library, domain = _domain()
    library.task_begin(domain, library.string_handle(msg))
    library.task_end(domain)


@block
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range for a block, or for the calls of a function. Further arguments go to `msg.format`.

    Raises:
        ImportError: without the library.
    """
    depth = _depth.get()
    with surely(lambda: range_pop() if _depth.get() > depth else None):
        range_push(msg.format(*args, **kwargs))
        yield


__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]
