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

from ...base.pool import even
from ...kernels import conditions
from ...kernels.dispatch import ENABLED, HEAVY, LARGE, PART, PYTHON, SEEN, loaded, note_large
from ...kernels.table import Kernel
from ..op import Op
from .broadcast_forms import read, spread
from .elementwise_parts import BLOCK, FREE, in_parts, is_apart, is_whole, unspread, writing
from .fusion_text import Reader, Steps, Unknown, Value, statements
from .large_sizes import SEVERAL, is_slow, large_body, large_formula, steps_of
from .node_text import is_symmetric

Function = Callable[..., Any]
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
LOOPS, WHOLE = Kernel("numba", "ranges.OfText"), Kernel("numba", "ranges.Whole")
_LEAST = 1 << 15  # elements of a part
_LINE = 64  # of which parts have a multiple: as many as lie in lines of the cache
_PLANS = 64
_KEPT = frozenset({bool, int, float, str, type(None)})  # types of arguments by which numbers are kept
_FEW_STEPS = 1 << 20  # elements, from which on it is worth while to import Numba for one step or two


class Loop(NamedTuple):
    """A compiled loop, and the arguments that it is valid for."""

    answers: list[tuple[Any, bool]]  # conditions as code, and their results: evaluation stops at the first mismatch
    numbers: list[Any]  # the numbers that the loop takes after the arrays, as code
    names: dict[str, Any]  # names that both use, besides the arguments
    run: Any  # `ranges.OfText`; None: the function is called as it is
    dtype: Any  # the dtype of the result, if it is not that of the arrays
    part: int  # elements that one core takes at a time, at most


class Plan(NamedTuple):
    """How a loop is called with arguments that lie in memory as earlier ones did."""

    loop: Loop
    arrays: list[int]  # which of the arguments the loop takes
    common: int  # the argument of the dtype of numbers
    run: Callable[[list[Any], list[float]], None]
    shape: tuple[int, ...]
    dtype: Any
    place: str  # where the result goes: see `Fused.loops`
    numbers: dict[tuple[Any, ...], list[float]]  # that the loop takes, by the arguments that are no arrays


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
        # By kinds, dtype, and where the result goes: "new", "first" for the first argument, or "other".
        self.loops: dict[tuple[str, str, str], list[Loop]] = {}
        self.plans: dict[Any, Plan] = {}  # by what arguments are: see `facts_of`

    def again(self, facts: Any, args: tuple[Any, ...], into: Any) -> Any:
        """As a call for arguments with these facts that had a result before; None if there was none."""
        plan = self.plans.get(facts)
        if plan is None or not ENABLED["numba"]:
            return None
        numbers: Any = ()
        if plan.loop.answers or plan.loop.numbers:
            given = tuple([a for a in args if type(a) is not _array_type])
            known = _KEPT.issuperset(map(type, given)) and 0 not in given  # two zeros, of either sign, are equal
            numbers = plan.numbers.get(given) if known else None
            if numbers is None:
                numbers = self.numbers(plan, args)
                if numbers is None:
                    return None
                if known:
                    if len(plan.numbers) >= _PLANS:
                        plan.numbers.clear()
                    plan.numbers[given] = numbers
        out = np.empty(plan.shape, plan.dtype) if plan.place == "new" else into
        plan.run([*[args[i] for i in plan.arrays], out], numbers)
        return out

    def numbers(self, plan: Plan, args: tuple[Any, ...]) -> list[float] | None:
        """Return the numbers that a loop takes; None if it is not valid for the arguments."""
        loop, common = plan.loop, args[plan.common]
        names = loop.names | {f"p_{p}": a for p, a in zip(self.params, args, strict=True)} | {"_common": common}
        if not _holds(loop, names):
            return None
        try:
            return [_number(eval(n, names), common.dtype.type) for n in loop.numbers]  # noqa: S307 - own text
        except Unfit:
            return None

    def __call__(self, kinds: str, args: tuple[Any, ...], into: Any, length: int = 0, facts: Any = None) -> Any:
        """The result, or None where there is no loop for these arguments.

        Args:
            into: an array that takes the result, which may be one of the arguments; or None.
            length: of rows, where arguments are broadcast.
            facts: of the arguments, for `again`; None where these were changed.
        """
        if not ENABLED["numba"] or "f" not in kinds:
            return None
        first = args[kinds.index("f")]
        least = conditions.ENOUGH if "numba" in modules else self.least
        if first.size < least or not conditions.alike(first):
            return None
        values = {f"p_{p}": a for p, a in zip(self.params, args, strict=True)} | {"_common": first}
        native = first.dtype.type
        place = "new" if into is None else "first" if into is args[0] and kinds[0] == "f" else "other"
        loop = self.loop((kinds, first.dtype.char, place), values)
        run = loop.run
        if run is None:
            return None
        try:
            numbers = [_number(eval(n, loop.names | values), native) for n in loop.numbers]  # noqa: S307 - own text
        except Unfit:
            return None
        if not SEEN and first.size >= 2 * LARGE:
            note_large(first.size)
        out = np.empty(first.shape, loop.dtype or native) if into is None else into
        part, count, made = min(loop.part, max(_LEAST, out.size // 4)), out.size, out.reshape(-1)
        if length:
            part, count, made = max(1, part // length), count // length, out.reshape(-1, length)
        part = even(count, part, 1 if length else _LINE)
        places = [i for i, k in enumerate(kinds) if k != "s" and (i or place != "first")]
        given = [_laid(args[i], kinds[i], length) for i in places]
        run(count, part, *given, made, *numbers)
        if facts is not None:
            if len(self.plans) >= _PLANS:
                self.plans.clear()
            again = loop.run.repeated(count, part, *given, made, *numbers)
            self.plans[facts] = Plan(loop, places, kinds.index("f"), again, out.shape, out.dtype, place, {})
        return out

    def loop(self, key: tuple[str, str, str], values: dict[str, Any]) -> Loop:
        """Return the loop valid for these values, compiled if the conditions on them have new outcomes."""
        known = self.loops.setdefault(key, [])
        for loop in known:
            if _holds(loop, loop.names | values):
                return loop
        known.append(self.made(*key, values))
        return known[-1]

    def made(self, kinds: str, char: str, place: str, values: dict[str, Any]) -> Loop:
        steps = Steps(values, char == "f")
        given = {p: Value("f" if k in "rc" else k, f"p_{p}") for p, k in zip(self.params, kinds, strict=True)}
        try:
            result = Reader(steps, dict(given), self.outside).run(self.code)
            if result.kind == "s":
                raise Unknown("a number")
        except Unknown:
            return Loop(steps.answers, [], steps.names, None, None, 0)
        if (compiled := loaded(LOOPS)) is None:  # asked last: to import Numba takes long
            return Loop(steps.answers, [], steps.names, None, None, 0)
        arrays = [p for p, v in given.items() if v.kind != "s"]
        lines = [f"p_{a} = a_{a}[_i]" for a in arrays]
        if place == "first":  # one array that is read and written: of two that may be the same, no vectors are read
            lines[0] = f"p_{arrays.pop(0)} = _all[_i]"
        columns, at = None, "_i"
        if "r" in kinds or "c" in kinds:
            (columns, lines), at = read(kinds.replace("s", ""), arrays), "_r, _i"
        text = steps.function([*(f"a_{a}" for a in arrays), "_all"], lines, [f"_all[{at}] = {result.text}"], columns)
        numbers = [compile(n.strip(), "<number>", "eval") for n in steps.numbers]
        return Loop(
            steps.answers,
            numbers,
            steps.names,
            compiled(text),
            np.bool_ if result.kind == "?" else None,
            PART // min(max(1, len(steps.lines) // 2), 4),
        )


def facts_of(args: tuple[Any, ...], into: Any) -> Any:
    """Return what decides how a loop is called, besides numbers: how arrays lie in memory, and the types of others."""
    found = [(a.shape, a.strides, a.dtype, a.flags.aligned) if type(a) is _array_type else type(a) for a in args]
    return None if into is None else into is args[0], *found


def _holds(loop: Loop, names: dict[str, Any]) -> bool:
    return all(bool(eval(condition, names)) is answer for condition, answer in loop.answers)  # noqa: S307 - own text


def _laid(a: Any, kind: str, length: int) -> Any:
    """Return an array as a loop takes it: see `spread`."""
    if kind in "rc" or not length:
        whole: Any = loaded(WHOLE) if kind == "r" else None
        return a.reshape(-1) if whole is None else whole(a.reshape(-1))
    return a.reshape(-1, length)


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
    loops, facts = _loops_of(function), facts_of(args, None)
    made = loops.again(facts, args, None)
    if made is not None:
        return made
    given = unspread(args)
    return loops(alike(given), given, None, 0, facts if given is args else None)


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
            names[f"_vjp_{p}_large"] = fused(op.formulas[p], formula, expression, is_formula=True)
    if is_symmetric(op):
        names["_vjp_twice_large"] = _twice(op, inlined, formulas)
    return names


def _of_one_number(formula: Function, args: tuple[Any, ...]) -> Any:
    """Return what a formula gives for arrays of one number, as gradients of sums are; None for others."""
    g, one = args[0], (0,) * args[0].ndim
    arrays = [a for a in args if type(a) is _array_type and a.ndim]
    if any(a.shape != g.shape or any(a.strides) for a in arrays):
        return None
    made = formula(*[a[one] if type(a) is _array_type and a.ndim else a for a in args])
    return np.full(g.shape, made, getattr(made, "dtype", g.dtype))


def _twice(op: Op, inlined: Any, formulas: dict[str, Function]) -> Function:
    """Return the form for large arrays of twice the gradient of an operand."""
    p = op.inputs[0]
    formula, expression = formulas[p], inlined.expression(p)
    if expression is None:
        return lambda g, other, own=False: formula(g, other) * 2
    expression = ast.BinOp(expression, ast.Mult(), ast.Constant(2))
    text = f"lambda {', '.join(_parameters(op.formulas[p]))}: {ast.unparse(expression)}"
    return fused(op.formulas[p], eval(text, formula.__globals__), expression)  # noqa: S307


def of_body(op: Op, body: Function, expression: ast.expr | None = None) -> Function:
    """The body of an operation for large arrays; `into=` names one that may take the result."""
    own = op.blocks
    return (lambda *args, into=None: own(body, *args)) if callable(own) else fused(op.forward, body, expression)


def fused(
    function: Function, bound: Function, expression: ast.expr | None = None, is_formula: bool = False
) -> Function:
    """Return the form for large arrays of a function, of this expression if it is one: a loop, or parts of arrays.

    Args:
        bound: `function` for NumPy's arrays.
        is_formula: whether the first argument is a gradient.

    Returns:
        A function that takes `into=`, an array for the result, and `own=`, whether the first argument may take it if
        nobody else holds that. It may ignore both.
    """
    params, late_names = _parameters(function), _late_names(function, expression)
    names = bound.__globals__ | late_names | {"_np": np}
    several = expression is not None and steps_of(expression, params) >= SEVERAL
    size = HEAVY if several else 2 * HEAVY if expression is not None and is_slow(expression) else PYTHON

    @cache
    def write() -> Function | None:
        text = None if expression is None else writing(expression)
        return None if text is None else eval(f"lambda {', '.join(params)}, _out: {text}", names)  # noqa: S307

    bound = _by_position(function, bound)
    try:
        code: list[ast.stmt] = statements(function) if expression is None else [ast.Return(expression)]
        outside = function.__globals__ | late_names
        is_short = expression is not None and steps_of(expression, params) <= SEVERAL and not is_slow(expression)
        loops: Fused | None = Fused(code, outside, params, _FEW_STEPS if is_short else conditions.ENOUGH)
    except Unknown:
        loops = None

    def run(*args: Any, into: Any = None, own: bool = False) -> Any:
        if is_formula and type(args[0]) is _array_type and args[0].ndim and not any(args[0].strides):
            made = _of_one_number(bound, args)
            if made is not None:
                return made
        out = args[0] if own and getrefcount(args[0]) == FREE and is_whole(args[0]) else into
        whole = args
        if into is not None and not is_apart(into, args):
            out = None
        if loops is not None:
            facts = facts_of(args, out)
            made = loops.again(facts, args, out)
            if made is not None:
                return made
            given, args = args, unspread(args)
            if args is not given and any(a is not b for a, b in zip(args, given, strict=True)):
                facts = None  # numbers stand for arrays
            kinds, given, length = alike(args), args, 0
            if not kinds:
                kinds, given, length = spread(args)
            made = loops(kinds, given, None if length else out, length, facts)
            if made is not None:
                return made
        if loops is None and write() is None:
            return bound(*args)
        return in_parts(bound, args, write, size, out, BLOCK if several else 0, whole)

    return run


def _late_names(function: Function, expression: ast.expr | None) -> dict[str, Any]:
    """Return the operations that an expression names as `_late_<operation>`."""
    names = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)} if expression is not None else set()
    late = function.__globals__.get("late")
    return {n: getattr(late, n.removeprefix("_late_")) for n in names if n.startswith("_late_")}
