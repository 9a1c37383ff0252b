"""The first and last lines of every text of an operation: its signature, the test of the mode, and the way out."""

from __future__ import annotations

from typing import NamedTuple

from ..op import Op
from ..signature.aliases import lacking


class Form(NamedTuple):
    """Which text of an operation is meant.

    Attributes:
        complex: that for complex numbers: body and formulas are called, as their text has real numbers in it.
        clocked: that under a profiler that records times only.
        inner: that which another text calls, or a profiler: it takes the values as one tuple.
        in_place: the name of the in-place form, or "".
    """

    complex: bool = False
    clocked: bool = False
    inner: bool = False
    in_place: str = ""

    def leave(self, op: Op, function: str = "_slow") -> str:
        """Return the statement that hands the call over to a function of the values of all parameters."""
        if not self.clocked:
            return f"return {function}({values_of(op)})"
        function = "_plain" if function == "_slow" else function
        return f"return _rest({function}, _name, _start, _append, _mode, {values_of(op)})"

    def finish(self, result: str, seq: str) -> str:
        """Return the statements that return the result, whose node has the sequence number `seq`."""
        if not self.clocked:
            return f"    return {result}\n"
        return f"    _result = {result}\n    _append((_name, _start, _clock(), _thread(), {seq}))\n    return _result\n"

    def begin(self, op: Op) -> str:
        """Return the first lines: the signature, what other arguments ask for, and the test of the mode."""
        if self.inner:
            return (
                f"def _call(_values):\n    {''.join(f'{p}, ' for p in op.params)} = _values\n"
                f"    _mode = _MODE()\n    if _mode.needs_interpreter: {self.leave(op)}\n"
            )
        head = f"def {self.in_place or '_call'}({signature(op, self)}):\n{forwards(op, self)}    _mode = _MODE()\n"
        if not self.clocked:
            return f"{head}    if _mode.leaves_fast_path: {self.leave(op)}\n"
        return (
            f"{head}    _append = _mode.note\n    if _append is None: return _unusual({values_of(op)})\n"
            "    _start = _clock()\n"
        )


def values_of(op: Op) -> str:
    """Return the tuple of the values of all parameters, as text."""
    return "(" + "".join(f"{p}, " for p in op.params) + ")"


def signature(op: Op, form: Form) -> str:
    """Return the parameters of the function, with their defaults."""
    parts = []
    positional = len(op.params) - op.keyword_only
    for i, p in enumerate(op.params):
        if i == positional:
            parts.append("*_former" if op.legacy is not None else "*")
        parts.append(f"{p}=_default_{p}" if p in op.defaults else f"{p}=_missing" if i < positional else p)
    return ", ".join([*parts, "**_more"])


def forwards(op: Op, form: Form) -> str:
    """Return the statements for calls in an older order of arguments, or with `out=`, `axis=` or an unknown keyword.

    Composite functions pass their `out=None` on: that is as if it was not given.
    """
    lines = []
    if op.legacy is not None:
        positional = ", ".join(op.params[: len(op.params) - op.keyword_only])
        lines.append(f"if _former: return _in_former_order(({positional}, *_former), _more)")
    required = lacking(op.params, op.defaults) if op.axis and not form.in_place else []
    more = "_more" if form.in_place or op.view else "_more and (len(_more) > 1 or _more.get('out', 0) is not None)"
    test = " or ".join([more, *(f"{p} is _missing" for p in required)])
    lines.append(f"if {test}: return _with_more({values_of(op)}, _more)")
    return "".join(f"    {line}\n" for line in lines)


def arguments(op: Op, arrays: dict[str, str]) -> str:
    """Return the arguments of a call of the body, whose parameters are these expressions."""
    positional = len(op.params) - op.keyword_only
    parts = [arrays[p] for p in op.params[:positional]]
    return ", ".join(parts + [f"{p}={arrays[p]}" for p in op.params[positional:]])


def indented(text: str, levels: int = 1) -> str:
    """Return the text with each line indented by so many levels."""
    return "".join(f"{'    ' * levels}{line}" if line.strip() else line for line in text.splitlines(True))
