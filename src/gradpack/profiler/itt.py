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
    """Whether ranges can be emitted: whether the library is installed.

    Example::

        >>> import gradpack as torch
        >>> from importlib.util import find_spec
        >>> torch.profiler.itt.is_available() == (find_spec("ittapi") is not None)
        True
    """
    return find_spec("ittapi") is not None


def _domain() -> tuple[Any, Any]:
    library = _library("ittapi", "itt")
    return library, library.domain("gradpack")


def range_push(msg: str) -> int:
    """Begin a nested range and return its depth, 0 for the outermost.

    Args:
        msg: the name of the range.

    Raises:
        ImportError: without the library.

    Example::

        >>> import gradpack as torch
        >>> itt = torch.profiler.itt
        >>> if itt.is_available():
        ...     assert itt.range_push("epoch") == 0
        ...     assert itt.range_push("step") == 1
        ...     assert itt.range_pop() == 1
        ...     assert itt.range_pop() == 0
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

    Example::

        >>> import gradpack as torch
        >>> itt = torch.profiler.itt
        >>> if itt.is_available():
        ...     depth = itt.range_push("step")
        ...     assert itt.range_pop() == depth
    """
    library, domain = _domain()
    library.task_end(domain)
    depth = _depth.get() - 1
    _depth.set(depth)
    return depth


def mark(msg: str) -> None:
    """Mark a single point in time.

    Args:
        msg: the name of the mark.

    Raises:
        ImportError: without the library.

    Example::

        >>> import gradpack as torch
        >>> if torch.profiler.itt.is_available():
        ...     torch.profiler.itt.mark("loss became small")
    """
    library, domain = _domain()
    library.task_begin(domain, library.string_handle(msg))
    library.task_end(domain)


@block
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Emit a range for a block, or for the calls of a function: a context manager and a decorator.

    Args:
        msg: the name of the range, in which `format` puts the other arguments.
        args: what `{}` stands for in `msg`.
        kwargs: what names in braces stand for.

    Raises:
        ImportError: without the library.

    Example::

        >>> import gradpack as torch
        >>> if torch.profiler.itt.is_available():
        ...     with torch.profiler.itt.range("step {}", 3):
        ...         _ = torch.ones(3).exp()
    """
    depth = _depth.get()
    with surely(lambda: range_pop() if _depth.get() > depth else None):
        range_push(msg.format(*args, **kwargs))
        yield


__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]
