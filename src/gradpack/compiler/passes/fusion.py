"""Neighbouring elementwise instructions on large arrays as one loop that Numba compiles, where it is installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...declare.generate.broadcast_forms import lies
from ...declare.generate.fusion import LOOPS, WHOLE
from ...declare.generate.fusion_text import Steps, Unknown, Value
from ...kernels.dispatch import ENABLED, LARGE, PART, loaded
from ..program import Instruction, Program, Variable, is_elementwise, mapped, variables
from .repeats import Group, repeated
from .small_loops import DEAR_ELEMENTS, SmallLoop, array_in_loop
from .uniform import without_broadcasts, without_uniform

_MOST = 12  # arrays that a loop reads
_PAIRS = 128  # of arrays of which one is written to: compilers ask of each whether they overlap, and of no more
_ARGUMENTS = 30  # above, Python passes a tuple of them, which Numba does not know
_DEAR = 32  # work of a function, that of an addition is 1
_WORK = dict.fromkeys("exp exp2 expm1 log log1p tanh sin cos".split(), _DEAR)
_WORK |= dict.fromkeys("true_divide divide sqrt reciprocal".split(), 4)
_SHORT = 128  # elements of rows that are too short to take turns on
_LONGEST = 256  # work of a loop: machine code of longer ones is no faster, and in the end has no vectors


def fused(program: Program, least: int = LARGE) -> Program:
    """Return a program in which neighbouring elementwise instructions on large arrays are one loop.

    Args:
        least: elements of an array that is large.
    """
    if not ENABLED["numba"] or not any(is_large(e, least) for e in program.instructions):
        return program
    program = without_broadcasts(program)
    segments = repeated(_grouped(program, least), program.outputs)
    later = _uses(segments, program)
    found = [each for s in segments for each in (_joined(s, later) if isinstance(s, list) else [s])]
    return program._replace(instructions=found)


def _grouped(program: Program, least: int) -> list[Group | Instruction]:
    """Return the instructions, and groups of steps that one loop may be."""
    found: list[Group | Instruction] = []
    group: Group = []
    made: dict[int, Variable] = {}  # what the group computes or writes to, by memory
    read: dict[int, Variable] = {}
    lengths: set[int] = set()  # of the rows in which arrays of the group are repeated: one, or none
    work = 0

    def flush() -> None:
        nonlocal work
        work = 0
        if group:
            found.append([*group])
        for each in (group, made, read, lengths):
            each.clear()

    def other_views(step: Instruction) -> bool:
        """Return whether the group and a step see one memory in different ways, of which one writes to it."""
        given = [(v, made) for v in variables(step.args)] + [(v, read) for v in (*step.writes, *variables(step.args))]
        return any(known.get(v.memory, v) is not v for v, known in given) or any(
            made.get(v.memory, v) is not v for v in step.writes
        )

    for each in program.instructions:
        steps = steps_of(each, least)
        if steps is not None and each.parts is not None:
            each = each._replace(parts=(steps, each.results))
        results = variables(each.results)
        like = results[0] if results else None
        if steps is None or (group and not _fits(like, group[0][0].results)):
            needs = not made.keys().isdisjoint(v.memory for v in variables((each.args, each.kwargs)))
            if needs or each.kind != "call" or each.writes:
                flush()
            if steps is None:
                found.append(each)
                continue
            flush()
        added = sum(map(_work, steps))
        rows = lengths.union(*map(_lengths, steps))
        in_short_rows = added >= _DEAR and any(n < _SHORT for n in rows) and any(_work(s) == _DEAR for s, _ in group)
        if work + added > _LONGEST or in_short_rows:
            flush()
        work += added
        for step in steps:
            if is_known_step(step):
                if other_views(step) or len(lengths | _lengths(step)) > 1:
                    flush()
                group.append((step, each))
                lengths |= _lengths(step)
                made[step.results.memory] = step.results
                read.update((v.memory, v) for v in variables(step.args))
            elif made.keys().isdisjoint(v.memory for v in variables(step.args)):
                found.append(step)
            else:
                flush()
                found.append(step)
    flush()
    return found


def _work(step: Instruction) -> int:
    return _WORK.get(_name(step), 1)


def has_loops(array: Any) -> bool:
    """Return whether elementwise calls on an array of this size become loops."""
    return array.size >= LARGE and array.dtype.char in "fd" and ENABLED["numba"] and loaded(LOOPS) is not None


def _uses(segments: list[Group | Instruction], program: Program) -> dict[Variable, int]:
    """Return by how many steps each variable is used."""
    found: dict[Variable, int] = {}
    for segment in segments:
        for step in [step for step, _ in segment] if isinstance(segment, list) else [segment]:
            for v in set(variables((step.args, step.kwargs))):
                found[v] = found.get(v, 0) + 1
    for v in program.outputs:
        found[v] = found.get(v, 0) + 1000
    return found


def is_large(each: Instruction, least: int) -> bool:
    """Return whether an instruction may be elementwise on arrays of so many elements."""
    made = each.results
    if not isinstance(made, Variable) or each.kind != "call" or size_of(made) < least:
        return False
    return not each.writes or (each.writes == (made,) and each.kwargs.keys() == {"out"} and is_elementwise(each))


def size_of(v: Variable) -> int:
    """Return how many elements an array has."""
    size = 1
    for n in v.shape:
        size *= n
    return size


def steps_of(each: Instruction, least: int) -> list[Instruction] | None:
    """Return the calls of ufuncs that an instruction on large arrays is; None if it is something else."""
    made = each.results
    if not is_large(each, least) or made.dtype.char not in "fd?" or not is_dense(made):
        return None
    if DEAR_ELEMENTS < size_of(made) < LARGE and _work(each) == _DEAR:
        return None
    if each.writes:
        step = each._replace(kwargs={})
        return [step] if is_known_step(step) else None
    if each.parts is None:
        return [each] if is_step(each) and not each.kwargs and is_known_step(each) else None
    instructions, last = each.parts
    names = {last: made}
    steps = [_named(e, names) for e in instructions]
    if (
        not steps
        or any(e.kwargs or not isinstance(e.results, Variable) for e in steps)
        or steps[-1].results is not made
    ):
        return None
    steps = without_uniform(steps, {made})
    return steps if steps and all(is_step(e) and is_known_step(e) for e in steps) else None


def is_step(each: Instruction) -> bool:
    return is_elementwise(each) or (each.name in ("np.where", "np.clip") and len(each.args) == 3)


def _named(each: Instruction, names: dict[Variable, Variable]) -> Instruction:
    def new(v: Variable) -> Variable:
        return names.get(v, v)

    return each._replace(args=mapped(new, each.args), results=mapped(new, each.results))


def is_dense(v: Variable) -> bool:
    """Return whether the elements of an array follow one another in memory, by rows."""
    step = v.dtype.itemsize
    for n, stride in zip(v.shape[::-1], v.strides[::-1], strict=True):
        if n != 1 and stride != step:
            return False
        step *= n
    return True


def _fits(a: Any, b: Any) -> bool:
    if not isinstance(a, Variable) or a.shape != b.shape:
        return False
    return a.dtype == b.dtype or "?" in (a.dtype.char, b.dtype.char)


def is_known_step(each: Instruction) -> bool:
    """Return whether the call of a ufunc is a step of a loop."""
    made = each.results
    given = [_operand(a, made) for a in each.args]
    if any(g is None for g in given) or not is_dense(made) or len(_lengths(each)) > 1:
        return False
    arrays = [a for a in (*each.args, made) if isinstance(a, Variable) and (a.shape or not made.shape)]
    floats = {a.dtype for a in arrays if a.dtype.kind == "f"}
    if len(floats) > 1:
        return False
    steps = Steps({}, floats == {np.dtype(np.float32)})
    try:
        found = steps.add(_name(each), given)  # type: ignore[arg-type]
    except Unknown:
        return False
    return (found.kind == "?") is (made.dtype.char == "?")


def _name(each: Instruction) -> str:
    return each.name.removeprefix("np.")


def _operand(a: Any, made: Variable) -> Value | None:
    """Return what an operand is in a loop over the elements of `made`."""
    if type(a) in (int, float):
        return Value("s", repr(a))
    if not isinstance(a, Variable):
        return None
    if a.value is not None and a.value.size and not any(a.strides) and a.dtype.kind == "f":
        return Value("s", f"v{a.number}")
    if a.dtype.kind == "f" and size_of(a) == 1 and (len(a.shape) < len(made.shape) or size_of(made) > 1):
        return Value("f" if size_of(made) < LARGE and a.value is None else "s", f"v{a.number}")
    if a.dtype.char not in "fd?" or not is_dense(a) or lies(a.shape, made.shape) is None:
        return None
    return Value("?" if a.dtype.char == "?" else "f", f"v{a.number}")


def _lengths(step: Instruction) -> set[int]:
    """Return the lengths of rows in which the operands of a step are repeated."""
    found = set()
    for a in step.args:
        value = _operand(a, step.results)
        form = None if value is None or value.kind == "s" else lies(a.shape, step.results.shape)
        if form is not None and form[1]:
            found.add(form[1])
    return found


def _joined(group: Group, later: dict[Variable, int]) -> list[Instruction]:
    """Return one instruction for the steps of several; those of one stay what it is."""
    step, owner = group[0]
    in_rows = size_of(step.results) < LARGE and any(_lengths(step) for step, _ in group)
    is_one = len({id(owner) for _, owner in group}) == 1
    if is_one and owner.name != "np.where" and not in_rows:  # NumPy's takes long, and so it does to repeat short rows
        return _whole(group)
    inside: dict[Variable, int] = {}
    for step, _ in group:
        for v in set(variables(step.args)):
            inside[v] = inside.get(v, 0) + 1
    made = {step.results for step, _ in group}
    new = {step.results for step, _ in group if not step.writes}
    written = {v for step, _ in group for v in step.writes} - new
    outputs = [v for v in made if v in written or later.get(v, 0) > inside.get(v, 0)]
    outputs.sort(key=lambda v: v.number)
    like = next((v for v in outputs if v.dtype.kind == "f"), None)
    loop = None if like is None else loop_of([step for step, _ in group], outputs, like)
    if loop is None and like is not None and len({id(owner) for _, owner in group}) > 1:
        return [each for half in _halves(group) for each in _joined(half, later)]
    if loop is None:
        return _whole(group)
    function, arrays, numbers = loop
    line = group[0][0].line
    name = "loop_of_" + "_".join(dict.fromkeys(_name(owner) for _, owner in group))[:60]
    facts = [(v.shape, v.dtype) for v in outputs]
    writes = tuple([v for v in outputs if v in written])
    return [Instruction(function, name, (*arrays, *numbers), {}, outputs, writes, facts, "loop", line)]


def _halves(group: Group) -> list[Group]:
    """Return two groups of about as many steps, without parts of one instruction in both."""
    places = [i for i in range(1, len(group)) if group[i][1] is not group[i - 1][1]]
    middle = min(places, key=lambda i: abs(2 * i - len(group)))
    return [group[:middle], group[middle:]]


def _whole(group: Group) -> list[Instruction]:
    """Return the instructions that the steps are parts of, or the steps of those that are not whole here."""
    found: dict[int, Instruction] = {}
    counts: dict[int, int] = {}
    for _, owner in group:
        counts[id(owner)] = counts.get(id(owner), 0) + 1
    for step, owner in group:
        if owner.parts is None or counts[id(owner)] == len(owner.parts[0]):
            found[id(owner)] = owner
        else:
            found[id(step)] = step
    return list(found.values())


def loop_of(steps: list[Instruction], outputs: list[Variable], like: Variable) -> Any:
    """Return a function for the steps, the arrays that it reads, and its numbers; None if there is none."""
    env: dict[Variable, Value] = {}
    text = Steps({}, like.dtype == np.float32)
    arrays: dict[Variable, None] = {}
    numbers: dict[str, Any] = {}
    for step in steps:
        values = []
        for a in step.args:
            value = env.get(a) if isinstance(a, Variable) else None
            if value is None:
                value = _operand(a, step.results)
                if value is None:
                    return None
                if value.kind == "s":
                    numbers[value.text] = a
                else:
                    arrays[a] = None
            values.append(value)
        env[step.results] = text.add(_name(step), values)
    if not arrays or len(arrays) > _MOST or (compiled := loaded(LOOPS)) is None:
        return None
    both = len(arrays) + len(outputs)
    if both * len(outputs) > _PAIRS or both + len(numbers) > _ARGUMENTS:
        return None
    targets = dict(zip(outputs, ["_all", *(f"o{i}" for i in range(1, len(outputs)))], strict=True))
    given = [v for v in arrays if v not in targets]  # a compiler has to see that what is written is what was read
    names = targets | {v: f"a{i}" for i, v in enumerate(given)}
    forms = {v: _form(v, like) for v in (*arrays, *targets)}
    length = max(n for _, n in forms.values())
    at = {"i": "_r, _i" if length else "_i", "r": "_i", "c": "_r", "o": "0"}
    read = {form: [f"v{v.number} = {names[v]}[{at[form]}]" for v in arrays if forms[v][0] == form] for form in at}
    results = [f"{t}[{at['i']}] = {env[v].text}" for v, t in targets.items()]
    parameters = [*(names[v] for v in given), *targets.values()]
    written = text.function(parameters, read["i"] + read["r"] + read["o"], results, read["c"] if length else None)
    size, shown = size_of(like), _renumbered(written).format(name="loop")
    run = compiled(_renumbered(written), size < LARGE)
    if size < LARGE:
        shape = (size // length, length) if length else (size,)
        all_arrays = [array_in_loop(forms[v][0], v.dtype.char, shape) for v in (*given, *targets)]
        made = SmallLoop(run, shown, len(steps), all_arrays, like.dtype.type, shape[0])
        return made, given, [numbers[t] for t in text.numbers]
    part = PART // min(max(1, len(text.lines) // 2), 4)
    runner: Any = _runner(run, [forms[v][0] for v in (*given, *targets)], like.dtype.type, part, length)
    runner.text, runner.steps = shown, len(steps)
    return runner, given, [numbers[t] for t in text.numbers]


def _form(v: Variable, like: Variable) -> tuple[str, int]:
    """Return how an array lies: as `lies` says, or "o" for one number."""
    return lies(v.shape, like.shape) or ("o" if size_of(v) == 1 else "i", 0)


def _renumbered(text: str) -> str:
    """Return the text with names that do not depend on the program around it, as machine code is kept by the text."""
    names: dict[str, str] = {}
    return re.sub(r"\bv\d+\b", lambda m: names.setdefault(m.group(), f"v{len(names)}"), text)


def _runner(run: Any, forms: list[str], native: Any, part: int, length: int) -> Callable[..., None]:
    """Return a function of arrays, numbers and the arrays of results.

    Args:
        forms: how each of the arrays lies: see `lies`.
        part: how many elements a part has.
        length: that of the rows, or 0.
    """
    whole: Any = loaded(WHOLE)

    def loop(*given: Any, into: list[Any]) -> None:
        count = len(forms) - len(into)
        numbers = [native(n if type(n) in (int, float) else n.flat[0]) for n in given[count:]]
        size = into[0].size
        if not length:
            run(size, part, *[a.reshape(-1) for a in (*given[:count], *into)], *numbers)
            return
        rows = [
            a.reshape(-1, length) if form == "i" else a.reshape(-1)
            for a, form in zip((*given[:count], *into), forms, strict=True)
        ]
        rows = [whole(a) if form == "r" else a for a, form in zip(rows, forms, strict=True)]
        run(size // length, max(1, part // length), *rows, *numbers)

    return loop
