"""Operations while a profiler is on.

Nothing here runs while none is: the compiled text of an operation hands a call over when `mode.leaves_fast_path`
says that something is unusual, and what it hands over comes here first. If a profiler is all there is, the same
text runs once more between two readings of the clock, with the profiler left out of what counts as unusual. So
operations do the same when somebody looks.

A profiler, as `Mode.profiler` holds it, has

- `append`: takes the entries of a record, `(what, start, end, thread, seq)`, if that is all it wants, where `what` is
  the name of an operation, or `(kind, name)`; else None, and then
- `around(op, name, run, values, mode, kind)`: runs `run(*values)`, and notes what it likes of it;
- `nodes()`: an observer of one backward pass (see `graph/engine.py`), or None.
"""

from __future__ import annotations

import linecache
from _thread import RLock, get_ident
from collections.abc import Callable
from functools import partial, wraps
from time import perf_counter_ns
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeVar

from ...base.modes import MODE, Mode
from ...core.tensor import Tensor
from ...core.torch_function import through_functions
from ...graph.node import OutputSlot
from ..op import Op

# The kinds of records.
OP, NODE, ANNOTATION, MEMORY, MODULE, FUNCTION = range(6)

Slow = Callable[[tuple[Any, ...]], Any]


class Codes(NamedTuple):
    """The code of a function without a profiler, and under a profiler that records times only."""

    plain: CodeType
    clocked: CodeType


# Functions that were called under a profiler. While one is on they run timed code: handing each
# call over to such code would cost half as much again as reading the clock does.
_clocked: dict[FunctionType, Codes] = {}
_profilers: set[int] = set()  # those that are on
_lock = RLock()


def begin(profiler: object) -> None:
    """Start a profiler that records times only: functions called under one before get their timed code."""
    with _lock:
        _profilers.add(id(profiler))
        for function, codes in _clocked.items():
            function.__code__ = codes.clocked


def end(profiler: object) -> None:
    """Stop a profiler; after the last one, functions get their plain code back. Safe to interrupt and call again."""
    with _lock:
        _profilers.discard(id(profiler))
        if not _profilers:
            for function, codes in _clocked.items():
                function.__code__ = codes.plain


def forget(function: FunctionType) -> None:
    """Drop the timed code of a function whose code is about to be generated again."""
    with _lock:
        known = _clocked.pop(function, None)
    if known is not None:
        names = function.__globals__
        op: Op = function.op  # type: ignore[attr-defined]
        names["_slow"] = timed(op, names["_name"], names["_plain"], names, names["_name"] != op.name)


def timed(op: Op, name: str, slow: Slow, names: dict[str, Any], in_place: bool = False) -> Slow:
    """Return the function that generated code calls in place of `slow`: it notifies profilers.

    Args:
        name: what the operation is called here: `add_` for the in-place form of `add`.
        names: the globals of the compiled function, which have itself in them, as `_function`.
        in_place: whether it is the in-place form.
    """
    current = MODE.get

    def call(values: tuple[Any, ...]) -> Any:
        if current().profiler is None:
            return slow(values)
        made = names["_slow"] = _compiled(op, name, slow, names, name if in_place else "")
        return made(values)

    return call


def _compiled(op: Op, name: str, slow: Slow, names: dict[str, Any], in_place: str) -> Slow:
    """Give the function code that takes times; return the handler of calls that this code passes on."""
    from .emitter import Form, function_text

    clocked = function_text(op, Form(clocked=True, in_place=in_place))
    inner = function_text(op, Form(inner=True, in_place=in_place))
    if clocked is None or inner is None:
        return lambda values: watched(op, name, lambda *given: slow(given), values)
    scratch = names | {"_slow": slow}
    exec(compile(inner, f"<watched op {name}>", "exec"), scratch)
    unprofiled = scratch["_call"]

    def unusual(values: tuple[Any, ...]) -> Any:
        mode = MODE.get()
        profiler = mode.profiler
        run = slow if mode.needs_interpreter else unprofiled
        if profiler is None:
            return run(values)
        if profiler.append is None:
            return profiler.around(op, name, lambda *given: unprofiled(given), values, mode)
        return _rest(run, name, perf_counter_ns(), profiler.append, mode, values)

    filename = f"<profiled op {name}>"
    exec(compile(clocked, filename, "exec"), scratch)
    linecache.cache[filename] = (len(clocked), None, clocked.splitlines(True), filename)
    names |= {"_plain": slow, "_name": name, "_rest": _rest, "_unusual": unusual}
    names |= {"_clock": perf_counter_ns, "_thread": get_ident, "_sequence": sequence_of}
    function = names["_function"]
    code = scratch[in_place or "_call"].__code__.replace(co_name=function.__name__, co_qualname=function.__name__)
    with _lock:
        _clocked[function] = Codes(function.__code__, code)
        if _profilers:
            function.__code__ = code
    return unusual


def _rest(slow: Slow, name: str, start: int, append: Callable[[Any], None], mode: Mode, values: tuple[Any, ...]) -> Any:
    """Run a call that the generated code passed on, and record it."""
    seq = None
    try:
        out = slow(values)
        seq = sequence_of(out) if mode.grad else None
        return out
    finally:
        append((name, start, perf_counter_ns(), get_ident(), seq))


def sequence_of(out: Any) -> int | None:
    """The sequence number of the node that made a result, or the first of several that has one."""
    for value in out if isinstance(out, tuple) else (out,):
        if isinstance(value, Tensor) and value._edge is not None:
            edge = value._edge
            return edge.parent.seq if isinstance(edge, OutputSlot) else edge.seq
    return None


def watched(op: Any, name: str, call: Callable[..., Any], values: tuple[Any, ...], kind: int = OP) -> Any:
    """`call(*values)`, of which the profiler is told, if there is one: for calls that no compiled text makes."""
    mode = MODE.get()
    profiler = mode.profiler
    if profiler is None:
        return call(*values)
    if profiler.append is None:
        return profiler.around(op, name, call, values, mode, kind)
    seq = None
    start = perf_counter_ns()
    try:
        out = call(*values)
        seq = sequence_of(out) if mode.grad else None
        return out
    finally:
        profiler.append((name if kind == OP else (kind, name), start, perf_counter_ns(), get_ident(), seq))


_F = TypeVar("_F", bound=Callable[..., Any])


def profiled(function: _F, name: str | None = None) -> _F:
    """Decorate a function that is not an operation (it creates tensors, or calls several) so that profilers record it.

    Args:
        name: what it is called there, if not by its own name.
    """
    current = MODE.get
    called = function.__name__ if name is None else name

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        mode = current()
        if not mode.leaves_fast_path:
            return function(*args, **kwargs)
        if mode.functions:
            from ..signature.wrapper import form_of_users

            return through_functions(form_of_users(call), called, (*args, *kwargs.values()), args, kwargs)
        if mode.profiler is None:
            return function(*args, **kwargs)
        return watched(None, called, partial(function, **kwargs), args)

    call.inside = function  # type: ignore[attr-defined]  # on arrays there is nothing to tell: see `Backend.bind`
    return call  # type: ignore[return-value]
