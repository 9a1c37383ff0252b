"""Passes that make a program shorter, and leave the bits of its results.

A pass takes a program and returns one: writes to temporaries become new variables, what depends on constants and shapes
only is computed at once, what was computed before is used again, and what nobody needs goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import Instruction, Program, Variable, is_elementwise, is_of_rows, mapped, new_memory, variables
from .blas_sums import with_products
from .rows import with_rows
from .uniform import with_uniform

_SMALL = 1 << 16  # bytes of a result that may be kept as a constant
_POWERS = frozenset({"operator.pow", "np.power", "power"})
_SHAPES = frozenset({"np.ones_like", "np.zeros_like", "np.full_like"})  # look at the shape of their first argument only


def simplified(program: Program) -> Program:
    """Return a program that computes the same with fewer instructions."""
    program = _with_reductions(without_dead_code(program))
    program = with_uniform(_rewritten(_functional(program)))
    return with_products(_reshaped_once(with_rows(_written_directly(without_dead_code(program)))))


def without_dead_code(program: Program) -> Program:
    """Return a program without instructions whose results nobody needs."""
    lasting = {v.memory for v in (*program.inputs, *program.state)}
    needed = {v.memory for v in program.outputs}  # and the gradients that parameters have after a step
    needed |= {v.memory for e in program.instructions if e.kind == "update" for v in variables(e.args)}
    read = set(program.outputs)
    kept = []
    for each in reversed(program.instructions):
        written, given = {v.memory for v in each.writes}, variables((each.args, each.kwargs))
        wanted = each.kind not in ("call", "number") or not (written.isdisjoint(lasting) and written.isdisjoint(needed))
        memory = {v.memory for v in given}  # views of it are needed where they are read
        made = variables(each.results)
        if wanted or any(v in read or (v.memory in needed and v.memory not in memory) for v in made):
            kept.append(each)
            read.update(given, each.writes)
            needed |= memory | written
    return program._replace(instructions=kept[::-1])


def _with_reductions(program: Program) -> Program:
    """Call the reductions that NumPy's functions of several layers call in the end."""
    found = []
    for each in program.instructions:
        ufunc = {"np.sum": np.add, "np.amax": np.maximum, "np.max": np.maximum, "np.min": np.minimum}.get(each.name)
        if ufunc is not None and len(each.args) == 1 and each.kwargs.keys() <= {"axis", "keepdims", "dtype"}:
            name, given = f"np.{ufunc.__name__}.reduce", {"axis": None, **each.kwargs}
            each = each._replace(function=ufunc.reduce, name=name, kwargs=given)
        if each.name.endswith(".reduce"):
            usual = {"dtype": None, "keepdims": False}
            each = each._replace(kwargs={k: v for k, v in each.kwargs.items() if usual.get(k, ...) is not v})
        found.append(each)
    return program._replace(instructions=found)


def _functional(program: Program) -> Program:
    """Let writes of ufuncs to temporaries that nobody sees make new variables instead."""
    seen = _by_memory(program)
    lasting = _lasting(program)
    names: dict[Variable, Variable] = {}
    found = []
    for each in program.instructions:
        each = _renamed(each, names)
        out = each.kwargs.get("out")
        if (
            is_elementwise(each)
            and isinstance(out, Variable)
            and out.memory not in lasting
            and out.value is None
            and len(seen.get(out.memory, ())) == 1
            and _is_natural(each, out)
        ):
            made = Variable(out.number, next(new_memory), out, out.hint)
            seen[made.memory] = {made}
            names = {k: (made if v is out else v) for k, v in names.items()} | {out: made}
            kwargs = {k: v for k, v in each.kwargs.items() if k != "out"}
            each = each._replace(kwargs=kwargs, results=made, writes=())
        found.append(each)
    return program._replace(instructions=found)


def _is_natural(each: Instruction, out: Variable) -> bool:
    """Return whether a ufunc would return an array like `out` by itself."""
    arrays = [a for a in each.args if isinstance(a, Variable)]
    if np.broadcast_shapes(*[a.shape for a in arrays]) != out.shape or set(each.kwargs) != {"out"}:
        return False
    kinds = [a.dtype if isinstance(a, Variable) else type(a) for a in each.args]
    try:
        made = each.function.resolve_dtypes((*kinds, None))[-1]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return False
    return bool(made == out.dtype)


def _rewritten(program: Program) -> Program:
    """Fold constants, leave out multiplications by one and the like, and compute nothing twice."""
    lasting = _lasting(program)
    written = {v.memory for e in program.instructions for v in e.writes}
    outputs = {v.memory for v in program.outputs}
    names: dict[Variable, Variable] = {}
    memories: dict[int, int] = {}  # what is one memory now: views of a result are views of what takes its place
    known: dict[Any, Any] = {}
    later = any(each.kind == "boundary" for each in program.instructions)  # whether a backward pass runs later
    found = []
    for each in program.instructions:
        each = _renamed(each, names)
        results = variables(each.results)
        given = variables((each.args, each.kwargs))
        free = each.kind == "call" and not each.writes and not any(v.memory in written for v in (*results, *given))
        if each.kind == "call" and not each.writes and results and each.results in given:
            continue  # it returned what it was given
        if not free or not results:
            found.append(each)
            continue
        lone = results[0] if each.results is results[0] else None
        if lone is not None:
            same = _equal_operand(each, lone)
            if same is not None and _stands_for(same, lone, lasting | outputs, outputs, later):
                names[lone] = same
                _unite(memories, lone.memory, same.memory)
                outputs |= {same.memory} if lone.memory in outputs else set()
                continue
        if any(v.memory in outputs for v in results):
            found.append(each)
            continue
        if lone is not None and (made := _constant(each, lone, given)) is not None:
            names[lone] = made
            continue
        key = _key(each)
        if key in known:
            for a, b in zip(results, known[key], strict=True):
                names[a] = b
                _unite(memories, a.memory, b.memory)
            continue
        known[key] = results
        found.append(each)
    wanted = [names.get(v, v) for v in program.outputs]
    for v in {v for e in found for v in variables((e.args, e.kwargs, e.results))}:
        v.memory = _united(memories, v.memory)
    return program._replace(instructions=found, outputs=wanted)


def _united(memories: dict[int, int], memory: int) -> int:
    """Return what memory is now."""
    while memory in memories:
        memory = memories[memory]
    return memory


def _unite(memories: dict[int, int], memory: int, other: int) -> None:
    """Let memory be that of what takes its place."""
    memory, other = _united(memories, memory), _united(memories, other)
    if memory != other:
        memories[memory] = other


def _stands_for(same: Variable, made: Variable, visible: set[int], outputs: set[int], later: bool) -> bool:
    """Return whether an operand may stand for a result that is equal to it.

    Args:
        visible: the memory of arrays that the user sees. Between the passes it may be written to, and a copy does not
            change by that.
        later: whether a backward pass runs later.
    """
    if made.memory in outputs and (same.value is not None or same.memory in visible or not same.whole):
        return False
    return not (later and same.memory in visible and made.memory != same.memory)


def _equal_operand(each: Instruction, made: Variable) -> Variable | None:
    """Return the operand that the result is equal to in every bit, and like in memory, or None."""
    args = each.args
    copy = _copied(each)
    if copy is not None and (copy.value is not None or _lies_alike(copy, made)):
        return copy
    if len(args) != 2 or each.kwargs:
        return None
    a, b = args
    which = None
    if each.function is np.multiply and isinstance(b, Variable) and _is_one(a):
        which = b
    elif isinstance(a, Variable):
        unit = each.function in (np.multiply, np.divide, np.true_divide, np.power) or each.name in _POWERS
        if (unit and _is_one(b)) or (each.name == "np.reshape" and b == a.shape):
            which = a
    if which is None or not _lies_alike(which, made):
        return None
    return which if which.dtype.kind == "f" or each.name == "np.reshape" else None


def _copied(each: Instruction) -> Variable | None:
    """Return the array that an instruction returns a copy of, or None."""
    given = None
    plain = each.name == "np.array" or each.function is np.positive
    if (plain and not each.kwargs) or (each.name == "np.ndarray.copy" and len(each.args) == 1):
        given = each.args[0]
    elif each.origin is not None and each.name in ("clone", "copied"):
        given = each.kwargs.get("input" if each.name == "clone" else "other")
    made = each.results
    if isinstance(given, Variable) and (given.shape, given.dtype) == (made.shape, made.dtype):
        return given
    return None


def _lies_alike(a: Variable, b: Variable) -> bool:
    return (a.shape, a.dtype, a.strides) == (b.shape, b.dtype, b.strides)


def _is_one(value: Any) -> bool:
    if isinstance(value, Variable):
        array = value.value
        return array is not None and array.size > 0 and bool(array.flat[0] == 1) and bool((array == 1).all())
    return type(value) in (int, float) and value == 1


def _constant(each: Instruction, made: Variable, given: list[Variable]) -> Variable | None:
    """Return the result as a constant, if nothing but constants and shapes decides on it."""
    if each.name in _SHAPES and isinstance(each.args[0], Variable):
        first = each.args[0]
        if first.value is None:
            each = each._replace(args=(np.empty(first.shape, first.dtype), *each.args[1:]))
            given = variables((each.args, each.kwargs))
    power = each.name in _POWERS and type(each.args[1]) in (int, float) and each.args[1] == 0
    if power and made.dtype.kind == "f":
        return Variable(made.number, next(new_memory), made, "ones", _frozen(np.ones(made.shape, made.dtype)))
    if any(v.value is None for v in given):
        return None
    with np.errstate(all="ignore"):
        array = each.function(*opened(each.args), **opened(each.kwargs))
    array = np.asarray(array)
    if (array.shape, array.dtype, array.strides) != (made.shape, made.dtype, made.strides):
        return None
    if array.nbytes > _SMALL and 0 not in array.strides:
        return None
    return Variable(made.number, next(new_memory), made, made.hint, _frozen(array))


def _frozen(array: Any) -> Any:
    if array.base is None:
        array.flags.writeable = False
    return array


def opened(value: Any) -> Any:
    """Return nested arguments with the values of constants."""
    return mapped(lambda v: v.value, value)


def _renamed(each: Instruction, names: dict[Variable, Variable]) -> Instruction:
    def new(v: Variable) -> Variable:
        return names.get(v, v)

    if not names:
        return each
    return each._replace(
        args=mapped(new, each.args), kwargs=mapped(new, each.kwargs),
        results=mapped(new, each.results) if each.writes else each.results, writes=tuple(map(new, each.writes)),
        parts=None if each.parts is None else ([_renamed(e, names) for e in each.parts[0]], each.parts[1]),
    )  # fmt: skip


def _key(each: Instruction) -> Any:
    function = each.function
    owner = getattr(function, "__self__", None)
    return (
        each.name if isinstance(owner, np.ufunc) else id(function), each.name, _frozen_key(each.args),
        _frozen_key(tuple(sorted(each.kwargs.items()))),
    )  # fmt: skip


def _frozen_key(value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value), tuple(map(_frozen_key, value))
    if type(value) is slice:
        return slice, _frozen_key((value.start, value.stop, value.step))
    if type(value) in (int, float, bool, str, complex, type(None)):
        return type(value), repr(value)
    return id(value)  # variables among them


def _written_directly(program: Program) -> Program:
    """Let a ufunc whose result is only written to a tensor write there."""
    uses: dict[int, int] = {}
    for each in program.instructions:
        for v in variables((each.args, each.kwargs)):
            uses[v.memory] = uses.get(v.memory, 0) + 1
    for v in program.outputs:
        uses[v.memory] = 9
    found: list[Instruction] = []
    for each in program.instructions:
        before = found[-1] if found else None
        if before is not None and each.name == "write" and before.results is each.args[1]:
            given = _copied(before)
            if given is not None and uses[each.args[1].memory] == 1:  # what is written is read before
                each = each._replace(args=(each.args[0], given))
                found.pop()
                before = found[-1] if found else None
        if before is not None and each.name == "write" and before.results is each.args[1] and _may_write(before, each):
            if uses[each.args[1].memory] == 1:
                target = each.args[0]
                kwargs = {**before.kwargs, "out": target}
                found[-1] = before._replace(kwargs=kwargs, results=target, writes=(target,), line=each.line)
                continue
        found.append(each)
    return program._replace(instructions=found)


def _reshaped_once(program: Program) -> Program:
    """Let views of other shapes of a view, in the same order, be views of what that is one of."""
    sources: dict[Variable, Variable] = {}
    lasting = {v.memory for v in (*program.inputs, *program.state)}
    outputs, names, found = set(program.outputs), dict[Variable, Variable](), list[Instruction]()
    for each in program.instructions:
        each = _renamed(each, names)
        made = each.results
        given = each.args[0] if each.name == "np.reshape" and each.kind == "call" and not each.kwargs else None
        if isinstance(given, Variable) and is_of_rows(given):
            source = sources.setdefault(made, sources.get(given, given))
            if made.memory == source.memory and (source.shape, source.strides) == (made.shape, made.strides):
                if made not in outputs or (source not in outputs and source.memory not in lasting):
                    names[made] = source
                    continue
            each = each._replace(args=(source, *each.args[1:]))
        found.append(each)
    program = program._replace(instructions=found, outputs=[names.get(v, v) for v in program.outputs])
    return without_dead_code(program)


def _may_write(made: Instruction, write: Instruction) -> bool:
    target, value = write.args
    if not (is_elementwise(made) and made.kind == "call" and not made.writes and isinstance(target, Variable)):
        return False
    if (target.shape, target.dtype, target.strides) != (value.shape, value.dtype, value.strides):
        return False
    return all(v is target or v.memory != target.memory for v in variables((made.args, made.kwargs)))


def _lasting(program: Program) -> set[int]:
    return {v.memory for v in (*program.inputs, *program.state, *program.outputs)} | {
        v.memory for e in program.instructions if e.kind == "update" for v in variables(e.args)
    }


def _by_memory(program: Program) -> dict[int, set[Variable]]:
    seen: dict[int, set[Variable]] = {}
    for each in program.instructions:
        for v in variables((each.args, each.kwargs, each.results)):
            seen.setdefault(v.memory, set()).add(v)
    return seen
