"""Numbers in inlined expressions, as 0-dim arrays of the dtype that they meet.

NumPy takes twice as long for `x * 2.5` as for the product of two small arrays: it asks of every Python number whether
it fits. A 0-dim array of the dtype of `x` gives the same result, since a Python number is converted to just that.
Compiled code sees arrays of float32 and float64 only, so each number is kept in both.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

CONSTANTS: dict[str, Any] = {}  # by their names in generated code
_NAMES: dict[str, str] = {}  # the name of a constant, without the letter of its dtype

FORWARD, BACKWARD = "_spec is _FLOAT", "_g.itemsize == 4"  # code that tests for float32


def constants_in(text: str) -> dict[str, Any]:
    """The arrays that a text names."""
    return {name: CONSTANTS[name] for name in re.findall(r"\b_k\d+[fd]\b", text)}


class Constants(ast.NodeTransformer):
    """Puts such arrays in the place of numbers that meet an array in a sum, product, comparison, maximum or minimum.

    Args:
        arrays: the names that stand for arrays, all of the one dtype.
        numbers: those that stand for numbers.
        test: the expression that tells which dtype it is.
    """

    def __init__(self, arrays: set[str], numbers: dict[str, float], test: str) -> None:
        self.arrays, self.numbers, self.test = arrays, numbers, test

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            left, right = self._is_array(node.left), self._is_array(node.right)
            if left and not right:
                node.right = self._array(node.right)
            elif right and not left:
                node.left = self._array(node.left)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) == 1 and self._is_array(node.left) and not isinstance(node.ops[0], ast.Is | ast.IsNot):
            node.comparators = [self._array(node.comparators[0])]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _numpy_name(node) in ("maximum", "minimum") and len(node.args) == 2 and self._is_array(node.args[0]):
            node.args[1] = self._array(node.args[1])
        return self.generic_visit(node)

    def _is_array(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.arrays
        if isinstance(node, ast.UnaryOp):
            return self._is_array(node.operand)
        if isinstance(node, ast.BinOp):
            return self._is_array(node.left) or self._is_array(node.right)
        return _numpy_name(node) in _SAME_DTYPE and any(map(self._is_array, node.args))  # type: ignore[attr-defined]

    def _array(self, node: ast.expr) -> ast.expr:
        value = self._number(node)
        if value is None:
            return node
        key = repr(float(value))
        if key not in _NAMES:
            name = _NAMES[key] = f"_k{len(_NAMES)}"
            for letter in "fd":
                array = CONSTANTS[name + letter] = np.array(value, letter)
                array.flags.writeable = False
        name = _NAMES[key]
        return ast.parse(f"({name}f if {self.test} else {name}d)", mode="eval").body

    def _number(self, node: ast.expr) -> float | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._number(node.operand)
            return None if value is None else -value
        found: Any = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            found = self.numbers.get(node.id)
        return found if type(found) in (int, float) and -_FITS < found < _FITS else None


_FITS = 1e6  # numbers that surely fit into float32
_SAME_DTYPE = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh "
    "abs square negative maximum minimum".split()
)


def _numpy_name(node: ast.AST) -> str | None:
    """`exp` of a call of `np.exp`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.attr if node.func.value.id == "np" and not node.keywords else None
    return None
