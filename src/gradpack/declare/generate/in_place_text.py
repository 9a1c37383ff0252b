"""The text of an in-place form for the usual case: nothing to record, arrays of one dtype.

Anything that NumPy refuses (a read-only array, shapes that do not fit) it refuses before it writes, and is handed over.
"""

from __future__ import annotations

from ...kernels.dispatch import LARGE
from ..op import Op
from ..signature.arguments import USUAL, option_kinds, tests_of
from .form import Form, arguments, indented
from .operands import tensors_of

_RESULTS = frozenset({"same", "float", "bool"})

TARGET = """\
    _kind = type({p})
    if _kind is not _Tensor and _kind is not _Parameter: {leave}
    _spec = {p}._spec
    _counter = {p}._counter
    if not {plain} or type(_counter) is not list or len(_counter) != 1: {leave}
    if _mode.grad:
        if {p}._edge is not None: {record}
        _view = {p}._view
        if _view is not None and (_view.parent._edge is not None or _view.parent._view is not None):
            {record}
"""

OTHER = """\
    _kind = type({p})
    if _kind is _Tensor or _kind is _Parameter:
        if {p}._spec is not _spec or ({p}._counter is _counter and {p} is not {first}): {leave}
        if _mode.grad:
            if {p}._edge is not None: {leave}
            _view = {p}._view
            if _view is not None and (_view.parent._edge is not None or _view.parent._view is not None):
                {leave}
        {p}_ = {p}._data
{number}\
    else: {leave}
"""

NUMBER = """\
    elif _kind is float{fits} or _kind is int and -9223372036854775808 <= {p} < 9223372036854775808: {p}_ = {p}
"""

NONE = """\
    elif {p} is None: {p}_ = None
"""

INTO = """\
try: _ufunc({operands}, out=_array)
except Exception: {leave}
except BaseException:
    _counter[0] += 1
    raise
_counter[0] += 1
"""

LARGE_FORM = """\
if not _array.flags.writeable: {leave}
try: _data = _forward_large({args}, into=_array)
except Exception: {leave}
except BaseException:
    _counter[0] += 1
    raise
if _data is not _array:
    if _data.shape != _array.shape: {leave}
    _array[...] = _data
_counter[0] += 1
"""

THROUGH = """\
try:
    _data = {call}
    if _data.shape != _array.shape: {leave}
    _array[...] = _data
except Exception: {leave}
_counter[0] += 1
"""


def write_text(op: Op, form: Form) -> str | None:
    """Return the text of the in-place form; None if it is not of the usual kind."""
    if not _is_usual(op):
        return None
    first, leave = op.params[0], form.leave(op)
    tests = "" if op.ufunc is not None else _option_tests(op, leave)
    others = "".join(_other(op, p, leave) for p in tensors_of(op)[1:])
    write = _write(op, leave)
    if op.warns:
        write = _hushed(write)
    plain = "(_spec.plain or _spec is _INT64)" if _takes_int64(op) else "_spec.plain"
    target = TARGET.format(p=first, leave=leave, record=form.leave(op, "_recorded"), plain=plain)
    return (
        f"{form.begin(op)}{target}{tests}{others}    _array = {first}._data\n"
        f"{indented(write)}{form.finish(first, 'None')}"
    )


def _hushed(statements: str) -> str:
    """Return statements that run without warnings of NumPy's."""
    return f"for _token in _HUSHED:\n    try:\n{indented(statements, 2)}    finally: _unhush(_token)\n    break\n"


def _is_usual(op: Op) -> bool:
    """Return whether the operation is elementwise, with one result, and its first parameter is what is written to."""
    tensors = tensors_of(op)
    if op.kind != "elementwise" or op.returns or op.lists or op.residuals or op.keyword_only > 1:
        return False
    if not tensors or tensors[0] != op.params[0] or op.result not in _RESULTS:
        return False
    return not set(op.arrays) - set(tensors) or op.ufunc is not None


def _takes_int64(op: Op) -> bool:
    """Return whether arrays of int64 are written to as well, by numbers that are ints: there are no other options."""
    return bool(op.int64) and op.ufunc is not None and not set(op.params) - set(tensors_of(op)) - {"alpha"}


def _option_tests(op: Op, leave: str) -> str:
    numbers = {n: k for n, k in option_kinds(op).items() if k[0] == "number"}
    return "".join(f"    if {test}: {leave}\n" for test in tests_of(numbers, op.defaults, USUAL))


def _other(op: Op, p: str, leave: str) -> str:
    fits = " and _spec is not _INT64" if _takes_int64(op) else ""
    number = NUMBER.format(p=p, fits=fits) if p in op.scalars else ""
    if op.defaults.get(p, 0) is None:
        number += NONE.format(p=p)
    return OTHER.format(p=p, first=op.params[0], number=number, leave=leave)


def _write(op: Op, leave: str) -> str:
    """Return the statements that write: in blocks, by a function of NumPy that does, or by way of a new array."""
    tensors = tensors_of(op)
    arrays = {p: f"{p}_" if p in tensors else p for p in op.params} | {op.params[0]: "_array"}
    through = THROUGH.format(call=f"_forward({arguments(op, arrays)})", leave=leave)
    named = op.params[len(op.params) - op.keyword_only :]
    numbers = "".join(f" and not isinstance({p}, _Tensor)" for p in op.params if p not in tensors)
    large = ""
    if op.blocks is not False and "generator" not in op.params:
        large = LARGE_FORM.format(args=", ".join(arrays[p] for p in op.params), leave=leave)
        large = indented(large if op.warns else _hushed(large))
    if op.ufunc is None:
        return f"if _array.size >= {LARGE}{numbers}:\n{large}else:\n{indented(through)}" if large else through
    operands = ", ".join(arrays[p] for p in op.params if p not in named)
    into = INTO.format(operands=operands, leave=leave)
    if large:
        test = f"_seen and _array.size >= {2 * LARGE} and _array.dtype.char in 'fd'"
        into = f"if {test}:\n{large}else:\n{indented(into)}"
    if not named:
        return into
    otherwise = f"if _spec is _INT64: {leave}\n" if _takes_int64(op) else ""
    otherwise += "".join(f"if {USUAL['number'].format(p)}: {leave}\n" for p in named) + through
    if large:
        otherwise = f"if _array.size >= {LARGE}{numbers}:\n{large}else:\n{indented(otherwise)}"
    usual = " and ".join(f"{p} is _default_{p}" for p in named)
    return f"if not ({usual}):\n{indented(otherwise)}else:\n{indented(into)}"
