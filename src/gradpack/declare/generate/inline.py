"""Bodies and formulas of one expression, as text to put in place of a call.

A Python call costs about as much as a small NumPy operation saves; so where a body is
`return <expression>`, or a formula a lambda, compiled code contains the expression itself.
Anything else (no source at hand, several statements, free variables) is called.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
from collections.abc import Callable
from typing import Any, cast

from ...backends import NUMPY
from ...kernels.dispatch import LEAST
from ...kernels.table import PRODUCT
from ..op import Op
from .constants import BACKWARD, FORWARD, Constants

bind = NUMPY.bind  # expressions are inlined only where all operands are arrays


class Inlined:
    """Expressions of an operation, by "forward" or the name of an input."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.names: dict[str, Any] = {}  # globals that the expressions use: all come from one module
        self._found: dict[str, tuple[ast.expr, Callable[..., Any]]] = {}
        tree = _definition(op.forward)
        if tree is None:
            return
        replaced = getattr(bind(op.forward), "__code__", None) is not op.forward.__code__  # by a kernel from outside
        body = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        last = _last_of(body) if op.kind == "elementwise" or len(body) == 1 else None
        if not replaced and last is not None and not _names_assigned(last) & set(op.params):
            self._keep("forward", last, op.forward)
        for decorator in tree.decorator_list:
            if isinstance(decorator, ast.Call):
                for keyword in decorator.keywords:
                    if keyword.arg in op.formulas and isinstance(keyword.value, ast.Lambda):
                        self._keep(keyword.arg, keyword.value.body, op.formulas[keyword.arg])

    def _keep(self, what: str, expression: ast.expr, function: Callable[..., Any]) -> None:
        if function.__code__.co_freevars:
            return
        finder = _LateNames(function.__globals__)
        expression = finder.visit(copy.deepcopy(expression))
        self.names.update(finder.found)
        needed = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}
        params = set(
            function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
        )
        outside = {n: function.__globals__[n] for n in needed - params if n in function.__globals__}
        refused = (
            (ast.Lambda, ast.comprehension) if what == "forward" else (ast.Lambda, ast.comprehension, ast.NamedExpr)
        )
        if any(isinstance(n, refused) for n in ast.walk(expression)):
            return
        self.names.update({n: bind(v) for n, v in outside.items()})
        self._found[what] = (expression, function)

    def expression(self, what: str) -> ast.expr | None:
        """The expression as it was written; None if it is to be called, or has assignments before it."""
        found = self._found[what][0] if what in self._found else None
        return None if isinstance(found, ast.Subscript) and isinstance(found.value, ast.Tuple) else found

    def text(self, what: str, renamed: dict[str, str]) -> str | None:
        """The expression, its parameters renamed; None if it is to be called."""
        if what not in self._found:
            return None
        expression, function = self._found[what]
        tree = _Shorter().visit(ast.parse(ast.unparse(expression), mode="eval").body)
        tree = self._with_constants(what, tree, function)
        return "(" + ast.unparse(_Renamer(renamed).visit(tree)) + ")"

    def _with_constants(self, what: str, tree: ast.expr, function: Callable[..., Any]) -> ast.expr:
        """The expression, its numbers as arrays where everything is of one dtype, float32 or float64."""
        op = self.op
        if op.data_movement or op.result not in ("same", "float") or op.int64:
            return tree
        arrays = {p for p in (*op.inputs, *op.promote) if p not in op.scalars and p not in op.lists}
        arrays = {p for p in arrays if op.defaults.get(p, 0) is not None}
        if what != "forward":
            arrays |= {function.__code__.co_varnames[0], "out"}
        numbers = {n: v for n, v in self.names.items() if type(v) in (int, float)}
        numbers = {n: v for n, v in numbers.items() if n not in op.params}
        if what != "forward":
            return cast("ast.expr", Constants(arrays, numbers, BACKWARD, frozenset()).visit(tree))
        options = frozenset(op.params) - {*op.inputs, *op.promote, *op.arrays, *op.lists}
        return cast("ast.expr", Constants(arrays, numbers, FORWARD, options).visit(tree))


def _last_of(body: list[ast.stmt]) -> ast.expr | None:
    """The expression that a body returns, after assignments to names, if any, as part of it; None for other bodies."""
    *before, last = body
    if not isinstance(last, ast.Return) or last.value is None or not before:
        return last.value if isinstance(last, ast.Return) else None
    steps: list[ast.expr] = []
    for step in before:
        if not isinstance(step, ast.Assign) or not isinstance(step.targets[0], ast.Name) or len(step.targets) > 1:
            return None
        steps.append(ast.NamedExpr(step.targets[0], step.value))
    return ast.Subscript(ast.Tuple([*steps, last.value], ast.Load()), ast.Constant(-1), ast.Load())


def _names_assigned(expression: ast.expr) -> set[str]:
    return {n.target.id for n in ast.walk(expression) if isinstance(n, ast.NamedExpr)}


class Called(Inlined):
    """A stand-in for `Inlined` that inlines nothing."""

    def __init__(self, op: Op) -> None:
        self.op, self.names, self._found = op, {}, {}


class _Renamer(ast.NodeTransformer):
    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.renamed.get(node.id, node.id), node.ctx)


class _LateNames(ast.NodeTransformer):
    """Replace each `late.<operation>` by the name of its body, as all operands are arrays."""

    def __init__(self, outside: dict[str, Any]) -> None:
        self.late, self.found = outside.get("late"), dict[str, Any]()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if self.late is None or not isinstance(node.value, ast.Name) or node.value.id != "late":
            return self.generic_visit(node)
        name = f"_late_{node.attr}"
        self.found[name] = bind(getattr(self.late, node.attr))
        return ast.Name(name, node.ctx)


class _Shorter(ast.NodeTransformer):
    """Replace NumPy calls by ones with less overhead: `np.clip` by its ufunc, `np.reshape` and `np.round` by methods.

    Products are those of `backends.numpy.product`, without a call of it for few elements.
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("product", "matmul", "_late_matmul"):
            return _chosen_product(*node.args)
        if node.keywords or not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
            return node
        if node.func.value.id != "np":
            return node
        name, args = node.func.attr, node.args
        if name == "clip" and len(args) == 3:
            return ast.Call(ast.Name("_clip", ast.Load()), args, [])
        if name == "round" and len(args) == 1 and isinstance(args[0], ast.Name):
            return ast.Call(ast.Attribute(args[0], "round"), [], [])
        if name == "reshape" and len(args) == 2 and isinstance(args[0], ast.Name):
            return ast.Call(ast.Attribute(args[0], "reshape"), args[1:], [])
        return node


def _chosen_product(left: ast.expr, right: ast.expr) -> ast.expr:
    a, b = ast.unparse(left), ast.unparse(right)
    text, name, other = f"_product({a}, {b})", a.removesuffix(".mT"), b.removesuffix(".mT")
    if name.isidentifier() and other.isidentifier():  # the method takes half the time of the operator
        few = f"{a}.dot({b}) if 0 < {name}.ndim < 3 > {other}.ndim > 0 else {a} @ ({b})"
        text = f"({few}) if {name}.size + {other}.size < {PRODUCT} else {text}"
    elif name.isidentifier():
        text = f"{a} @ ({b}) if {name}.size < {LEAST} else {text}"
    return ast.parse(text, mode="eval").body


def _definition(function: Callable[..., Any]) -> ast.FunctionDef | None:
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    if not lines:
        return None
    try:
        block = inspect.getblock(lines[code.co_firstlineno - 1 :])
        tree = ast.parse("".join(block)).body[0]
    except (SyntaxError, IndexError):
        return None
    return tree if isinstance(tree, ast.FunctionDef) and tree.name == function.__name__ else None
