"""Numbers in inlined expressions, as 0-dim arrays of the dtype that they meet.

NumPy takes twice as long for `x * 2.5` as for the product of two small arrays: it asks of every Python number whether
it fits. A 0-dim array of the dtype of `x` gives the same result, since a Python number is converted to just that.
Compiled code sees arrays of float32 and float64 only, so each number is kept in both.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Set
from typing import Any

import numpy as np


class _Singles(dict[float, Any]):
    """Arrays of one number of float32 each, by the numbers that options are."""

    def __missing__(self, number: float) -> Any:
        if not number:  # 0 and -0 would be one key
            return _ZEROS[math.copysign(1, number) < 0]
        if len(self) >= _MOST:
            self.clear()
        made = self[number] = _read_only(np.array(number, "f"))
        return made


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


_MOST = 512
_ZEROS = [_read_only(np.array(zero, "f")) for zero in (0.0, -0.0)]
SINGLES, REAL = _Singles(), frozenset((int, float))
CONSTANTS: dict[str, Any] = {}  # by their names in generated code
_NAMES: dict[str, str] = {}  # the name of a constant, without the letter of its dtype

FORWARD, BACKWARD = "_spec is _FLOAT", "_g.itemsize == 4"  # code that tests for float32


def constants_in(text: str) -> dict[str, Any]:
    """The arrays that a text names."""
    return {name: CONSTANTS[name] for name in re.findall(r"\b_k\d+[fd]\b", text)}


class Constants(ast.NodeTransformer):
    """Puts such arrays in the place of numbers that meet an array in a sum, product, comparison, maximum or minimum.

    The larger of an array and a number is asked of `clip`: the loops of NumPy's maximum are for two arrays. What asks
    whether an array is of float32 becomes the test.

    Args:
        arrays: the names that stand for arrays, all of the one dtype.
        numbers: those that stand for numbers.
        test: the expression that tells which dtype it is.
        options: the names that may stand for other numbers at each call.
    """

    def __init__(self, arrays: set[str], numbers: dict[str, float], test: str, options: Set[str]) -> None:
        self.arrays, self.numbers, self.test, self.options = arrays, numbers, test, options

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            left, right = self._is_array(node.left), self._is_array(node.right)
            if left and not right:
                node.right = self._array(node.right)
            elif right and not left:
                node.left = self._array(node.left)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if isinstance(node.left, ast.Attribute) and ast.unparse(node).endswith(".dtype == np.float32"):
            return ast.parse(self.test, mode="eval").body if self._is_array(node.left.value) else node
        if len(node.ops) == 1 and self._is_array(node.left) and not isinstance(node.ops[0], ast.Is | ast.IsNot):
            node.comparators = [self._array(node.comparators[0])]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name, args = _numpy_name(node), node.args
        if (
            name in ("maximum", "minimum")
            and len(args) == 2
            and self._is_array(args[0])
            and self._number(args[1]) is not None
        ):
            none = ast.Constant(math.inf if name == "maximum" else -math.inf)
            node = ast.Call(
                ast.Name("_clip", ast.Load()),
                [args[0], *([args[1], none] if name == "maximum" else [none, args[1]])],
                [],
            )
        if name == "where" and len(args) == 3 and any(map(self._is_array, args[1:])):
            args[1:] = map(self._array, args[1:])
        if isinstance(node.func, ast.Name) and node.func.id == "_clip" and self._is_array(args[0]):
            node.args[1:] = map(self._array, node.args[1:])
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        if self._is_array(node.value):
            self.arrays.add(node.target.id)
        else:
            self.arrays.discard(node.target.id)
        return self.generic_visit(node)

    def _is_array(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.arrays
        if isinstance(node, ast.UnaryOp):
            return self._is_array(node.operand)
        if isinstance(node, ast.BinOp):
            return self._is_array(node.left) or self._is_array(node.right)
        if isinstance(node, ast.IfExp):
            return self._is_array(node.body) and self._is_array(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_clip":
            return self._is_array(node.args[0])
        return _numpy_name(node) in _SAME_DTYPE and any(map(self._is_array, node.args))  # type: ignore[attr-defined]

    def _array(self, node: ast.expr) -> ast.expr:
        value = self._number(node)
        if value is None:
            option = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
            if not isinstance(option, ast.Name) or option.id not in self.options:
                return node
            text = ast.unparse(node)
            fits = f"type({option.id}) in _REAL and {self.test}"
            return ast.parse(f"(_singles[{text}] if {fits} else {text})", mode="eval").body
        key = repr(float(value))
        if key not in _NAMES:
            name = _NAMES[key] = f"_k{len(_NAMES)}"
            for letter in "fd":
                CONSTANTS[name + letter] = _read_only(np.array(value, letter))
        name = _NAMES[key]
        return ast.parse(f"({name}f if {self.test} else {name}d)", mode="eval").body

    def _number(self, node: ast.expr) -> float | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._number(node.operand)
            return None if value is None else -value
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            above, below = self._number(node.left), self._number(node.right)
            return above / below if above is not None and below else None
        found: Any = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            found = self.numbers.get(node.id)
        return found if type(found) in (int, float) and (-_FITS < found < _FITS or math.isinf(found)) else None


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
