"""From statements on arrays, the steps of a loop over elements.

A step is an assignment such as `t1 = p_input * t0`, where `p_input` is an element of an argument and `t0` is what an
earlier step made. That is right for operations of the kind "elementwise". Helpers of one `return`, after assignments
to plain names, are taken apart as well, and so are the bodies of other operations. What does not depend on arrays is
a number that the loop is given; a condition on numbers is decided when the loop is made, and recorded. What is not
understood (loops, conditions on arrays, other functions) raises `Unknown`.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import warnings
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ...kernels.dispatch import STRIP
from .strips import strips

_BINARY = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "true_divide", ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
}  # fmt: skip
_COMPARE = {
    ast.Gt: "greater", ast.GtE: "greater_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal",
}  # fmt: skip
_TESTS = frozenset("isnan logical_not logical_and logical_or".split()) | frozenset(_COMPARE.values())
# The expression of each step, by the name of NumPy's function. Those of `_SINGLE` are for float32 only.
_STEPS = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "true_divide": "{} / {}", "divide": "{} / {}",
    "square": "{0} * {0}", "negative": "-{}", "absolute": "abs({})", "abs": "abs({})", "sqrt": "sqrt({})",
    "reciprocal": "one / {}", "maximum": "maximum({}, {})", "minimum": "minimum({}, {})", "floor": "floor({})",
    "ceil": "ceil({})", "trunc": "trunc({})", "rint": "rint({})", "greater": "{} > {}", "greater_equal": "{} >= {}",
    "less": "{} < {}", "less_equal": "{} <= {}", "equal": "{} == {}", "not_equal": "{} != {}", "isnan": "{0} != {0}",
    "bitwise_and": "{} & {}", "bitwise_or": "{} | {}", "logical_and": "({} != 0) & ({} != 0)",
    "logical_or": "({} != 0) | ({} != 0)", "logical_not": "{} == 0", "clip": "minimum(maximum({}, {}), {})",
    "where": "{1} if {0} else {2}", "sign": "one if {0} > 0 else (-one if {0} < 0 else abs({0}))",
    "side": "one if {0} > 0 else (-one if {0} < 0 else one - one)",
}  # fmt: skip
_LIMITED = frozenset("sin cos".split())  # to angles that are not far
_SINGLE = frozenset("exp exp2 expm1 log log1p tanh".split()) | _LIMITED
_OPERATIONS = {  # whose bodies depend on the sizes of arrays: the step that each is
    "clamp_min": "maximum", "clamp_max": "minimum", "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_not": "logical_not", "where": "where", "sign": "side",
}  # fmt: skip
_ANSWERS = {"is_complex": False, "is_whole": False, "is_number": False, "isinstance": False, "hasattr": True}


class Unknown(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised for code that cannot be translated into a loop."""


class Value(NamedTuple):
    """A part of an expression: "f" an element of the common dtype, "?" a bool, "s" a number beside the arrays."""

    kind: str
    text: str


class Steps:
    """The steps of one loop, and what they need.

    Attributes:
        names: what the texts of numbers and conditions name: the arguments, and values of modules.
        single: whether the arrays are of float32.
        lines: the steps.
        angles: the arguments of sines and cosines: how many steps come before, and the text.
        answers: the conditions on numbers, as code, and how they were decided.
        numbers: the parameters for numbers beside the arrays, by their texts.
        tests: the names of steps that are true or false.
    """

    def __init__(self, values: dict[str, Any], single: bool) -> None:
        self.values, self.single = values, single
        self.names: dict[str, Any] = {"np": np}
        self.lines: list[str] = []
        self.angles: list[tuple[int, str]] = []
        self.answers: list[tuple[Any, bool]] = []
        self.numbers: dict[str, str] = {}
        self.tests: set[str] = set()

    def add(self, name: str, values: list[Value]) -> Value:
        """Append the step that a function of NumPy's is."""
        if name not in (_STEPS.keys() | _SINGLE if self.single else _STEPS) or all(v.kind == "s" for v in values):
            raise Unknown(name)
        kind = "?" if name in _TESTS or (name.startswith("bitwise") and values[0].kind == "?") else "f"
        if name in _LIMITED:
            self.angles.append((len(self.lines), values[0].text))
        return self.set(_STEPS.get(name, name + "({})").format(*map(self.operand, values)), kind)

    def set(self, text: str, kind: str) -> Value:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        if kind == "?":
            self.tests.add(name)
        return Value(kind, name)

    def function(self, params: list[str], read: list[str], write: list[str], columns: list[str] | None) -> str:
        """Return the text of a function that takes these steps for each element of `_all` and others, `{name}`.

        Args:
            read: the lines that read an element of each array.
            write: those that write results.
            columns: those that read an element for each row, if arrays are matrices; None for vectors.
        """
        if columns is None:
            body = ["use_widest_vectors()", *self._over("_all.size", read, write)]
        else:
            row = self._over("_all.shape[1]", read, write)
            body = ["for _r in range(_all.shape[0]):", *_indented([*columns, *row])]
        return "\n".join([f"def {{name}}({', '.join([*params, *self.numbers.values()])}):", *_indented(body), ""])

    def _over(self, size: str, read: list[str], write: list[str]) -> list[str]:
        """Return the lines of a loop over elements, or of several that take turns on strips of them."""
        found = strips(self.lines, self.tests, read, write)
        if found is None:
            return self._loop(f"for _i in range({size}):", read, self.lines, write, self.angles)
        inner = [f"_count = min({STRIP}, {size} - _low)", *found.parts]
        for each in found.stages:
            places = {place: nr for nr, place in enumerate(each.places)}
            angles = [(places[place], angle) for place, angle in self.angles if place in places]
            inner += self._loop("for _i in range(_count):", each.read, each.lines, each.write, angles)
        return [*found.kept, f"for _low in range(0, {size}, {STRIP}):", *_indented(inner)]

    def _loop(
        self, head: str, read: list[str], lines: list[str], write: list[str], angles: list[tuple[int, str]]
    ) -> list[str]:
        """Return the lines of a loop of steps: where an angle is far, one that calls the mathematical library."""
        usual = [*read, *lines, *write]
        if not angles:
            return [head, *_indented(usual)]
        last, _ = angles[-1]
        seen = [*read, *lines[:last], *(f"_far |= is_far({angle})" for _, angle in angles)]
        of_any = [re.sub(r"= (sin|cos)\(", r"= \1_of_any(", line) for line in usual]
        far, near = (_indented([head, *_indented(lines)]) for lines in (of_any, usual))
        return ["_far = False", head, *_indented(seen), "if _far:", *far, "else:", *near]

    def operand(self, value: Value) -> str:
        return self.numbers.setdefault(value.text, f"n_{len(self.numbers)}") if value.kind == "s" else value.text

    def decide(self, condition: str) -> bool:
        """Evaluate a condition on numbers, and record the answer."""
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # of `0 is None`
            code = compile(condition.strip(), "<condition>", "eval")
        answer = bool(eval(code, self.names | self.values))  # noqa: S307 - text of the operation's own body
        self.answers.append((code, answer))
        return answer


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


class Reader:
    """Translate one function: `env` maps its names to values, `outside` are its globals."""

    def __init__(self, steps: Steps, env: dict[str, Value], outside: dict[str, Any], depth: int = 0) -> None:
        self.steps, self.env, self.outside, self.depth = steps, env, outside, depth

    def run(self, code: list[ast.stmt]) -> Value:
        """Translate statements that end in a return."""
        for nr, statement in enumerate(code):
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.value(statement.value)
            if isinstance(statement, ast.Try):  # an exception makes the caller fall back to the plain body
                return self.run(statement.body)
            if isinstance(statement, ast.If):
                return self.run((statement.body if self.holds(statement.test) else statement.orelse) + code[nr + 1 :])
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, source = statement.targets[0], statement.value
            elif isinstance(statement, ast.AugAssign):
                target, source = statement.target, ast.BinOp(_copied(statement.target), statement.op, statement.value)
            else:
                raise Unknown(ast.unparse(statement))
            if not isinstance(target, ast.Name):
                raise Unknown(ast.unparse(statement))
            self.env[target.id] = self.value(source)
        raise Unknown("a function that returns nothing")

    def value(self, node: ast.expr) -> Value:
        if self.is_number(node):
            return Value("s", self.number(node))
        if isinstance(node, ast.Name):
            return self.env[node.id]
        if isinstance(node, ast.IfExp):
            return self.value(node.body if self.holds(node.test) else node.orelse)
        if isinstance(node, ast.UnaryOp):
            operand = self.value(node.operand)
            if isinstance(node.op, ast.USub) and operand.kind == "f":
                return self.steps.add("negative", [operand])
            if isinstance(node.op, ast.Invert) and operand.kind == "?":
                return self.steps.add("logical_not", [operand])
        elif isinstance(node, ast.BinOp):
            return self.binary(node)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            return self.steps.add(_COMPARE[type(node.ops[0])], [self.value(node.left), self.value(node.comparators[0])])
        elif isinstance(node, ast.Call):
            return self.call(node)
        raise Unknown(ast.unparse(node))

    def binary(self, node: ast.BinOp) -> Value:
        values = [self.value(node.left), self.value(node.right)]
        name = _BINARY.get(type(node.op))
        bools = isinstance(node.op, ast.BitAnd | ast.BitOr)
        if name is None or any(v.kind != "s" and (v.kind == "?") is not bools for v in values):
            raise Unknown(ast.unparse(node))
        return self.steps.add(name, values)

    def call(self, node: ast.Call) -> Value:
        function = self.function(node.func)
        name = getattr(function, "__name__", "")
        if function is getattr(np, name, None):
            if node.keywords:
                raise Unknown(ast.unparse(node))
            return self.function_of_numpy(name, [self.value(a) for a in node.args])
        if not isinstance(function, FunctionType) or self.depth > 8:
            raise Unknown(ast.unparse(node))
        op = getattr(function, "op", None)
        known = _OPERATIONS.get(op.name) if op is not None else {"select": "where", "limit": "limit"}.get(name)
        if known is not None:
            return self.function_of_numpy(known, [self.value(a) for a in node.args])
        return self.inlined(function if op is None else op.forward, node)

    def function_of_numpy(self, name: str, values: list[Value]) -> Value:
        kinds = "".join(v.kind for v in values)
        if name == "where" and (len(kinds) != 3 or kinds[0] != "?" or "?" in kinds[1:]):
            raise Unknown(name)
        if name in ("clip", "limit") and (kinds[:1] != "f" or len(kinds) != 3 or "?" in kinds):
            raise Unknown(name)
        if name not in ("clip", "limit"):
            return self.steps.add(name, values)
        made, *bounds = values  # a bound of None, in `operands.limit`, and an infinite one do not limit
        for function, bound, none in zip(("maximum", "minimum"), bounds, ("-1e999", "1e999"), strict=True):
            if bound.kind != "s" or not self.steps.decide(f"({bound.text}) in (None, {none})"):
                made = self.steps.add(function, [made, bound])
        return made

    def function(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id not in self.env:
            return self.outside.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self.outside.get(node.value.id)
            module = getattr(module, "_late", module)  # what stands for `late` in functions that are bound to arrays
            if isinstance(module, ModuleType):
                return getattr(module, node.attr, None)
        raise Unknown(ast.unparse(node))

    def inlined(self, function: Callable[..., Any], node: ast.Call) -> Value:
        """Translate the body of a function, with the arguments of the call for its parameters."""
        params = inspect.signature(function).parameters
        env = dict(zip(params, [self.value(a) for a in node.args], strict=False))
        env.update((k.arg, self.value(k.value)) for k in node.keywords if k.arg is not None)
        for p, parameter in params.items():
            if p not in env:
                if parameter.default is inspect.Parameter.empty:
                    raise Unknown(p)
                env[p] = Value("s", self.named(parameter.default))
        return Reader(self.steps, env, function.__globals__, self.depth + 1).run(statements(function))

    def named(self, value: Any) -> str:
        """Return a name for a value of a module."""
        name = f"_k{id(value)}"
        self.steps.names[name] = value  # the reference keeps its id from being reused
        return name

    # -- what does not depend on arrays --

    def is_number(self, node: ast.AST) -> bool:
        """Return whether an expression contains no array, or only its dtype."""
        if isinstance(node, ast.Name):
            return node.id not in self.env or self.env[node.id].kind == "s"
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return True
        return all(map(self.is_number, ast.iter_child_nodes(node)))

    def number(self, node: ast.expr) -> str:
        """Return the text of an expression without arrays, which is valid anywhere."""
        if any(isinstance(n, ast.Lambda | ast.comprehension | ast.NamedExpr) for n in ast.walk(node)):
            raise Unknown(ast.unparse(node))
        own = _copied(node)
        for name in ast.walk(own):
            if isinstance(name, ast.Name) and name.id in self.env:
                found = self.env[name.id]
                name.id = found.text if found.kind == "s" else "_common"  # of an array, it is the dtype that is asked
            elif isinstance(name, ast.Name) and name.id in self.outside:
                name.id = self.named(self.outside[name.id])
        return "(" + ast.unparse(own) + ")"

    def holds(self, test: ast.expr) -> bool:
        """Decide a condition by the kinds of its operands, or else by the numbers in it."""
        test = self.decided(_copied(test))
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if not self.is_number(test):
            raise Unknown(ast.unparse(test))
        return self.steps.decide(self.number(test))

    def decided(self, node: ast.expr) -> ast.expr:
        """Evaluate the parts of a condition that ask for the kind or the size of an array: many real numbers."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            operand = self.decided(node.operand)
            return (
                ast.Constant(not operand.value) if isinstance(operand, ast.Constant) else ast.UnaryOp(node.op, operand)
            )
        if isinstance(node, ast.BoolOp):
            stop = isinstance(node.op, ast.Or)
            values = [self.decided(v) for v in node.values]
            if any(isinstance(v, ast.Constant) and bool(v.value) is stop for v in values):
                return ast.Constant(stop)
            values = [v for v in values if not isinstance(v, ast.Constant)]
            return ast.BoolOp(node.op, values) if len(values) > 1 else values[0] if values else ast.Constant(not stop)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args and self.is_array(node.args[0]):
            known = _ANSWERS.get(node.func.id)
            return node if known is None else ast.Constant(known)
        if isinstance(node, ast.Compare):
            left, sort = node.left, node.ops[0]
            if isinstance(sort, ast.Is | ast.IsNot) and self.is_array(left):
                return ast.Constant(isinstance(sort, ast.IsNot))
            if isinstance(sort, ast.Lt) and isinstance(left, ast.Attribute) and left.attr == "size":
                return ast.Constant(False) if self.is_array(left.value) else node
        return node

    def is_array(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.env and self.env[node.id].kind == "f"


def _copied(node: ast.expr) -> ast.expr:
    """Return a copy of an expression, which may be modified; a target becomes an operand."""
    return ast.parse(ast.unparse(node), mode="eval").body


def statements(function: Callable[..., Any]) -> list[ast.stmt]:
    """The statements of a function, without its docstring."""
    if not isinstance(function, FunctionType) or function.__code__.co_freevars:
        raise Unknown(repr(function))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, SyntaxError, IndexError) as error:
        raise Unknown(function.__name__) from error
    if not isinstance(tree, ast.FunctionDef):
        raise Unknown(function.__name__)
    body = tree.body
    first = body[0]
    return body[1:] if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else body
