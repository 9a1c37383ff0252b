"""Instructions on small arrays as loops, beside those that `fusion` makes: neighbouring loops are one call.

They are single elementwise steps; concatenations and gradients of subscripts, which write elements to places that are
known when the program is made; and reductions, whose sums of up to 128 elements are added up in NumPy's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...declare.generate.fusion import LOOPS
from ...kernels.dispatch import ENABLED, LARGE, loaded
from ..program import Instruction, Program, Variable, new_memory, variables
from .buffers import planned
from .fusion import is_dense, loop_of, size_of, steps_of
from .small_loops import SmallLoop

_SUBSCRIPTS = frozenset({"slice", "select", "slice_newaxis"})
_CALL, _NEW, _ROOM = 220, 45, 130  # nanoseconds of NumPy's shortest call, to pass an address, and to make an array
_MOVED, _ADDED = 1 << 10, 1 << 12  # elements, of which NumPy moves and adds up more in less time
_IN_ONE_SUM = 128  # elements that NumPy adds up in eight sums, before it divides them into halves


def with_small_forms(program: Program) -> Program:
    """Return a program in which more instructions on small arrays are loops: those that stand beside others."""
    if not ENABLED["numba"] or loaded(LOOPS) is None:
        return program
    forms = [_form(each) for each in program.instructions]
    kept = {v.memory for v in (*program.steady, *planned(program).of)}  # arrays that are the same ones at each call
    made = {e.results.memory for e, form in zip(program.instructions, forms, strict=True) if form is not None}
    kept |= made - {v.memory for v in (*program.inputs, *program.state, *program.outputs)}
    forms = [f if _pays(each, kept) else None for each, f in zip(program.instructions, forms, strict=True)]
    calls = [i for i, each in enumerate(program.instructions) if not _is_view(each)]
    found = [*program.instructions]
    for k, i in enumerate(calls):
        form, beside = forms[i], [*calls[max(k - 1, 0) : k], *calls[k + 1 : k + 2]]
        if form is not None and any(isinstance(found[j].function, SmallLoop) or forms[j] is not None for j in beside):
            found[i] = form(found[i])
    return program._replace(instructions=found)


def _is_view(each: Instruction) -> bool:
    """Return whether the result of an instruction shares memory with an argument, and nothing is written."""
    made = each.results
    if each.kind != "call" or each.writes or not isinstance(made, Variable):
        return False
    return any(v.memory == made.memory for v in variables((each.args, each.kwargs)))


def _pays(each: Instruction, kept: set[Any]) -> bool:
    """Return whether a loop beside others takes less time than an instruction, with what arrays cost that are new.

    Args:
        kept: the memory of others.
    """
    made, given = variables(each.results), variables((each.args, each.kwargs))
    new = sum(v.value is None and v.memory not in kept for v in (*made, *given))
    return _NEW * new + _ROOM * any(v.memory not in kept for v in made) < _CALL


def _form(each: Instruction) -> Callable[[Instruction], Instruction] | None:
    """Return what makes a loop of an instruction; None for one that is none."""
    made = each.results
    if each.kind != "call" or not isinstance(made, Variable) or not is_dense(made) or size_of(made) >= LARGE:
        return None
    if made.dtype.char not in "fd?" or 0 in made.shape:
        return None
    steps = steps_of(each, 1)
    if steps is not None and len(steps) == 1:
        return _step
    given = variables((each.args, each.kwargs))
    if (
        made.dtype.char == "?"
        or each.writes
        or not all(map(is_dense, given))
        or max(map(size_of, given), default=0) > _ADDED
    ):
        return None
    if size_of(made) <= _MOVED and each.name in ("np.concatenate", "np.stack") and _pieces(each) is not None:
        return _joined
    if size_of(made) <= _MOVED and _subscript(each) is not None:
        return _placed
    return _reduced if _reduction(each) is not None else None


def _step(each: Instruction) -> Instruction:
    steps = steps_of(each, 1)
    assert steps is not None
    made = each.results
    loop = loop_of(steps, [made], made)
    if loop is None:
        return each
    function, arrays, numbers = loop
    return _instruction(each, function, arrays, numbers)


def _instruction(each: Instruction, function: SmallLoop, arrays: list[Variable], numbers: list[Any]) -> Instruction:
    name = "loop_of_" + each.name.removeprefix("np.").replace(".", "_")
    facts = [(each.results.shape, each.results.dtype)]
    args = (*arrays, *numbers)
    return Instruction(function, name, args, {}, [each.results], each.writes, facts, "loop", each.line)


def _whole(text: str, arrays: list[Variable], made: Variable) -> SmallLoop:
    """Return a loop of a text that gets arrays as vectors of all of their elements."""
    described: list[tuple[str, int, str, tuple[int, ...]]] = [
        ("w", 1, v.dtype.char, (size_of(v),)) for v in (*arrays, made)
    ]
    compiled: Any = loaded(LOOPS)
    return SmallLoop(compiled(text, True), text.format(name="loop"), 1, described, np.float64, 1)


# -- what moves elements --


def _constant(array: Any) -> Variable:
    return Variable(-1, next(new_memory), array, "places", array)


def _moves(count: int, fills: bool) -> str:
    """Return the text of a loop that writes the elements of arrays to places of one array."""
    arrays = [f"a{i}, p{i}" for i in range(count)]
    lines = [f"def {{name}}({', '.join([*arrays, '_all'])}):"]
    if fills:
        lines += ["    for _i in range(_all.size):", "        _all[_i] = 0"]
    for i in range(count):
        lines += [f"    for _i in range(a{i}.size):", f"        _all[p{i}[_i]] = a{i}[_i]"]
    return "\n".join([*lines, ""])


def _moved(each: Instruction, arrays: list[Variable], places: list[Any], fills: bool) -> Instruction:
    given = []
    for v, place in zip(arrays, places, strict=True):
        given += [v, _constant(np.ascontiguousarray(place, np.int64).reshape(-1))]
    return _instruction(each, _whole(_moves(len(arrays), fills), given, each.results), given, [])


def _pieces(each: Instruction) -> list[Variable] | None:
    """Return the arrays that a concatenation joins, if it is one of arrays of one dtype."""
    found = each.args[0] if len(each.args) == 1 and each.kwargs.keys() <= {"axis"} else None
    if not isinstance(found, list | tuple) or not 0 < len(found) <= 8:
        return None
    if not all(isinstance(v, Variable) and v.dtype == each.results.dtype and 0 not in v.shape for v in found):
        return None
    return list(found)


def _joined(each: Instruction) -> Instruction:
    """Return the loop that a concatenation is."""
    pieces = _pieces(each)
    assert pieces is not None
    sizes = np.cumsum([0, *map(size_of, pieces)])
    numbered = [np.arange(low, low + size_of(v)).reshape(v.shape) for low, v in zip(sizes, pieces, strict=False)]
    origin = each.function(numbered, **each.kwargs).reshape(-1)  # which element of all comes to each place
    place = np.empty_like(origin)
    place[origin] = np.arange(origin.size)
    return _moved(each, pieces, [place[n.reshape(-1)] for n in numbered], False)


def _subscript(each: Instruction) -> tuple[Variable, Any, Any] | None:
    """Return the gradient, the shape and the subscript of the gradient of a subscript."""
    op, which = each.origin or (None, "")
    if op is None:
        return None
    if op.name in _SUBSCRIPTS and which == "input" and len(each.args) == 3:
        g, shape, place = each.args
    elif op.name == "slice_backward" and which == "forward" and each.kwargs.keys() == {"input", "shape", "place"}:
        g, shape, place = (each.kwargs[k] for k in ("input", "shape", "place"))
    else:
        return None
    is_known = isinstance(g, Variable) and not variables((shape, place)) and g.dtype == each.results.dtype
    return (g, shape, place) if is_known and 0 not in g.shape else None


def _placed(each: Instruction) -> Instruction:
    """Return the loop that the gradient of a subscript is."""
    found = _subscript(each)
    assert found is not None
    g, shape, place = found
    places = np.arange(size_of(each.results)).reshape(shape)[place]
    if places.size != size_of(g):  # it is broadcast
        return each
    return _moved(each, [g], [places], True)


# -- reductions --

_OVER_ROWS = """\
def {name}(a0, _all):
    _n = _all.size
    for _i in range(_n):
        _all[_i] = FIRST
    for _low in range(_n, a0.size, _n):
        for _i in range(_n):
            _all[_i] = STEP
"""
_LARGEST_OF_ROWS = """\
def {name}(a0, _all):
    _n = a0.size // _all.size
    for _r in range(_all.size):
        _s = a0[_r * _n]
        for _at in range(_r * _n + 1, _r * _n + _n):
            _s = maximum(_s, a0[_at])
        _all[_r] = _s
"""
_OF_ROWS = """\
def {name}(a0, _all):
    _n = a0.size // _all.size
    for _r in range(_all.size):
        _low = _r * _n
        _s, _at = a0[_low], _low + 1
        if _n >= 8:
            _s0, _s1, _s2, _s3 = a0[_low], a0[_low + 1], a0[_low + 2], a0[_low + 3]
            _s4, _s5, _s6, _s7 = a0[_low + 4], a0[_low + 5], a0[_low + 6], a0[_low + 7]
            for _at in range(_low + 8, _low + _n - _n % 8, 8):
                _s0, _s1, _s2, _s3 = _s0 + a0[_at], _s1 + a0[_at + 1], _s2 + a0[_at + 2], _s3 + a0[_at + 3]
                _s4, _s5, _s6, _s7 = _s4 + a0[_at + 4], _s5 + a0[_at + 5], _s6 + a0[_at + 6], _s7 + a0[_at + 7]
            _s = ((_s0 + _s1) + (_s2 + _s3)) + ((_s4 + _s5) + (_s6 + _s7))
            _at = _low + _n - _n % 8
        for _at in range(_at, _low + _n):
            _s = _s + a0[_at]
        _all[_r] = 0 + _s
"""


def _over_rows(first: str, step: str) -> str:
    return _OVER_ROWS.replace("FIRST", first).replace("STEP", step)


_TEXTS = {  # of a reduction over the elements of each row, and over rows
    "np.add.reduce": (_OF_ROWS, _over_rows("0 + a0[_i]", "_all[_i] + a0[_low + _i]")),
    "np.maximum.reduce": (_LARGEST_OF_ROWS, _over_rows("a0[_i]", "maximum(_all[_i], a0[_low + _i])")),
}


def _reduction(each: Instruction) -> str | None:
    """Return the text of a loop that adds up all elements, those of each row, or rows, as NumPy does, or its like."""
    if each.name not in _TEXTS or len(each.args) != 1 or not each.kwargs.keys() <= {"axis", "keepdims"}:
        return None
    (given,) = each.args
    if not isinstance(given, Variable) or given.dtype != each.results.dtype or not given.shape or 0 in given.shape:
        return None
    axis: Any = each.kwargs.get("axis", 0)
    axes = tuple(range(len(given.shape))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if any(type(k) is not int for k in axes):
        return None
    axes, of_rows = tuple(sorted(k % len(given.shape) for k in axes)), _TEXTS[each.name]
    if axes in (tuple(range(len(given.shape))), (len(given.shape) - 1,)):
        return of_rows[0] if size_of(given) <= _IN_ONE_SUM * size_of(each.results) else None
    return of_rows[1] if axes == (0,) else None


def _reduced(each: Instruction) -> Instruction:
    text, given = _reduction(each), list(each.args)
    assert text is not None
    return _instruction(each, _whole(text, given, each.results), given, [])
