"""Bodies and formulas of several steps on large arrays: one block of elements after another.

NumPy runs one instruction over the whole array before the next. Of a formula of six instructions
on megabytes, each would go to main memory and back; block by block, what is between them stays in
the cache. That is right for operations of the kind "elementwise", where each element is for itself.
Where the text is understood (`fuse`), no block needs an array of its own; else (`in_blocks`) the
function is called as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..op import Op
from .buffers import BLOCK

LARGE = 1 << 15  # elements, below which arrays stay in the cache anyway

Function = Callable[..., Any]
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library


def in_blocks(function: Function) -> Function:
    """Wrap `function` to run block by block on arrays of equal shape and dtype; other arguments are passed whole."""

    def run(*args: Any) -> Any:
        given = [a for a in args if type(a) is _array_type and a.ndim]
        shape = given[0].shape if given else ()
        if not given or not all(a.shape == shape and a.flags.c_contiguous for a in given):
            return function(*args)
        length = given[0].size
        size = BLOCK // max(a.itemsize for a in given)
        if length <= size:
            return function(*args)
        values = [a.reshape(-1) if type(a) is _array_type and a.ndim else a for a in args]
        out: Any = None
        for start in range(0, length, size):
            end = start + size
            part = function(*[a[start:end] if type(a) is _array_type and a.ndim else a for a in values])
            if out is None:
                if type(part) is not _array_type or part.shape != (size,):
                    return function(*args)
                out = np.empty(length, part.dtype)
            out[start:end] = part
        return out.reshape(shape)

    return run


def fused(code: list[ast.stmt], function: Function, bound: Function) -> Function:
    """The same, with the loop that `fuse` makes of the statements for arguments of each kind that occur.

    Args:
        code: the statements of `function`.
        bound: `function` for NumPy's arrays.
    """
    from .fusion_numba import Fused
    from .fusion_parse import loop
    from .fusion_steps import Unknown

    params = parameters(function)
    loops: dict[str, Function | None] = {}
    numbers = Fused(code, function.__globals__, params)
    bound = _by_position(function, bound)
    only = code[-1].value if len(code) == 1 and isinstance(code[-1], ast.Return) else None
    otherwise = bound if _call_of_helper(only) else in_blocks(bound)  # a single call of a helper does its own blocking

    def run(*args: Any, into: Any = None) -> Any:
        kinds = alike(args)
        if "f" in kinds and kinds not in loops:
            try:
                loops[kinds] = loop(code, function.__globals__, params, kinds)
            except Unknown:
                loops[kinds] = None
        found = loops.get(kinds)
        if found is None:
            return otherwise(*args)
        made = numbers(kinds, args, into)
        if made is not None:
            return made
        if into is not None:
            return found(*args, into)
        try:
            return found(*args)
        except Exception:
            return otherwise(*args)  # it handles the arguments or raises the right error

    return run


def _by_position(function: Function, bound: Function) -> Function:
    """`bound`, called with all arguments by position."""
    code = function.__code__
    if not code.co_kwonlyargcount:
        return bound
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    first = code.co_argcount
    return lambda *args: bound(*args[:first], **dict(zip(names, args[first:], strict=True)))


def of_body(op: Op, body: Function) -> Function:
    """The body of an operation for large arrays; `into=` names one that may take the result."""
    own = op.blocks
    if callable(own):
        return lambda *args, into=None: own(body, *args)
    from .fusion_parse import statements
    from .fusion_steps import Unknown

    try:
        return fused(statements(op.forward), op.forward, body)
    except Unknown:
        made = in_blocks(_by_position(op.forward, body))
        return lambda *args, into=None: made(*args)


_compiled: dict[Any, Any] = {}


def compiled(function: Function, *args: Any) -> Any:
    """Return `function(*args)` by a compiled loop; None if there is no loop for these arguments."""
    from .fusion_numba import Fused
    from .fusion_parse import statements

    code = function.__code__
    if code not in _compiled:
        _compiled[code] = Fused(statements(function), function.__globals__, parameters(function))
    kinds = alike(args)
    return _compiled[code](kinds, args, None) if "f" in kinds else None


def parameters(function: Function) -> tuple[str, ...]:
    """The names of the parameters of a Python function."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


_looped: dict[Any, Function] = {}


def looped(function: Function, *args: Any) -> Any:
    """Return `function(*args)` of an elementwise function, by a loop over blocks if the arrays are large.

    The bodies of operations of other kinds use it for what they do to elements.
    """
    first = args[0]
    if type(first) is not _array_type or first.size < LARGE:
        return function(*args)
    code = function.__code__
    if code not in _looped:
        from .fusion_parse import statements
        from .fusion_steps import Unknown

        try:
            _looped[code] = fused(statements(function), function, function)
        except Unknown:
            _looped[code] = in_blocks(function)
    return _looped[code](*args)


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
        if (shape is not None and a.shape != shape) or not a.flags.c_contiguous:
            return ""
        shape = a.shape
        kinds += "?" if char == "?" else "f"
    return kinds


def body_in_blocks(op: Op, expression: ast.expr | None) -> bool:
    """Whether the body of an operation, of this one expression if it is one, takes large arrays in blocks."""
    if op.kind != "elementwise" or op.returns or op.extra or op.blocks is False:
        return False
    if callable(op.blocks):
        return True
    return "generator" not in op.params and (expression is None or _several(expression, op.arrays))


def formula_in_blocks(op: Op, name: str, expression: ast.expr | None) -> bool:
    """Whether the formula for an input does."""
    if op.kind != "elementwise" or op.returns or op.joint is not None or any(op.saves(n) == "meta" for n in op.saved):
        return False
    return expression is None or _several(expression, op.formulas[name].__code__.co_varnames)


def _several(expression: ast.expr, names: Any) -> bool:
    """Whether an expression takes more than one step on arrays, or hides them in a call."""
    if isinstance(expression, ast.IfExp):  # the usual case comes first
        return _several(expression.body, names)
    if _call_of_helper(expression):
        return True
    steps = [
        n
        for n in ast.walk(expression)
        if isinstance(n, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Call)
        and any(isinstance(k, ast.Name) and k.id in names for k in ast.walk(n))
    ]
    return len(steps) > 1


def _call_of_helper(expression: ast.expr | None) -> bool:
    return isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name)


def large_forms(op: Op, inlined: Any, body: Function, formulas: dict[str, Function]) -> dict[str, Any]:
    """Return the functions for large arrays: `_forward_large`, and `_vjp_<input>_large` for each formula."""
    names: dict[str, Any] = {}
    if body_in_blocks(op, inlined.expression("forward")):
        names["_forward_large"] = of_body(op, body)
    for p, formula in formulas.items():
        expression = inlined.expression(p)
        if formula_in_blocks(op, p, expression):
            names[f"_vjp_{p}_large"] = _of_formula(op.formulas[p], formula, expression)
    return names


def _of_formula(function: Function, bound: Function, expression: ast.expr | None) -> Function:
    from .fusion_parse import statements
    from .fusion_steps import Unknown

    try:
        return fused(statements(function) if expression is None else [ast.Return(expression)], function, bound)
    except Unknown:
        return in_blocks(bound)
