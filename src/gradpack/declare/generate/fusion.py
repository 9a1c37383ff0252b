"""Bodies and formulas of several steps on large arrays: one compiled loop for all of them.

NumPy runs one instruction over the whole array before the next, and each goes to main memory and back. Where Numba is
installed and the text is understood (`fusion_text`), the steps run on one element after another instead; else, the
function is called as it is. That is right for operations of the kind "elementwise".
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from sys import getrefcount, modules
from typing import Any, NamedTuple

import numpy as np

from ...kernels import conditions
from ...kernels.dispatch import ENABLED, HEAVY, LARGE, PART, PYTHON, loaded
from ...kernels.table import Kernel
from ..op import Op
from .elementwise_parts import BLOCK, FREE, in_parts, is_whole, unspread, writing
from .fusion_text import Reader, Steps, Unknown, Value, statements

Function = Callable[..., Any]
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
LOOPS, WHOLE = Kernel("numba", "ranges.of_text"), Kernel("numba", "ranges.Whole")
_SEVERAL = 2  # steps, from which on one loop is worth while
_FEW_STEPS = 1 << 20  # elements, from which on it is worth while to import Numba for one step or two
_SLOW = frozenset(
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 hypot log log10 log1p log2 "
    "power sin sinh tan tanh".split()
)

_TEXT = """\
def {name}({params}):
    for _i in range(_all.size):
{lines}\
        _all[_i] = {result}
"""
_IN_PLACE = """\
def {name}({params}):
    _made = empty(1024, _all.dtype)
    for _first in range(0, _all.size, 1024):
        _count = min(1024, _all.size - _first)
{slices}\
        for _i in range(_count):
{lines}\
            _made[_i] = {result}
        _all[_first:_first + _count] = _made[:_count]
"""  # loops whose input and output may be the same are not vectorised


class Loop(NamedTuple):
    """A compiled loop, and the arguments that it is valid for."""

    answers: list[tuple[Any, bool]]  # conditions as code, and their results: evaluation stops at the first mismatch
    numbers: list[Any]  # the numbers that the loop takes after the arrays, as code
    names: dict[str, Any]  # names that both use, besides the arguments
    run: Function | None  # None: the function is called as it is
    dtype: Any  # the dtype of the result, if it is not that of the arrays
    part: int  # elements that one core takes at a time


class Unfit(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where a number is none that a loop takes."""


class Fused:
    """A function of arrays as compiled loops, one for each kind of arguments.

    Args:
        least: elements, below which it is not worth while to import Numba.
    """

    def __init__(
        self, code: list[ast.stmt], outside: dict[str, Any], params: tuple[str, ...], least: int = conditions.ENOUGH
    ) -> None:
        self.code, self.outside, self.params, self.least = code, outside, params, least
        self.loops: dict[tuple[str, str, bool], list[Loop]] = {}  # by kinds, dtype, and whether the result is new

    def __call__(self, kinds: str, args: tuple[Any, ...], into: Any) -> Any:
        """The result, or None where there is no loop for these arguments.

        Args:
            into: an array that takes the result, which may be one of the arguments; or None.
        """
        if not ENABLED["numba"] or "f" not in kinds:
            return None
        first = args[kinds.index("f")]
        least = conditions.ENOUGH if "numba" in modules else self.least
        if first.size < least or not conditions.alike(first):
            return None
        values = {f"p_{p}": a for p, a in zip(self.params, args, strict=True)} | {"_common": first}
        native = first.dtype.type
        loop = self.loop((kinds, first.dtype.char, into is None), values)
        run = loop.run
        if run is None:
            return None
        try:
            numbers = [_number(eval(n, loop.names | values), native) for n in loop.numbers]  # noqa: S307 - own text
        except Unfit:
            return None
        given = [a.reshape(-1) for a, k in zip(args, kinds, strict=True) if k != "s"]
        out = np.empty(first.shape, loop.dtype or native) if into is None else into
        run(out.size, loop.part, *given, out.reshape(-1), *numbers)
        return out

    def loop(self, key: tuple[str, str, bool], values: dict[str, Any]) -> Loop:
        """Return the loop valid for these values, compiled if the conditions on them have new outcomes."""
        known = self.loops.setdefault(key, [])
        for loop in known:
            names = loop.names | values
            if all(bool(eval(condition, names)) is answer for condition, answer in loop.answers):  # noqa: S307
                return loop
        known.append(self.made(*key, values))
        return known[-1]

    def made(self, kinds: str, char: str, is_new: bool, values: dict[str, Any]) -> Loop:
        steps = Steps(values, char == "f")
        given = {p: Value(k, f"p_{p}") for p, k in zip(self.params, kinds, strict=True)}
        try:
            result = Reader(steps, dict(given), self.outside).run(self.code)
            if result.kind == "s":
                raise Unknown("a number")
        except Unknown:
            return Loop(steps.answers, [], steps.names, None, None, 0)
        if (compiled := loaded(LOOPS)) is None:  # asked last: to import Numba takes long
            return Loop(steps.answers, [], steps.names, None, None, 0)
        arrays = [p for p, v in given.items() if v.kind != "s"]
        form, deep, of = (_TEXT, 8, "a_{}") if is_new else (_IN_PLACE, 12, "b_{}")
        lines = [*(f"p_{a} = {of.format(a)}[_i]" for a in arrays), *steps.lines]
        text = form.format(
            name="{name}",
            params=", ".join([*(f"a_{a}" for a in arrays), "_all", *steps.numbers.values()]),
            slices="".join(f"        b_{a} = a_{a}[_first:_first + _count]\n" for a in arrays),
            lines="".join(f"{'':{deep}}{line}\n" for line in lines),
            result=result.text,
        )
        numbers = [compile(n.strip(), "<number>", "eval") for n in steps.numbers]
        return Loop(
            steps.answers,
            numbers,
            steps.names,
            compiled(text),
            np.bool_ if result.kind == "?" else None,
            PART // min(max(1, len(steps.lines) // 2), 4),
        )


def _number(value: Any, native: Any) -> Any:
    if type(value) is not float and type(value) is not int and type(value) is not native:
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
    if type(first) is not _array_type or first.size < LARGE:
        return function(*args)
    made = compiled(function, *args)
    return in_parts(function, args, lambda: None, HEAVY, None, BLOCK) if made is None else made


# -- of operations --


def large_forms(op: Op, inlined: Any, body: Function, formulas: dict[str, Function]) -> dict[str, Any]:
    """Return the functions for large arrays: `_forward_large`, and `_vjp_<input>_large` for each formula."""
    names: dict[str, Any] = {}
    if large_body(op, inlined.expression("forward")):
        names["_forward_large"] = of_body(op, body, inlined.expression("forward"))
    for p, formula in formulas.items():
        expression = inlined.expression(p)
        if large_formula(op, p, expression):
            names[f"_vjp_{p}_large"] = fused(op.formulas[p], formula, expression)
    return names


def of_body(op: Op, body: Function, expression: ast.expr | None = None) -> Function:
    """The body of an operation for large arrays; `into=` names one that may take the result."""
    own = op.blocks
    return (lambda *args, into=None: own(body, *args)) if callable(own) else fused(op.forward, body, expression)


def fused(function: Function, bound: Function, expression: ast.expr | None = None) -> Function:
    """Return the form for large arrays of a function, of this expression if it is one: a loop, or parts of arrays.

    Args:
        bound: `function` for NumPy's arrays.

    Returns:
        A function that takes `into=`, an array for the result, and `own=`, whether the first argument may take it if
        nobody else holds that. It may ignore both.
    """
    params, names = _parameters(function), bound.__globals__
    several = expression is not None and _steps(expression, params) >= _SEVERAL
    size = HEAVY if several else 2 * HEAVY if expression is not None and _is_slow(expression) else PYTHON

    @cache
    def write() -> Function | None:
        text = None if expression is None else writing(expression)
        return None if text is None else eval(f"lambda {', '.join(params)}, _out: {text}", names | {"_np": np})  # noqa: S307

    bound = _by_position(function, bound)
    try:
        code: list[ast.stmt] = statements(function) if expression is None else [ast.Return(expression)]
        outside = function.__globals__ | _late_names(function, expression)
        is_short = expression is not None and _steps(expression, params) <= _SEVERAL and not _is_slow(expression)
        loops: Fused | None = Fused(code, outside, params, _FEW_STEPS if is_short else conditions.ENOUGH)
    except Unknown:
        loops = None

    def run(*args: Any, into: Any = None, own: bool = False) -> Any:
        out = args[0] if own and getrefcount(args[0]) == FREE and is_whole(args[0]) else into
        args = unspread(args)
        made = None if loops is None else loops(alike(args), args, out)
        if made is not None:
            return made
        if loops is None and write() is None:
            return bound(*args)
        return in_parts(bound, args, write, size, out, BLOCK if several else 0)

    return run


def _late_names(function: Function, expression: ast.expr | None) -> dict[str, Any]:
    """Return the operations that an expression names as `_late_<operation>`."""
    names = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)} if expression is not None else set()
    late = function.__globals__.get("late")
    return {n: getattr(late, n.removeprefix("_late_")) for n in names if n.startswith("_late_")}


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
    steps = _SEVERAL if expression is None else _steps(expression, names)
    if steps >= _SEVERAL or expression is None:
        return LARGE
    return 2 * (HEAVY if _is_slow(expression) else PART) * steps


def _is_slow(expression: ast.expr) -> bool:
    """Return whether an expression takes the processor more time than memory."""
    return any(isinstance(n, ast.Attribute) and n.attr in _SLOW for n in ast.walk(expression))


def _steps(expression: ast.expr, names: Any) -> int:
    """Return how many steps on arrays an expression takes; several if it hides them in a call."""
    if isinstance(expression, ast.IfExp):  # the usual case comes first
        return _steps(expression.body, names)
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
        return _SEVERAL
    steps = [
        n
        for n in ast.walk(expression)
        if isinstance(n, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Call)
        and any(isinstance(k, ast.Name) and k.id in names for k in ast.walk(n))
    ]
    return len(steps)
