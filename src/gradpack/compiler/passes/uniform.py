"""Arrays of one number, and what is broadcast to others: they take neither time nor memory."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import numpy as np

from ..program import Instruction, Program, Variable, is_elementwise, is_of_rows, mapped, new_memory, variables


def with_uniform(program: Program) -> Program:
    """Return a program in which elementwise calls on constants of one number are constants of one number.

    Such an array has strides of zero. It takes the place of a dense one only where calls on elements read it, and where
    all arrays of its shape lie row by row: results of these lie in memory as before.
    """
    others = _shapes_in_other_order(program)
    wanted = {v for e in program.instructions if not _by_elements(e) for v in variables((e.args, e.kwargs))}
    written = {v.memory for e in program.instructions for v in e.writes}
    wanted |= {v for e in program.instructions for v in variables(e.results) if v.memory in written}
    found = without_uniform(program.instructions, wanted.union(program.outputs), others)
    numbers: dict[Variable, Variable] = {}
    return program._replace(instructions=[_on_numbers(each, numbers) for each in found])


def _on_numbers(each: Instruction, numbers: dict[Variable, Variable]) -> Instruction:
    """Return a call of NumPy's with arrays of no dimensions in the place of constants of one number."""
    made = each.results
    if not isinstance(made, Variable) or not made.shape or not (is_elementwise(each) or each.name == "np.where"):
        return each
    given = {v for v in variables(each.args) if v.shape and is_uniform(v)}
    if not given or not any(v.shape == made.shape and v not in given for v in variables(each.args)):
        return each
    for v in given - numbers.keys():
        value = np.asarray(v.value.flat[0])
        numbers[v] = Variable(v.number, next(new_memory), value, v.hint, value)
    return each._replace(args=mapped(lambda v: numbers[v] if v in given else v, each.args))


def without_uniform(
    instructions: list[Instruction], wanted: Container[Variable] = (), shapes: Container[tuple[int, ...]] = ()
) -> list[Instruction]:
    """Return instructions without elementwise calls on constants of one number.

    Args:
        wanted: variables that have to be arrays.
        shapes: those of other such variables.
    """
    made: dict[Variable, Variable] = {}

    def new(v: Variable) -> Variable:
        return made.get(v, v)

    found = []
    for each in instructions:
        if made:
            each = _mapped(new, each)
        result, value = each.results, None
        if isinstance(result, Variable) and result not in wanted and result.shape not in shapes and is_of_rows(result):
            value = _number(each)
        if value is None:
            found.append(each)
        else:
            constant = np.broadcast_to(value, result.shape)
            made[result] = Variable(result.number, next(new_memory), constant, result.hint, constant)
    return found


def without_broadcasts(program: Program) -> Program:
    """Return a program in which calls on elements read what is broadcast, and not the views of `numpy.broadcast_to`.

    NumPy's functions broadcast as well, and loops read each row or number once.
    """
    given = {e.results: e.args[0] for e in program.instructions if e.name == "np.broadcast_to" and e.kind == "call"}

    def narrow(each: Instruction) -> Instruction:
        made = each.results
        if not _by_elements(each) or not isinstance(made, Variable) or each.writes:
            return each
        if not any(v.shape == made.shape and v not in given for v in variables((each.args, each.kwargs))):
            return each
        return _mapped(new, each)

    def new(v: Variable) -> Variable:
        found = given.get(v)
        return found if isinstance(found, Variable) else v

    return program._replace(instructions=list(map(narrow, program.instructions))) if given else program


def _mapped(new: Callable[[Variable], Variable], each: Instruction) -> Instruction:
    """Return an instruction, and the parts of it, on other variables."""
    parts = None if each.parts is None else ([_mapped(new, part) for part in each.parts[0]], each.parts[1])
    return each._replace(args=mapped(new, each.args), kwargs=mapped(new, each.kwargs), parts=parts)


def _number(each: Instruction) -> Any:
    """Return the number that all elements of a result are, or None."""
    if each.name in _ALIKE and each.kind == "call":
        return np.asarray(_ALIKE[each.name], each.results.dtype)
    is_formula = each.origin is not None and each.origin[1] != "forward" and each.origin[0].kind == "elementwise"
    if not (is_elementwise(each) or is_formula) or each.kind != "call" or each.writes or each.kwargs:
        return None
    given = variables(each.args)
    if not any(v.shape == each.results.shape for v in given) or not all(map(is_uniform, given)):
        return None
    with np.errstate(all="ignore"):
        value = np.asarray(each.function(*mapped(lambda v: v.value.flat[0], each.args)))
    return value.astype(each.results.dtype) if value.ndim == 0 else None


_ALIKE = {"np.zeros_like": 0, "np.ones_like": 1}


def is_uniform(v: Variable) -> bool:
    """Return whether a variable is a constant of one number."""
    return v.value is not None and v.value.size > 0 and not any(v.value.strides) and v.value.dtype.kind in "fb"


def _by_elements(each: Instruction) -> bool:
    if each.origin is not None and not is_elementwise(each):
        return bool(each.origin[0].kind == "elementwise")
    return is_elementwise(each) or each.name in ("np.where", "select")


def _shapes_in_other_order(program: Program) -> set[tuple[int, ...]]:
    """Return the shapes of which there is an array that does not lie row by row."""
    found = {v for e in program.instructions for v in variables((e.args, e.kwargs, e.results))}
    return {v.shape for v in found if any(v.strides) and not is_of_rows(v)}
