"""Refuses functions that do more than compute: calls of Python's that do or see something else each time."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from . import DISABLED
from .recording import Recorder


def place_of(function: Any) -> str:
    """Return where a function begins, as messages name lines; "" for one that has no code."""
    function = inspect.unwrap(getattr(function, "forward", function))
    code = getattr(function, "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno} in {code.co_name}"


_EFFECTS = frozenset(
    """print input open time time_ns sleep perf_counter perf_counter_ns monotonic monotonic_ns process_time localtime
    gmtime strftime now utcnow today urandom getrandbits warn warn_explicit""".split()
)


def effects(recorder: Recorder, frame: Any, event: str, function: Any) -> None:
    """Refuse functions of Python that do or see something else each time."""
    if event == "call" and DISABLED and frame.f_code in DISABLED:
        recorder.refuse(f"it calls {frame.f_code.co_name}, which is disabled")
    if event != "c_call" or recorder.inside or not recorder.open:
        return
    owner = type(getattr(function, "__self__", None)).__module__
    if getattr(function, "__name__", "") not in _EFFECTS and owner not in ("_random", "random"):
        return
    is_users = False
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        library = name.partition(".")[0]
        if library in _COMPILERS or name.startswith("importlib._bootstrap"):
            return  # a loop is compiled, or a module is imported: not again in the next call
        if library == "gradpack":
            break
        is_users |= library not in _LIBRARIES
        frame = frame.f_back
    if is_users:
        recorder.refuse(f"it calls {function.__name__}()")


_COMPILERS = frozenset({"numba", "llvmlite"})
_LIBRARIES = sys.stdlib_module_names - {"__main__"} | {"numpy"}
