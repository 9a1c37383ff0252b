"""Ctrl-C at any instruction of Python, one after the other: the same each time, unlike a signal from a timer."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

SWEEP = bool(os.environ.get("GRADPACK_SWEEP"))

# Python looks for signals after calls, and where functions and loops begin again. Going on with an iterator is no call:
# so what these do is not noticed before the function that is traced does one of those.
_STOP = map(sys.settrace, itertools.repeat(None))
_SIGNAL = map(interrupt_main, itertools.repeat(signal.SIGINT))


class _Trace:
    """Counts instructions, and sends the signal before one of them."""

    def __init__(self, at: int) -> None:
        self.at, self.count, self.where = at, 0, "after the end"

    def call(self, frame: FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.step

    def step(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            self.count += 1
            if self.count == self.at:
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}, before {frame.f_lasti}"
                for _ in _STOP:
                    for _ in _SIGNAL:
                        return None
        return self.step


def _run(step: Callable[[], Any], at: int) -> _Trace:
    trace, before = _Trace(at), sys.gettrace()
    try:
        try:
            sys.settrace(trace.call)
            step()
        finally:
            sys.settrace(before)
        signal.getsignal(signal.SIGINT)  # a signal that came last is noticed here
    except KeyboardInterrupt:
        pass
    return trace


def at_each_moment(
    step: Callable[[], Any], prepare: Callable[[], Any] = lambda: None, most: int = 1000
) -> Iterator[str]:
    """Run `step()` with an interrupt at one moment after the other; yields after each, and says where it was.

    Args:
        step: a function that does the same each time.
        prepare: is called before, and not interrupted.
        most: how many moments, spread over all of them; all with GRADPACK_SWEEP=1.
    """
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    hook, sys.unraisablehook = sys.unraisablehook, lambda error: None  # an interrupt while an object dies is lost
    try:
        for _ in range(2):  # what is made at the first call is there
            prepare()
            count = _run(step, 0).count
        for at in range(1, count + 1, 1 if SWEEP else max(1, -(-count // most))):
            prepare()
            yield _run(step, at).where
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, handler)
