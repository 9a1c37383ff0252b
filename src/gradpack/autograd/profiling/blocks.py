"""`record_function`: named blocks of code, which profilers show."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from ...base.exits import Exit
from ...base.modes import MODE


class record_function(ContextDecorator):  # noqa: N801 - torch's name
    """Context manager and decorator that labels a block of code, or the calls of a function, for profilers.

    Args:
        name: the label.
        args: a text recorded with it.

    Raises:
        RuntimeError: on entry, if the name is no str.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.profiler.profile() as prof:
        ...     with torch.autograd.profiler.record_function("block"):
        ...         y = torch.ones(3) * 2
        >>> [(event.name, event.is_user_annotation) for event in prof.function_events]
        [('block', True), ('aten::ones', False), ('aten::mul', False)]
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._open: tuple[tuple[Any, Any], ...] = ()

    def _recreate_cm(self) -> record_function:
        return type(self)(self.name, self.args)

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise RuntimeError(f"record_function: the name must be a text, not {type(self.name).__name__}")
        profiler = MODE.get().profiler
        token = None if profiler is None else profiler.enter(self.name, self.args)
        self._open = (*self._open, (profiler, token))
        return self

    def _leave(self, entered: tuple[Any, Any]) -> None:
        profiler, token = entered
        if self._open and self._open[-1] is entered:
            if profiler is not None:
                profiler.leave(token)
            self._open = self._open[:-1]

    __exit__ = Exit(lambda self: self._open[-1], _leave)

    def __repr__(self) -> str:
        return f"record_function({self.name!r}{'' if self.args is None else f', {self.args!r}'})"
