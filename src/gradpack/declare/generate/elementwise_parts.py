"""Elementwise functions on parts of large arrays, over all cores, and what may take their results."""

from __future__ import annotations

import ast
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from ...base.pool import split
from ...kernels.dispatch import HEAVY, SEEN, note_large

Function = Callable[..., Any]
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library


def _of_engine() -> int:
    """Return how many references a gradient has in a form for large arrays if only the engine holds it."""

    def run(*args: Any, own: bool = False) -> int:
        return getrefcount(args[0])

    def backward(_g: Any) -> int:
        return run(_g, own=True)

    g = object()
    return backward(g)


FREE = _of_engine()


def is_whole(array: Any) -> bool:
    """Return whether an array of NumPy's has its memory to itself, in C order, and may be written to."""
    return (
        type(array) is _array_type and array.base is None and array.flags.c_contiguous and bool(array.flags.writeable)
    )


def is_apart(array: Any, others: tuple[Any, ...]) -> bool:
    """Return whether an array can be written to while others are read: they lie elsewhere, or just where it does."""
    return not any(
        type(a) is _array_type
        and np.may_share_memory(a, array)
        and (a.strides != array.strides or a.__array_interface__["data"] != array.__array_interface__["data"])
        for a in others
    )


def unspread(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with numbers for arrays of one number, as gradients of sums are, beside a whole one."""
    if 0 not in [a.strides[-1] for a in args if type(a) is _array_type and a.ndim]:
        return args
    whole = next((a for a in args if type(a) is _array_type and a.ndim and a.strides[-1]), None)
    if whole is None or whole.dtype.char not in "fd":
        return args
    return tuple(
        [
            a[(0,) * a.ndim]
            if type(a) is _array_type and a.shape == whole.shape and a.dtype is whole.dtype and not any(a.strides)
            else a
            for a in args
        ]
    )


BLOCK = 1 << 16  # elements: what several steps of a function make of them stays in the cache


def in_parts(
    function: Function,
    args: tuple[Any, ...],
    write: Function,
    size: int,
    out: Any = None,
    block: int = 0,
    given: tuple[Any, ...] | None = None,
) -> Any:
    """Return `function(*args)` of an elementwise function, computed for parts of large arrays over all cores.

    Args:
        write: returns the same as a function whose last argument is an array for the result; None if there is none.
        size: elements of a part.
        out: an argument that may take the result, or None.
        block: elements that the function is called with at a time; 0 for those of a part.
        given: the arguments with arrays in the place of numbers that stand for them, of which shapes may follow.
    """
    given = args if given is None else given
    arrays = [a for a in args if type(a) is _array_type and a.ndim]
    first = max(arrays, key=lambda a: a.size)
    shape, length, like = first.shape, first.size, first.ndim
    if not SEEN and length >= 2 * HEAVY:
        note_large(length)
    if length < (8 * block or 2 * size) or not all(a.flags.c_contiguous for a in arrays):
        return function(*given)
    if all(a.shape == shape for a in arrays):
        args, like = tuple([a.reshape(-1) if type(a) is _array_type and a.ndim else a for a in args]), 1
    elif shape[0] > 1 and np.broadcast_shapes(*[a.shape for a in arrays]) == shape:
        length = shape[0]
    else:
        return function(*given)
    divided = [type(a) is _array_type and a.ndim == like and len(a) == length for a in args]

    def part(low: int, high: int) -> Any:
        return [a[low:high] if is_divided else a for a, is_divided in zip(args, divided, strict=True)]

    native = function(*part(0, 0)).dtype
    if out is None or out.shape != shape or out.dtype != native:
        out = np.empty(shape, native)
    target = out.reshape(-1) if like == 1 else out
    writes = write()

    def work(low: int, high: int) -> None:
        step = max(1, block * length // first.size) if block else high - low
        for start in range(low, high, step):
            stop = min(start + step, high)
            if writes is None:
                target[start:stop] = function(*part(start, stop))
            else:
                writes(*part(start, stop), target[start:stop])

    split(work, length, max(1, size * length // first.size))
    return out


_UFUNCS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "true_divide", ast.USub: "negative",
}  # fmt: skip


def writing(expression: ast.expr) -> str | None:
    """Return an expression as text that writes its result into `_out`; None if its last step is no ufunc of NumPy's."""
    match expression:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            first, second = writing(body), writing(orelse)
            return first and second and f"{first} if {ast.unparse(test)} else {second}"
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _UFUNCS:
            return f"_np.{_UFUNCS[type(op)]}({ast.unparse(left)}, {ast.unparse(right)}, out=_out)"
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UFUNCS:
            return f"_np.{_UFUNCS[type(op)]}({ast.unparse(operand)}, out=_out)"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name), args=args, keywords=[]) if isinstance(
            getattr(np, name, None), np.ufunc
        ):
            return f"_np.{name}({', '.join(map(ast.unparse, args))}, out=_out)"
    return None
