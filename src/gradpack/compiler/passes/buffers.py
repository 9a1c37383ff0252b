"""Which results of a program have an array that is kept between its calls, and used again inside of them."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from ..program import Instruction, Program, Variable, is_elementwise, variables


class Buffer(NamedTuple):
    """An array that a program writes to at each call.

    Attributes:
        number: of the memory.
        shape, dtype, order: of the array.
    """

    number: int
    shape: tuple[int, ...]
    dtype: Any
    order: str


class Plan(NamedTuple):
    """The buffers of a program.

    Attributes:
        of: the buffer of each variable that has one.
        same: the operand whose new array an instruction writes to, by its result.
        nbytes: of all of them.
    """

    of: dict[Variable, Buffer]
    same: dict[Variable, Variable]
    nbytes: int


def planned(program: Program, least: int = 0) -> Plan:
    """Return buffers for the results that do not outlive a call; memory is used again after the last use of its array.

    An elementwise ufunc writes to an operand that is not needed any longer.
    """
    stay = {v.memory for v in (*program.inputs, *program.state, *program.outputs)}
    stay |= {v.memory for e in program.instructions if e.kind == "update" for v in variables(e.args)}
    used = [{v.memory: None for v in variables((e.args, e.kwargs, e.results))} for e in program.instructions]
    last = {memory: place for place, memories in enumerate(used) for memory in memories}
    free: dict[tuple[Any, int], list[int]] = {}
    live: dict[int, tuple[Buffer, Any]] = {}  # by memory of variables
    of: dict[Variable, Buffer] = {}
    sizes: list[int] = []
    same: dict[Variable, Variable] = {}
    fresh: set[Variable] = set()  # new arrays that functions returned (for no dimensions, they return numbers)
    for place, each in enumerate(program.instructions):
        made = each.results
        if each.kind == "loop":
            for v in made:
                if v.memory not in stay and v not in each.writes:
                    key = v.dtype, math.prod(v.shape)
                    of[v] = Buffer(_room(free.setdefault(key, []), sizes, key), v.shape, v.dtype, "C")
                    live[v.memory] = of[v], key
        wanted = isinstance(made, Variable) and made.memory not in stay and each.kind in _CALLS and not each.writes
        if wanted and takes_out(each):
            order = _order(made)
            key = made.dtype, math.prod(made.shape)
            if order and (order == "C" or each.function is not np.dot):
                lent = _operand(each, made, fresh, last, place)
                if lent is not None:
                    same[made] = lent
                    fresh.add(made)
                    continue
                taken = _operand(each, made, of, last, place)
                if taken is not None:
                    live.pop(taken.memory)
                    buffer = of[taken]
                else:
                    buffer = Buffer(_room(free.setdefault(key, []), sizes, key), made.shape, made.dtype, order)
                of[made] = buffer
                live[made.memory] = buffer, key
        elif wanted and made.shape and made.memory not in {v.memory for v in variables((each.args, each.kwargs))}:
            fresh.add(made)
        for memory in used[place]:
            if memory in live and last[memory] == place:
                buffer, key = live.pop(memory)
                free.setdefault(key, []).append(buffer.number)
    return Plan(of, same, sum(sizes))


_CALLS = ("call", "large")


def _room(pool: list[int], sizes: list[int], key: tuple[Any, int]) -> int:
    """Return the number of an array from the pool, or of a new one."""
    if pool:
        return pool.pop()
    sizes.append(key[0].itemsize * key[1])
    return len(sizes) - 1


def takes_out(each: Instruction) -> bool:
    """Return whether an instruction can write its result to an array that it is given."""
    if each.kind == "large":
        return True
    if each.kind != "call" or each.writes or "out" in each.kwargs:
        return False
    function = each.function
    if function is np.dot:
        return len(each.results.shape) == 2 and not each.kwargs
    if isinstance(function, np.ufunc):
        return function.nout == 1 and not each.kwargs
    return getattr(function, "__name__", "") == "reduce" and isinstance(getattr(function, "__self__", None), np.ufunc)


def _order(v: Variable) -> str:
    """Return the layout of a dense array, "C" or "F"; "" for others."""
    if v.dtype.hasobject or v.dtype.kind == "V" or 0 in v.shape:
        return ""
    for order, shape in (("C", v.shape[::-1]), ("F", v.shape)):
        step, dense = v.dtype.itemsize, True
        for n, stride in zip(shape, v.strides[::-1] if order == "C" else v.strides, strict=True):
            dense = dense and (n == 1 or stride == step)
            step *= n
        if dense:
            return order
    return ""


def _operand(
    each: Instruction, made: Variable, of: Container[Variable], last: dict[int, int], place: int
) -> Variable | None:
    """Return the operand among these whose memory may take the result.

    The loop that an operation has for large arrays is one of vectors only where it writes to its first argument or to
    other memory.
    """
    if not is_elementwise(each) and each.kind != "large":
        return None
    for v in each.args if each.origin is None else each.args[:1]:
        if isinstance(v, Variable) and v in of and v.value is None and last[v.memory] == place:
            others = (w for w in each.args if isinstance(w, Variable) and w.memory == v.memory)
            if all(w is v for w in others) and (v.shape, v.dtype, v.strides) == (made.shape, made.dtype, made.strides):
                return v
    return None
