"""Which bodies and formulas have a form for large arrays, and from what size on."""

from __future__ import annotations

import ast
from typing import Any

from ...kernels.dispatch import LARGE
from ..op import Op

SEVERAL = 2  # steps, from which on one loop is worth while
_SLOW = frozenset(
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 hypot log log10 log1p log2 "
    "power sin sinh tan tanh".split()
)


def large_body(op: Op, expression: ast.expr | None) -> int:
    """Return the size from which on a body, of this expression if it is one, has a form for large arrays; or 0."""
    if op.kind != "elementwise" or op.returns or op.residuals or op.blocks is False:
        return 0
    if callable(op.blocks):
        return LARGE
    return 0 if "generator" in op.params else _large(expression, op.arrays)


def large_formula(op: Op, name: str, expression: ast.expr | None) -> int:
    """Return the size from which on the formula for an input has a form for large arrays, or 0."""
    is_made = op.kind == "elementwise" and not op.returns and op.joint_vjp is None
    if not is_made or any(op.saves(n) == "meta" for n in op.saved):
        return 0
    if op.blocks is False and isinstance(expression, ast.Call):  # another operation, which does it by itself
        return 0
    return _large(expression, op.formulas[name].__code__.co_varnames)


def smaller(array: str, size: int) -> str:
    """Return the test, as text, that an array is smaller than those of a form for large ones."""
    return f"{array}.size < {size}" if size <= LARGE else f"not _seen or {array}.size < {size}"


def _large(expression: ast.expr | None, names: Any) -> int:
    steps = SEVERAL if expression is None else steps_of(expression, names)
    if steps >= SEVERAL or expression is None:
        return LARGE
    return 2 * LARGE * steps


def is_slow(expression: ast.expr) -> bool:
    """Return whether an expression takes the processor more time than memory."""
    return any(isinstance(n, ast.Attribute) and n.attr in _SLOW for n in ast.walk(expression))


def steps_of(expression: ast.expr, names: Any) -> int:
    """Return how many steps on arrays an expression takes; several if it hides them in a call."""
    if isinstance(expression, ast.IfExp):  # the usual case comes first
        return steps_of(expression.body, names)
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
        return SEVERAL
    steps = [
        n
        for n in ast.walk(expression)
        if isinstance(n, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Call)
        and any(isinstance(k, ast.Name) and k.id in names for k in ast.walk(n))
    ]
    return len(steps)
