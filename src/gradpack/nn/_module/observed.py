"""Calls of modules, for a profiler that wants to see them.

While one is on, `Module.__call__` is another function, which tells it. Nothing of this is paid for otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from ...base.modes import MODE
from ...declare.generate.profiling import MODULE
from ..modules.module import Module

_call = Module.__call__

_users: set[object] = set()

_lock = Lock()


def _observed(self: Module, *args: Any, **kwargs: Any) -> Any:
    recorder = MODE.get().profiler
    if not getattr(recorder, "modules", False):
        return _call(self, *args, **kwargs)
    before, token = recorder.running, recorder.enter(f"nn.Module: {type(self).__name__}", None)
    try:
        recorder.running = (*before, type(self).__name__)
        return _call(self, *args, **kwargs)
    finally:
        recorder.running = before
        recorder.leave(token, MODULE)


def observe() -> Callable[[], None]:
    """Observe calls of modules until the returned function is called."""
    me = object()

    def stop() -> None:
        with _lock:
            _users.discard(me)
            if not _users:
                Module.__call__ = _call  # type: ignore[method-assign]

    try:
        with _lock:
            _users.add(me)
            Module.__call__ = _observed  # type: ignore[method-assign, assignment]
    except BaseException:  # an interrupt
        stop()
        raise
    return stop
