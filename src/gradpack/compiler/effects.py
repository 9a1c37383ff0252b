"""Refuses functions that do more than compute: calls of Python's that do or see something else each time."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ..base.exits import block
from ..core.tensor import Tensor
from ..declare.dispatch import interpreter
from ..declare.op import Op
from ..graph.node import AccumulateGrad, Node, OutputSlot
from ..ops.random.generator import Generator, default_generator
from .python.values import is_users
from .recording import Recorder
from .unrecorded import DISABLED


def place_of(function: Any) -> str:
    """Return where a function begins, as messages name lines; "" for one that has no code."""
    function = inspect.unwrap(function)
    code = getattr(inspect.unwrap(getattr(function, "forward", function)), "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno} in {code.co_name}"


EFFECTS = frozenset(
    """print input open write writelines time time_ns sleep perf_counter perf_counter_ns monotonic monotonic_ns
    process_time localtime gmtime strftime now utcnow today urandom getrandbits warn warn_explicit""".split()
)


@block
def observed(recorder: Recorder) -> Iterator[None]:
    """Refuse what the calls of a block do besides computing. What operations call is known, and not looked at."""
    interpret = interpreter.interpret

    def run(op: Op, values: Any, mode: Any) -> Any:
        if mode.hooks is not None or mode.ops or mode.recorder is not None:
            recorder.hooked = True
        elif _is_ours(op):
            return unobserved(interpret, op, values, mode)
        return interpret(op, values, mode)

    interpreter.interpret = run
    sys.setprofile(partial(effects, recorder))
    try:
        yield
    finally:
        sys.setprofile(None)
        interpreter.interpret = interpret


def unobserved(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function without the profile function, which takes most of the time of a recording."""
    profile = sys.getprofile()
    sys.setprofile(None)
    try:
        return function(*args)
    finally:
        sys.setprofile(profile)


def calls_nothing(nodes: Iterable[Node]) -> bool:
    """Return whether the backward pass of nodes calls nothing of the user's: hooks of saved tensors apart."""
    for node in nodes:
        op = getattr(node, "op", None)
        known = isinstance(node, AccumulateGrad | OutputSlot) if op is None else _is_ours(op)
        if not known or node.extras is not None:
            return False
    return True


def _is_ours(op: Op) -> bool:
    return op.forward.__module__.partition(".")[0] == _PACKAGE


def effects(recorder: Recorder, frame: Any, event: str, function: Any) -> None:
    """Refuse functions of Python that do or see something else each time.

    Args:
        function: what is called, or, at the event "return", what is returned.
    """
    if event != "c_call":
        code = id(frame.f_code)  # the hash of code is one of all its bytes
        if code in DISABLED and event == "call":
            recorder.refuse(f"it calls {frame.f_code.co_name}, which is disabled")
        executed = recorder.executed
        if event == "call" and executed is not None and code not in executed and noted(executed, frame):
            recorder.refuse(f"it calls {frame.f_code.co_name}, which it had not called before", again=True)
        if code == _OF_VERSIONS and event == "call":
            recorder.refuse("it reads `_version`, which is another number at each call")
        if code in _OF_GENERATORS:
            _of_generator(recorder, frame, event, function)
        return
    if recorder.inside or not recorder.open:
        return
    owner = type(getattr(function, "__self__", None)).__module__
    if getattr(function, "__name__", "") not in EFFECTS and owner not in ("_random", "random"):
        return
    is_users = False
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        library = name.partition(".")[0]
        if library in _COMPILERS or name.startswith("importlib._bootstrap"):
            return  # a loop is compiled, or a module is imported: not again in the next call
        if library == _PACKAGE:
            break
        is_users |= library not in _LIBRARIES
        frame = frame.f_back
    if is_users:
        recorder.refuse(f"it calls {function.__name__}()")


def noted(executed: dict[int, Any], frame: Any) -> bool:
    """Note the code of a frame, and return True, if it is the user's."""
    module = frame.f_globals.get("__name__") or ""
    generated = module == "" or module.startswith("namedtuple_") or module.partition(".")[0] in _COMPILERS
    if (generated or not is_users(module)) and not frame.f_code.co_filename.startswith("<doctest "):
        return False
    executed[id(frame.f_code)] = frame.f_code
    return True


def executing(executed: dict[int, Any], function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return what a function returns, and note the user's code that it runs."""

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "call" and id(frame.f_code) not in executed:
            noted(executed, frame)

    sys.setprofile(watch)
    try:
        return function(*args, **kwargs)
    finally:
        sys.setprofile(None)


def _of_generator(recorder: Recorder, frame: Any, event: str, result: Any) -> None:
    """Refuse what does something else each time to a generator; the default one may go back to where it was."""
    states = recorder.random.given
    if event == "return" and frame.f_code is Generator.get_state.__code__:
        states.append(result)
    if event != "call":
        return
    known = any(frame.f_locals.get("new_state") is state for state in states)
    if frame.f_locals["self"] is not default_generator:
        recorder.refuse("it seeds a generator, or looks at its state: do so outside")
    elif frame.f_code is Generator.set_state.__code__ and not known:
        recorder.refuse("it sets the state of random numbers, which it did not ask for: do so outside")


_OF_VERSIONS = id(Tensor._version.fget.__code__)  # type: ignore[attr-defined]
_OF_GENERATORS = frozenset(
    id(getattr(Generator, name).__code__) for name in "manual_seed seed initial_seed get_state set_state".split()
)
_PACKAGE = __name__.partition(".")[0]
_COMPILERS = frozenset({"numba", "llvmlite"})
_LIBRARIES = sys.stdlib_module_names - {"__main__"} | {"numpy"}
