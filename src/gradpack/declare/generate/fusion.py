"""Bodies and formulas of several steps on large arrays: one compiled loop for all of them.

NumPy runs one instruction over the whole array before the next, and each goes to main memory and back. Where Numba is
installed and the text is understood (`fusion_text`), the steps run on one element after another instead; else, the
function is called as it is. That is right for operations of the kind "elementwise".
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...kernels import conditions
from ...kernels.dispatch import ENABLED, LARGE, loaded
from ...kernels.table import Kernel
from ..op import Op
from .fusion_text import Reader, Steps, Unknown, Value, statements

Function = Callable[..., Any]
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
_LOOPS = Kernel("numba", "loops.from_text.loop_of")
_COPIES = 1 << 15  # elements of a part that is written where arguments lie

_TEXT = """\
def {name}({params}):
    for _i in range(_all.size):
{loads}\
{steps}\
        _all[_i] = {result}
"""


class Loop(NamedTuple):
    """A compiled loop, and the arguments that it is valid for."""

    answers: list[tuple[Any, bool]]  # conditions as code, and their results: evaluation stops at the first mismatch
    numbers: list[Any]  # the numbers that the loop takes after the arrays, as code
    names: dict[str, Any]  # names that both use, besides the arguments
    run: Function | None  # None: the function is called as it is
    dtype: Any  # the dtype of the result, if it is not that of the arrays


class Unfit(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where a number is none that a loop takes."""


class Fused:
    """A function of arrays as compiled loops, one for each kind of arguments."""

    def __init__(self, code: list[ast.stmt], outside: dict[str, Any], params: tuple[str, ...]) -> None:
        self.code, self.outside, self.params = code, outside, params
        self.loops: dict[tuple[str, str], list[Loop]] = {}  # by kinds and dtype

    def __call__(self, kinds: str, args: tuple[Any, ...], into: Any) -> Any:
        """The result, or None where there is no loop for these arguments.

        Args:
            into: an array that takes the result, which may be one of the arguments; or None.
        """
        if not ENABLED["numba"] or "f" not in kinds:
            return None
        first = args[kinds.index("f")]
        if first.size < conditions.ENOUGH or not conditions.alike(first):
            return None
        values = {f"p_{p}": a for p, a in zip(self.params, args, strict=True)} | {"_common": first}
        native = first.dtype.type
        loop = self.loop((kinds, first.dtype.char), values)
        if loop.run is None:
            return None
        try:
            numbers = [_number(eval(n, loop.names | values), native) for n in loop.numbers]  # noqa: S307 - own text
        except Unfit:
            return None
        given = [a.reshape(-1) for a, k in zip(args, kinds, strict=True) if k != "s"]
        if into is None:
            out = np.empty(first.shape, loop.dtype or native)
            loop.run(*given, out.reshape(-1), *numbers)
            return out
        flat, part = into.reshape(-1), np.empty(_COPIES, into.dtype)
        for start in range(0, flat.size, _COPIES):  # loops whose input and output may alias are not vectorised
            made = part[: flat.size - start]
            loop.run(*[a[start : start + _COPIES] for a in given], made, *numbers)
            flat[start : start + _COPIES] = made
        return into

    def loop(self, key: tuple[str, str], values: dict[str, Any]) -> Loop:
        """Return the loop valid for these values, compiled if the conditions on them have new outcomes."""
        known = self.loops.setdefault(key, [])
        for loop in known:
            names = loop.names | values
            if all(bool(eval(condition, names)) is answer for condition, answer in loop.answers):  # noqa: S307
                return loop
        known.append(self.made(*key, values))
        return known[-1]

    def made(self, kinds: str, char: str, values: dict[str, Any]) -> Loop:
        steps = Steps(values, char == "f")
        given = {p: Value(k, f"p_{p}") for p, k in zip(self.params, kinds, strict=True)}
        try:
            result = Reader(steps, dict(given), self.outside).run(self.code)
            if result.kind == "s":
                raise Unknown("a number")
        except Unknown:
            return Loop(steps.answers, [], steps.names, None, None)
        if (compiled := loaded(_LOOPS)) is None:  # asked last: to import Numba takes long
            return Loop(steps.answers, [], steps.names, None, None)
        arrays = [p for p, v in given.items() if v.kind != "s"]
        text = _TEXT.format(
            name="{name}",
            params=", ".join([*(f"a_{a}" for a in arrays), "_all", *steps.numbers.values()]),
            loads="".join(f"        p_{a} = a_{a}[_i]\n" for a in arrays),
            steps="".join(f"        {line}\n" for line in steps.lines),
            result=result.text,
        )
        numbers = [compile(n.strip(), "<number>", "eval") for n in steps.numbers]
        return Loop(steps.answers, numbers, steps.names, compiled(text), np.bool_ if result.kind == "?" else None)


def _number(value: Any, native: Any) -> Any:
    if type(value) is not float and type(value) is not int:
        raise Unfit
    return native(value)


def alike(args: tuple[Any, ...]) -> str:
    """Return a letter per argument: "f" an array (all of one floating dtype), "?" an array of bools, "s" a scalar.

    Empty if arrays differ in shape or dtype or are not dense.
    """
    kinds, shape, native = "", None, None
    for a in args:
        if type(a) is not _array_type or not a.ndim:
            if hasattr(a, "dtype") and native is not None and a.dtype is not native:
                return ""
            kinds += "s"
            continue
        char = a.dtype.char
        if char in "fd":
            if native is not None and native is not a.dtype:
                return ""
            native = a.dtype
        elif char != "?":
            return ""
        if (shape is not None and a.shape != shape) or not conditions.dense(a):
            return ""
        shape = a.shape
        kinds += "?" if char == "?" else "f"
    return kinds


def fused(code: list[ast.stmt], function: Function, bound: Function) -> Function:
    """Return `function` with a compiled loop for the arguments that its statements make one for.

    Args:
        code: the statements of `function`.
        bound: `function` for NumPy's arrays. The result may take `into=`, an array for the result, which it may ignore.
    """
    loops = Fused(code, function.__globals__, _parameters(function))
    bound = _by_position(function, bound)

    def run(*args: Any, into: Any = None) -> Any:
        made = loops(alike(args), args, into)
        return bound(*args) if made is None else made

    return run


def _parameters(function: Function) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _by_position(function: Function, bound: Function) -> Function:
    """Return `bound`, called with all arguments by position."""
    first = function.__code__.co_argcount
    names = _parameters(function)[first:]
    return (lambda *args: bound(*args[:first], **dict(zip(names, args[first:], strict=True)))) if names else bound


@cache
def _loops_of(function: Function) -> Fused:
    return Fused(statements(function), function.__globals__, _parameters(function))


def compiled(function: Function, *args: Any) -> Any:
    """Return `function(*args)` by a compiled loop; None if there is no loop for these arguments."""
    return _loops_of(function)(alike(args), args, None)


def looped(function: Function, *args: Any) -> Any:
    """Return `function(*args)` of an elementwise function, by a compiled loop if the arrays are large.

    The bodies of operations of other kinds use it for what they do to elements.
    """
    first = args[0]
    made = None if type(first) is not _array_type or first.size < LARGE else compiled(function, *args)
    return function(*args) if made is None else made


# -- of operations --


def large_forms(op: Op, inlined: Any, body: Function, formulas: dict[str, Function]) -> dict[str, Any]:
    """Return the functions for large arrays: `_forward_large`, and `_vjp_<input>_large` for each formula."""
    names: dict[str, Any] = {}
    if has_large_body(op, inlined.expression("forward")):
        names["_forward_large"] = of_body(op, body)
    for p, formula in formulas.items():
        expression = inlined.expression(p)
        if has_large_formula(op, p, expression):
            names[f"_vjp_{p}_large"] = _fused(op.formulas[p], formula, expression)
    return names


def of_body(op: Op, body: Function) -> Function:
    """The body of an operation for large arrays; `into=` names one that may take the result."""
    own = op.blocks
    return (lambda *args, into=None: own(body, *args)) if callable(own) else _fused(op.forward, body, None)


def _fused(function: Function, bound: Function, expression: ast.expr | None) -> Function:
    try:
        return fused(statements(function) if expression is None else [ast.Return(expression)], function, bound)
    except Unknown:
        bound = _by_position(function, bound)
        return lambda *args, into=None: bound(*args)


def has_large_body(op: Op, expression: ast.expr | None) -> bool:
    """Return whether the body of an operation, of this expression if it is one, may be a loop for large arrays."""
    if op.kind != "elementwise" or op.returns or op.residuals or op.blocks is False:
        return False
    return callable(op.blocks) or (
        "generator" not in op.params and (expression is None or _has_several_steps(expression, op.arrays))
    )


def has_large_formula(op: Op, name: str, expression: ast.expr | None) -> bool:
    """Return whether the formula for an input may be a loop for large arrays."""
    if (
        op.kind != "elementwise"
        or op.returns
        or op.joint_vjp is not None
        or any(op.saves(n) == "meta" for n in op.saved)
    ):
        return False
    return expression is None or _has_several_steps(expression, op.formulas[name].__code__.co_varnames)


def _has_several_steps(expression: ast.expr, names: Any) -> bool:
    """Return whether an expression takes more than one step on arrays, or hides them in a call."""
    if isinstance(expression, ast.IfExp):  # the usual case comes first
        return _has_several_steps(expression.body, names)
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
        return True
    steps = [
        n
        for n in ast.walk(expression)
        if isinstance(n, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Call)
        and any(isinstance(k, ast.Name) and k.id in names for k in ast.walk(n))
    ]
    return len(steps) > 1
