"""The forms that operations and ufuncs have for large arrays, for what is in no loop of the compiler's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...backends.numpy import NUMPY
from ...base.pool import split
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
    if all(a.shape in ((), made.shape) and (is_dense(a) or not any(a.strides)) for a in variables(each.args)):
        return _in_parts(each.function, made.dtype), each.args
    return None


@cache
def _in_parts(ufunc: Any, dtype: Any) -> Callable[..., Any]:
    """Return a ufunc for large arrays of one shape, computed over all cores."""

    def run(*args: Any, into: Any = None) -> Any:
        shape = max((a for a in args if isinstance(a, np.ndarray)), key=lambda a: a.ndim).shape
        out = np.empty(shape, dtype) if into is None else into
        given = [a.flat[0] if isinstance(a, np.ndarray) and not any(a.strides) else a for a in args]
        flat = [a.reshape(-1) if isinstance(a, np.ndarray) and a.ndim else a for a in (*given, out)]

        def work(low: int, high: int) -> None:
            ufunc(*[a[low:high] if isinstance(a, np.ndarray) and a.ndim else a for a in flat])

        split(work, out.size, PART)
        return out

    return run


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
    return (fused(formula, NUMPY.bind(formula), expression), least) if least else (None, 0)
