"""Operations while a profiler is on.

Nothing here runs while none is: the compiled text of an operation hands a call over when `mode.special`
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
import re
from collections.abc import Callable
from functools import partial, wraps
from threading import get_ident
from time import perf_counter_ns
from typing import Any, TypeVar

from ..base.modes import MODE, Mode
from ..graph.node import Slot
from ..tensor.tensor import Tensor
from .op import Op

# What a record is of.
OP, NODE, ANNOTATION, MEMORY, MODULE, FUNCTION = range(6)

Slow = Callable[[tuple[Any, ...]], Any]


# What stands before the body of the compiled text, and at its end.
_BEFORE = """\
def _timed(_values):
    _mode = _MODE()
    _append = _mode.note
    if _append is None: return _unusual(_values)
    {params} = _values
    _start = _clock()
"""
_AFTER = """\
    _result = {result}
    _append((_name, _start, _clock(), _thread(), {seq}))
    return _result
"""


_OTHER = {"_slow": "_plain", "_complex": "_complex"}  # what compiled text calls, and what it is to call when profiled


def timed(op: Op, name: str, slow: Slow, names: dict[str, Any]) -> Slow:
    """What the compiled text of an operation calls in place of `slow`, so that profilers are told.

    Args:
        name: what the operation is called here: `add_` for the in-place form of `add`.
        names: the globals of the compiled function, which have its text in them once it is called.
    """
    current = MODE.get

    def call(values: tuple[Any, ...]) -> Any:
        if current().profiler is None:
            return slow(values)
        made = names["_slow"] = _compiled(op, name, slow, names)
        return made(values)

    return call


def _compiled(op: Op, name: str, slow: Slow, names: dict[str, Any]) -> Slow:
    """The compiled text with a clock in it, and without."""
    text = names["_text"]
    body = text[text.index("def _call(" if "def _call(" in text else "def ") :]
    first, _, body = body.partition("\n")
    body = re.sub(r"^    if (?:_former|out is not None): return .*\n", "", body, flags=re.MULTILINE)
    if body.lstrip().startswith("return _slow(") or "*args" in first:

        def uncompiled(*values: Any) -> Any:
            return slow(values)

        def watch(values: tuple[Any, ...]) -> Any:
            return watched(op, name, uncompiled, values)

        return watch
    body = body.rstrip("\n").replace("_mode.special", "_mode.busy")
    before = _BEFORE.format(params="".join(f"{p}, " for p in op.params))
    scratch = names | {"_slow": slow, "_plain": slow, "_name": name, "_rest": _rest}
    scratch |= {"_clock": perf_counter_ns, "_thread": get_ident, "_sequence": sequence_of}
    exec(compile(f"def _unprofiled({', '.join(op.params)}):\n{body}\n", f"<watched op {name}>", "exec"), scratch)
    body, _, result = body.rpartition("\n    return ")
    body = re.sub(
        r"return (_slow|_complex)\((.*)\)$",
        lambda found: f"return _rest({_OTHER[found[1]]}, _name, _start, _append, _mode, {found[2]})",
        body,
        flags=re.MULTILINE,
    )
    body = re.sub(r"    _mode = _MODE\(\)\n    if _mode\.busy: .*\n", "", body, count=1)
    seq = "None" if result in op.params else "_sequence(_result)"  # compiled writes in place record nothing
    if result == "_out":
        seq = "None if _out._edge is None else _out._edge.seq"
    whole = f"{before}{body}\n{_AFTER.format(result=result, seq=seq)}"
    filename = f"<profiled op {name}>"
    exec(compile(whole, filename, "exec"), scratch)
    linecache.cache[filename] = (len(whole), None, whole.splitlines(True), filename)
    unprofiled = scratch["_unprofiled"]

    def unusual(values: tuple[Any, ...]) -> Any:
        mode = MODE.get()
        profiler = mode.profiler
        if profiler is None:
            return slow(values)
        if profiler.append is None:
            return profiler.around(op, name, unprofiled, values, mode)
        return _rest(slow, name, perf_counter_ns(), profiler.append, mode, values)

    scratch["_unusual"] = unusual
    return scratch["_timed"]


def _rest(slow: Slow, name: str, start: int, append: Callable[[Any], None], mode: Mode, values: tuple[Any, ...]) -> Any:
    """A call that the compiled text gave up."""
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
            return edge.parent.seq if isinstance(edge, Slot) else edge.seq
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


def noted(function: _F, name: str | None = None) -> _F:
    """A function that is no operation of its own (it makes tensors, or calls several), of which profilers are told.

    Args:
        name: what it is called there, if not by its own name.
    """
    current = MODE.get
    called = function.__name__ if name is None else name

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if current().profiler is None:
            return function(*args, **kwargs)
        return watched(None, called, partial(function, **kwargs), args)

    call.inside = function  # type: ignore[attr-defined]  # on arrays there is nothing to tell: see `Backend.bind`
    return call  # type: ignore[return-value]
