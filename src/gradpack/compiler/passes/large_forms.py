"""The forms that operations and ufuncs have for large arrays, for what is in no loop of the compiler's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...backends.numpy import NUMPY
from ...declare.generate.elementwise_parts import in_parts
from ...declare.generate.fusion import fused, of_body
from ...declare.generate.inline import Inlined
from ...declare.generate.large_sizes import large_body, large_formula
from ...kernels.dispatch import PART, SEEN, note_large
from ..program import Instruction, Program, Variable, is_elementwise, variables
from .fusion import is_dense, size_of


def with_large_forms(program: Program) -> Program:
    """Return a program in which operations and ufuncs on large arrays have the forms for these, over all cores."""
    found = []
    for each in program.instructions:
        form = _form(each) if isinstance(each.results, Variable) and each.kind == "call" else None
        found.append(each if form is None else each._replace(function=form[0], args=form[1], kwargs={}, kind="large"))
    return program._replace(instructions=found)


def _form(each: Instruction) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    made = each.results
    if each.origin is not None:
        op, which = each.origin
        run, least = _large_form(op, which)
        if run is None or size_of(made) < least:
            return None
        if not SEEN:
            note_large(least)
        given = dict(zip(_params(op, which), each.args, strict=False)) | each.kwargs
        return run, tuple(given[p] for p in _params(op, which))
    if not is_elementwise(each) or each.writes or each.kwargs or size_of(made) < 2 * PART or not is_dense(made):
        return None
    arrays = variables(each.args)
    if any(a.shape == made.shape for a in arrays) and all(map(_is_in_rows, arrays)):
        return _in_parts(each.function), each.args
    return None


@cache
def _in_parts(ufunc: Any) -> Callable[..., Any]:
    """Return a ufunc for large arrays, computed over all cores."""

    def run(*args: Any, into: Any = None) -> Any:
        given = tuple([_narrow(a) if isinstance(a, np.ndarray) and 0 in a.strides else a for a in args])
        return in_parts(ufunc, given, lambda: ufunc, PART, into)

    return run


def _is_in_rows(a: Variable) -> bool:
    """Return whether the elements of an array that are not repeated follow one another in memory."""
    step = a.dtype.itemsize
    for n, stride in zip(a.shape[::-1], a.strides[::-1], strict=True):
        if n != 1 and stride:
            if stride != step:
                return False
            step *= n
    return True


def _narrow(a: Any) -> Any:
    """Return an array with repeated elements once; a number, if they are all one."""
    return a[tuple([slice(None) if stride else slice(1) for stride in a.strides])] if any(a.strides) else a.flat[0]


def _params(op: Any, which: str) -> tuple[str, ...]:
    code = (op.forward if which == "forward" else op.formulas[which]).__code__
    found: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return found


@cache
def _large_form(op: Any, which: str) -> tuple[Callable[..., Any] | None, int]:
    """Return the form for large arrays of a body or formula, and from how many elements on it is used."""
    expression = Inlined(op).expression(which)
    if which == "forward":
        least = large_body(op, expression)
        return (of_body(op, NUMPY.bind(op.forward), expression), least) if least else (None, 0)
    least = large_formula(op, which, expression)
    formula = op.formulas[which]
    return (fused(formula, NUMPY.bind(formula), expression, is_formula=True), least) if least else (None, 0)
