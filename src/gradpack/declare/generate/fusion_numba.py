"""The steps that `fuse` finds, on one number after another: one loop, which Numba compiles where it is installed.

A step of the loop over blocks is a line such as `np.multiply(p_input, _f0, out=_f1)`. Here a buffer
is a number, and the same line is `_f1 = p_input * _f0`, so that nothing goes through memory but
what the operation is given and gives. Questions that are for numbers beside the arrays are answered
before the text is made, which is one for all arguments that give the same answers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...kernels.conditions import ENOUGH, alike, dense
from ...kernels.dispatch import ENABLED, loaded
from ...kernels.table import Kernel
from .buffers import Unfit
from .fusion_parse import written
from .fusion_steps import Unknown, Writer

Function = Callable[..., Any]
_LOOPS = Kernel("numba", "loops.from_text.loop_of")

# The scalar expression of each step. Those of `_SINGLE` are for float32 only.
_STEPS = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "true_divide": "{} / {}", "divide": "{} / {}",
    "square": "{0} * {0}", "negative": "-{}", "absolute": "abs({})", "abs": "abs({})", "sqrt": "sqrt({})",
    "reciprocal": "one / {}", "maximum": "maximum({}, {})", "minimum": "minimum({}, {})", "floor": "floor({})",
    "ceil": "ceil({})", "trunc": "trunc({})", "rint": "rint({})", "greater": "{} > {}", "greater_equal": "{} >= {}",
    "less": "{} < {}", "less_equal": "{} <= {}", "equal": "{} == {}", "not_equal": "{} != {}", "isnan": "{0} != {0}",
    "bitwise_and": "{} & {}", "bitwise_or": "{} | {}", "logical_and": "({} != 0) & ({} != 0)",
    "logical_or": "({} != 0) | ({} != 0)", "logical_not": "{} == 0", "copyto": "{}",
}  # fmt: skip
_SINGLE = frozenset("exp exp2 expm1 log log1p tanh".split())
_COPIES = 1 << 15  # elements of a part that is written where arguments lie

_TEXT = """\
def {name}({params}):
    for _i in range(_all.size):
{loads}\
{steps}\
        _all[_i] = _o
"""


class Way(NamedTuple):
    """A compiled loop, and the arguments that it is valid for."""

    # conditions as code, with the expected results: evaluation stops at the first mismatch
    answers: list[tuple[Any, bool]]
    numbers: list[Any]  # the numbers that the loop takes after the arrays, as code
    names: dict[str, Any]  # names that both use, besides the arguments
    run: Function | None  # None: use NumPy's steps
    dtype: Any  # the dtype of the result, if it is not that of the arrays


class Fused:
    """A function of arrays as compiled loops, one for each kind of arguments."""

    def __init__(self, code: list[ast.stmt], outside: dict[str, Any], params: tuple[str, ...]) -> None:
        self.code, self.outside, self.params = code, outside, params
        self.ways: dict[tuple[str, str], list[Way] | None] = {}  # by kinds and dtype; None: there are none

    def __call__(self, kinds: str, args: tuple[Any, ...], into: Any) -> Any:
        """The result, or None where there is no loop for these arguments.

        Args:
            into: an array that takes the result, which may be one of the arguments; or None.
        """
        arrays = [a for a, k in zip(args, kinds, strict=True) if k == "f"]
        if arrays[0].size < ENOUGH or not ENABLED["numba"] or not alike(*arrays) or (texts := loaded(_LOOPS)) is None:
            return None
        if not all(dense(a) for a, k in zip(args, kinds, strict=True) if k == "?"):
            return None
        native = arrays[0].dtype.type
        key = kinds, arrays[0].dtype.char
        if self.ways.get(key, ()) is None:
            return None
        values = {f"p_{p}": a for p, a in zip(self.params, args, strict=True)} | {"_common": arrays[0]}
        try:
            way = self.way(key, values, texts)
            if way.run is None:
                return None
            numbers = [_number(_value(n, way.names | values), native) for n in way.numbers]
        except Unknown:
            self.ways[key] = None
            return None
        except Unfit:
            return None
        given = [a.reshape(-1) for a, k in zip(args, kinds, strict=True) if k != "s"]
        if into is None:
            out = np.empty(arrays[0].shape, way.dtype or native)
            way.run(*given, out.reshape(-1), *numbers)
            return out
        flat, part = into.reshape(-1), np.empty(_COPIES, into.dtype)
        for start in range(0, flat.size, _COPIES):  # loops whose input and output may alias are not vectorised
            made = part[: flat.size - start]
            way.run(*[a[start : start + _COPIES] for a in given], made, *numbers)
            flat[start : start + _COPIES] = made
        return into

    def way(self, key: tuple[str, str], values: dict[str, Any], texts: Any) -> Way:
        """Return the loop valid for these values, compiled if the conditions on them have new outcomes."""
        known = self.ways.setdefault(key, [])
        assert known is not None
        for way in known:
            names = way.names | values
            if all(bool(_value(question, names)) is answer for question, answer in way.answers):
                return way
        known.append(self.made(key, values, texts))
        return known[-1]

    def made(self, key: tuple[str, str], values: dict[str, Any], texts: Any) -> Way:
        kinds, char = key
        writer, result = written(self.code, self.outside, self.params, kinds, 0)
        arrays = [p for p, k in zip(self.params, kinds, strict=True) if k != "s"]
        translator = _Translator(writer, arrays, writer.names | values, char == "f")
        try:
            translator.read(ast.parse("\n".join(writer.lines)).body)
        except Unfit:  # with these results of the conditions
            return Way(translator.answers, [], writer.names, None, None)
        text = _TEXT.format(
            name="{name}",
            params=", ".join([*(f"a_{a}" for a in arrays), "_all", *translator.numbers.values()]),
            loads="".join(f"        p_{a} = a_{a}[_i]\n" for a in arrays),
            steps="".join(f"        {line}\n" for line in translator.lines),
        )
        numbers = [_code(t) for t in translator.numbers]
        dtype = np.bool_ if result.kind == "?" else None
        return Way(translator.answers, numbers, writer.names, texts(text), dtype)


def _number(value: Any, native: Any) -> Any:
    if type(value) is not float and type(value) is not int:
        raise Unfit
    return native(value)


def _code(text: str) -> Any:
    return compile(text.strip(), "<number>", "eval")


def _value(code: Any, names: dict[str, Any]) -> Any:
    return eval(code, names)  # noqa: S307 - text of the operation's own body


class _Translator:
    """Translate the lines on blocks into lines on single elements."""

    def __init__(self, writer: Writer, arrays: list[str], values: dict[str, Any], single: bool) -> None:
        self.texts = {name: text for text, name in (writer.numbers | writer.filled).items()}
        self.written, self.values, self.single = {f"p_{a}" for a in arrays}, values, single
        self.lines: list[str] = []
        self.answers: list[tuple[Any, bool]] = []
        self.numbers: dict[str, str] = {}

    def read(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.If):
                question = _code(self.beside(statement.test))
                answer = bool(_value(question, self.values))
                self.answers.append((question, answer))
                self.read(statement.body if answer else statement.orelse)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self.call(statement.value)
            else:  # `raise _Unfit`
                raise Unfit

    def call(self, call: ast.Call) -> None:
        name = ast.unparse(call.func)
        operands, target = list(call.args), ""
        if call.keywords:
            target = ast.unparse(call.keywords[0].value)
        elif name == "_pick":
            target = ast.unparse(operands[3])
            operands = operands[:3]
        elif name == "_limit":
            target = ast.unparse(operands.pop())
        elif name == "np.copyto":
            target = ast.unparse(operands.pop(0))
        else:
            raise Unknown(name)
        self.lines.append(f"{target} = {self.step(name, operands)}")
        self.written.add(target)

    def step(self, name: str, operands: list[ast.expr]) -> str:
        if name == "_limit":
            kept = [self.bound(o) for o in operands[1:]]
            made = self.operand(operands[0])
            for function, bound in zip(("maximum", "minimum"), kept, strict=True):
                made = made if bound is None else f"{function}({made}, {bound})"
            return made
        texts = [self.operand(o) for o in operands]
        if name == "_clip":
            return f"minimum(maximum({texts[0]}, {texts[1]}), {texts[2]})"
        if name == "_pick":
            return f"{texts[1]} if {texts[0]} else {texts[2]}"
        short = name.removeprefix("np.")
        if short in _SINGLE and self.single:
            return f"{short}({texts[0]})"
        if short not in _STEPS:
            raise Unknown(name)
        return _STEPS[short].format(*texts)

    def bound(self, node: ast.expr) -> str | None:
        question = _code(f"({self.beside(node)}) is None")
        absent = bool(_value(question, self.values))
        self.answers.append((question, absent))
        return None if absent else self.operand(node)

    def beside(self, node: ast.expr) -> str:
        """Return the code of an expression on scalars; of arrays it may read only the dtype."""
        for n in ast.walk(node):
            if isinstance(n, ast.Attribute) and n.attr == "dtype" and ast.unparse(n.value) in self.written:
                n.value, n.attr = ast.Name("_common"), "dtype"
        return ast.unparse(node)

    def operand(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        if text in self.written:
            return text
        text = self.texts[text] if text in self.texts else self.beside(node)
        return self.numbers.setdefault(text, f"n_{len(self.numbers)}")
