"""Conditions on the kind or size of an operand, which are decided when the loop is generated."""

from __future__ import annotations

import ast
from typing import Any

from .fusion_steps import Value

_ANSWERS = {"is_complex": False, "is_whole": False, "is_number": False, "isinstance": False, "hasattr": True}


class Decided(ast.NodeTransformer):
    """Evaluate the parts of a condition that depend on the kind of an operand; arrays are real floating point."""

    def __init__(self, env: dict[str, Value]) -> None:
        self.env = env

    def _is_array(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.env and self.env[node.id].kind == "f"

    def _is_size(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "size" and self._is_array(node.value)

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            operand = self.visit(node.operand)
            return (
                ast.Constant(not operand.value) if isinstance(operand, ast.Constant) else ast.UnaryOp(node.op, operand)
            )
        if isinstance(node, ast.BoolOp):
            stop = isinstance(node.op, ast.Or)
            values = [self.visit(v) for v in node.values]
            if any(isinstance(v, ast.Constant) and bool(v.value) is stop for v in values):
                return ast.Constant(stop)
            values = [v for v in values if not isinstance(v, ast.Constant)]
            return (
                ast.Constant(not stop) if not values else values[0] if len(values) == 1 else ast.BoolOp(node.op, values)
            )
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.args
            and self._is_array(node.args[0])
        ):
            known = _ANSWERS.get(node.func.id)
            return node if known is None else ast.Constant(known)
        if isinstance(node, ast.Compare) and self._is_array(node.left) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            return ast.Constant(isinstance(node.ops[0], ast.IsNot))
        if isinstance(node, ast.Compare) and self._is_size(node.left) and isinstance(node.ops[0], ast.Lt):
            return ast.Constant(False)  # loops are for large arrays
        return node


def copied(node: ast.expr) -> ast.expr:
    """Return a copy of an expression, which may be modified."""
    return ast.parse(ast.unparse(node), mode="eval").body
