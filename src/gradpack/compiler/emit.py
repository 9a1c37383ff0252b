"""Programs as Python text, and the text as a function."""

from __future__ import annotations

import ast
import builtins
import copy
import keyword
import math
import os
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..backends.numpy import NUMPY, product
from ..declare.generate.fusion import fused, large_body, large_formula, of_body
from ..declare.generate.inline import Inlined
from ..kernels.dispatch import SEEN
from .program import GuardFailed, Instruction, Program, Variable, variables

_PLAIN = (int, float, bool, str, type(None), type(Ellipsis))
_LARGE = 1 << 12  # elements of an array that is dropped after its last use


class Built(NamedTuple):
    """A program that can be run.

    Attributes:
        source: its text.
        run: takes the arrays of inputs and state, in order, and returns those of the outputs.
    """

    source: str
    run: Callable[..., tuple[Any, ...]]


class _Writer:
    """Writes the text of a program; `names` are what the text refers to."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: dict[str, Any] = {"GuardFailed": GuardFailed, "inf": float("inf"), "nan": float("nan")}
        self.of: dict[Variable, str] = {}
        self.taken = {"program", *dir(builtins), *keyword.kwlist, *self.names}
        self.functions: dict[Any, str] = {}

    def text(self) -> str:
        program = self.program
        given = [self.variable(v) for v in (*program.inputs, *program.state)]
        last = self._last_uses()
        lines, line = [], ""
        for place, each in enumerate(program.instructions):
            if each.line != line:
                line = each.line
                lines.append(f"# {_shown(line)}")
            lines += self.instruction(each)
            gone = [self.of[v] for v in last.get(place, ())]
            if gone:
                lines.append(f"del {', '.join(gone)}")
        lines.append(f"return {self.arguments(tuple(program.outputs))}")
        body = "".join(f"    {each}\n" for each in lines)
        return f"def program({', '.join(given)}):\n{body}"

    def _last_uses(self) -> dict[int, list[Variable]]:
        """Return the large arrays that nothing needs after an instruction, by its place."""
        program = self.program
        stay = {v.memory for v in (*program.inputs, *program.state, *program.outputs)}
        last: dict[Variable, int] = {}
        large: set[Variable] = set()
        for place, each in enumerate(program.instructions):
            made = variables(each.results)
            for v, (shape, _) in zip(made, _facts(each), strict=False):
                if np.prod(shape) >= _LARGE:
                    large.add(v)
            for v in (*variables((each.args, each.kwargs)), *made):
                last[v] = place
        found: dict[int, list[Variable]] = {}
        for v, place in last.items():
            if v in large and v.memory not in stay and v.value is None:
                found.setdefault(place, []).append(v)
        return found

    def variable(self, v: Variable) -> str:
        found = self.of.get(v)
        if found is None:
            hint = re.sub(r"\W+", "_", v.hint).strip("_").lower()
            name = hint if hint and not hint[0].isdigit() else f"v{v.number}"
            found = self.of[v] = self.free(name)
            if v.value is not None:
                self.names[found] = v.value
        return found

    def free(self, name: str) -> str:
        found, count = name, 2
        while found in self.taken:
            found, count = f"{name}_{count}", count + 1
        self.taken.add(found)
        return found

    def instruction(self, each: Instruction) -> list[str]:
        call = self.large(each) or self.inlined(each) or f"{self.function(each)}({self.call_arguments(each)})"
        if each.kind == "guard":
            return [f"if {call} != {self.arguments(each.expected)}: raise GuardFailed({_message(each)!r})"]
        if each.results is None:
            return [call]
        lines = [f"{self.target(each.results)} = {call}"]
        if each.kind == "checked":
            for v, (shape, _) in zip(variables(each.results), _facts(each), strict=True):
                lines.append(f"if {self.of[v]}.shape != {shape}: raise GuardFailed({_message(each)!r})")
        return lines

    def large(self, each: Instruction) -> str | None:
        """Return a call of the form of an elementwise body or formula for large arrays, if these are large."""
        if each.origin is None or not isinstance(each.results, Variable):
            return None
        op, which = each.origin
        run, least = _large_form(op, which)
        if run is None or math.prod(each.expected[0]) < least:
            return None
        if not SEEN:
            SEEN.append(least)
        given = dict(zip(_params(op, which), map(self.arguments, each.args), strict=False))
        given |= {k: self.arguments(v) for k, v in each.kwargs.items()}
        name = self.functions.get(run)
        if name is None:
            name = self.functions[run] = self.free(re.sub(r"\W+", "_", each.name))
            self.names[name] = run
        return f"{name}({', '.join(given[p] for p in _params(op, which))})"

    def inlined(self, each: Instruction) -> str | None:
        """Return the body or formula of an operation as an expression, if it is one of NumPy's functions only."""
        if each.origin is None or not isinstance(each.results, Variable) or not each.expected[0]:
            return None
        op, which = each.origin
        found = _expression(op, which)
        if found is None:
            return None
        tree, params = found
        given = dict(zip(params, map(self.arguments, each.args), strict=False))
        given |= {k: self.arguments(v) for k, v in each.kwargs.items()}
        if len(each.args) > len(params) or set(given) != set(params):
            return None
        self.names.update({"np": np, "product": product})
        return ast.unparse(_Renamed(given).visit(copy.deepcopy(tree)))

    def target(self, results: Any) -> str:
        if isinstance(results, Variable):
            return self.variable(results)
        if isinstance(results, list | tuple):
            return "(" + "".join(f"{self.target(r)}, " for r in results) + ")" if results else "()"
        return "_"

    def function(self, each: Instruction) -> str:
        if each.name.startswith("np.") and "ndarray" not in each.name:
            found: Any = np
            for part in each.name.split(".")[1:]:
                found = getattr(found, part, None)
            if found is each.function or getattr(found, "__func__", None) is getattr(each.function, "__func__", 0):
                self.names["np"] = np
                return each.name
        known = self.functions.get(each.function) if _hashable(each.function) else None
        if known is None:
            known = self.free(re.sub(r"\W+", "_", each.name.removeprefix("np.")) or "function")
            self.names[known] = each.function
            if _hashable(each.function):
                self.functions[each.function] = known
        return known

    def call_arguments(self, each: Instruction) -> str:
        parts = [self.arguments(a) for a in each.args]
        parts += [f"{k}={self.arguments(a)}" for k, a in each.kwargs.items()]
        return ", ".join(parts)

    def arguments(self, value: Any) -> str:
        if isinstance(value, Variable):
            return self.variable(value)
        if type(value) in (int, str, bool, type(None)):
            return repr(value)
        if type(value) is float:
            return repr(value)
        if value is Ellipsis:
            return "..."
        if type(value) is slice:
            return f"slice({', '.join(self.arguments(v) for v in (value.start, value.stop, value.step))})"
        if type(value) is tuple:
            return "(" + "".join(f"{self.arguments(v)}, " for v in value) + ")"
        if type(value) is list:
            return f"[{', '.join(map(self.arguments, value))}]"
        if type(value) is dict:
            return "{" + ", ".join(f"{k!r}: {self.arguments(v)}" for k, v in value.items()) + "}"
        name = self.free(f"{type(value).__name__.lower()}_value")
        self.names[name] = value
        return name


class _Renamed(ast.NodeTransformer):
    def __init__(self, given: dict[str, str]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.AST:
        text = self.given.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self.generic_visit(node)


@cache
def _expression(op: Any, which: str) -> tuple[ast.expr, tuple[str, ...]] | None:
    """Return the expression of a body or formula, and its parameters, if it names nothing but NumPy."""
    inlined = _of_op(op)
    found = inlined.expression(which)
    if found is None:
        return None
    function = op.forward if which == "forward" else op.formulas[which]
    code = function.__code__
    params = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    tree = _Products().visit(copy.deepcopy(found))
    free = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - set(params)
    return (tree, params) if free <= {"np", "product"} else None


def _params(op: Any, which: str) -> tuple[str, ...]:
    code = (op.forward if which == "forward" else op.formulas[which]).__code__
    found: tuple[str, ...] = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return found


@cache
def _large_form(op: Any, which: str) -> tuple[Callable[..., Any] | None, int]:
    """Return the form for large arrays of a body or formula, and from how many elements on it is used."""
    expression = _of_op(op).expression(which)
    if which == "forward":
        least = large_body(op, expression)
        return (of_body(op, NUMPY.bind(op.forward), expression), least) if least else (None, 0)
    least = large_formula(op, which, expression)
    formula = op.formulas[which]
    return (fused(formula, NUMPY.bind(formula), expression), least) if least else (None, 0)


@cache
def _of_op(op: Any) -> Inlined:
    return Inlined(op)


class _Products(ast.NodeTransformer):
    """Give products the name that programs have for them."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("product", node.ctx) if node.id in ("matmul", "_late_matmul") else node


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _facts(each: Instruction) -> list[tuple[Any, Any]]:
    """Return the shape and dtype of each array among the results."""

    def of(results: Any, expected: Any) -> list[tuple[Any, Any]]:
        if isinstance(results, Variable):
            return [expected]
        if isinstance(results, list | tuple):
            return [fact for r, e in zip(results, expected, strict=True) for fact in of(r, e)]
        return []

    return of(each.results, each.expected)


def _shown(line: str) -> str:
    place, _, rest = line.partition(" in ")
    return f"{os.path.basename(place)} in {rest}" if rest else "(no line)"


def _message(each: Instruction) -> str:
    what = "a value that Python looked at" if each.kind == "guard" else f"the shape that {each.name} gave"
    return f"{what} is another one, at {each.line}"


def build(program: Program) -> Built:
    """Return a program as text and as a function."""
    writer = _Writer(program)
    source = writer.text()
    names = writer.names
    exec(compile(source, "<compiled program>", "exec"), names)
    return Built(source, names["program"])
