"""Loops over parts of arrays, on all cores, without the lock of the interpreter.

For each loop and kinds of arguments a function of a range is written and compiled, which makes arrays of parts and
calls the loop. Parts follow from the shapes alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache, partial
from struct import Struct
from sys import byteorder
from typing import Any, NamedTuple

import numpy as np

from ...base.pool import even, split_compiled
from .loops.from_text import loop_of
from .loops.ranges import function_of
from .loops.team import in_turn as _in_turn
from .loops.team import once as _once

_array_type = np.ndarray


class Whole(NamedTuple):
    """An array of which every part gets the whole."""

    array: Any


class Each(NamedTuple):
    """An array whose first dimension counts parts: each gets its own element."""

    array: Any


class Returned(NamedTuple):
    """An array of shape (parts, 1) that takes what the loop returns."""

    array: Any


float32, float64 = np.float32, np.float64
_LETTERS = {Whole: "w", Each: "e", Returned: "r"}
_BITS = Struct("=d").pack


def over(part: int, loop: Callable[..., Any], *args: Any, first: Any = None) -> None:
    """Call a loop on parts of its arrays, divided along the first dimension.

    Args:
        part: elements of the first array in a part, at most.
        args: the arguments of the loop: arrays of equal length, which are divided, arrays as `Whole` or `Each`, and
            numbers. All arrays are dense.
        first: the array that counts, if it is not the first argument.
    """
    key = _key((loop, part, None if first is None else first.shape), args)
    plan = _PLANS.get(key)
    if plan is None:
        counted = args[0] if first is None else first
        plan = _planned(key, len(counted), part_of(part, counted), args)
    _run(plan, args)


def part_of(part: int, first: Any) -> int:
    """Return the length of each of equal parts of an array, of so many elements at most."""
    length = len(first)
    return even(length, max(1, part * length // max(first.size, 1)))


def split_over(length: int, step: int, loop: Callable[..., Any], *args: Any) -> None:
    """Call a loop on parts of so many elements of the first dimension; see `over`."""
    key = _key((loop, length, step), args)
    _run(_PLANS.get(key) or _planned(key, length, step, args), args)


class Plan(NamedTuple):
    """How a loop is called on parts of arrays of some shapes."""

    function: int  # its address
    block: array[int]  # what it gets, without the arrays and numbers
    places: list[int]  # where those go
    length: int
    step: int


def _key(first: tuple[Any, ...], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what the plan of a call depends on."""
    key: list[Any] = [*first]
    for a in args:
        if type(a) is _array_type:
            key += a.shape, a.dtype
        elif type(a) in _LETTERS:
            key += type(a), a.array.shape, a.array.dtype
        else:
            key.append(type(a))
    return tuple(key)


def _planned(key: tuple[Any, ...], length: int, step: int, args: tuple[Any, ...]) -> Plan:
    """Return a plan, which is kept."""
    kinds, fields, places = _described(step, args)
    if len(_PLANS) >= _MOST:
        _PLANS.clear()
    plan = _PLANS[key] = Plan(_function(key[0], kinds), array("q", fields), places, length, step)
    return plan


def _run(plan: Plan, args: tuple[Any, ...]) -> None:
    function, block, places, length, step = plan
    if not length:
        return
    block = block[:]
    for a, at in zip(args, places, strict=True):
        block[at] = id(a) if type(a) is _array_type else _field(a)
    split_compiled(function, block, length, step)


_MOST = 1024
_PLANS: dict[tuple[Any, ...], Plan] = {}  # by the loop, what says how it is divided, and what its arguments are


def _field(a: Any) -> int:
    """Return what a block holds of an argument besides sizes: the address of an array, or a number."""
    if type(a) in _LETTERS:
        return id(a.array)
    return _bits(a) if type(a) in (float, float32, float64) else int(a)


def _described(step: int, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int], list[int]]:
    """Return the kinds of arguments, what a block has to hold, and where each argument begins in it."""
    kinds, fields, places = [], [step], []
    for a in args:
        kind = type(a)
        places.append(len(fields))
        if kind is _array_type:
            kinds.append(("d", a.ndim, a.dtype.char))
            fields += id(a), *a.shape[1:]
        elif kind in _LETTERS:
            kinds.append((_LETTERS[kind], a.array.ndim, a.array.dtype.char))
            fields += _field(a), *a.array.shape[kind is not Whole :]
        else:
            is_float = kind is float or kind is float32 or kind is float64
            letter = "f" if is_float else "b" if kind is bool else "i"
            kinds.append((letter, 0, ("f" if kind is float32 else "d") if is_float else ""))
            fields.append(_field(a))
    return tuple(kinds), fields, places


def _bits(number: float) -> int:
    return int.from_bytes(_BITS(number), byteorder, signed=True)


class OfText:
    """`split_over` for the loop that a text defines: see `loops.from_text`."""

    def __init__(self, text: str, is_exact: bool = False) -> None:
        self.loop = loop_of(text, is_exact)

    def __call__(self, length: int, step: int, *args: Any) -> None:
        split_over(length, step, self.loop, *args)

    def repeated(self, length: int, step: int, *args: Any) -> Callable[[list[Any], list[float]], None]:
        """Return a function of arrays that lie in memory as those among the arguments do, and of numbers, the last."""
        kinds, fields, places = _described(step, args)
        function, block = _function(self.loop, kinds), array("q", fields)

        def run(arrays: list[Any], numbers: list[float]) -> None:
            own = block[:]
            for at, value in zip(places, [*map(id, arrays), *map(_bits, numbers)], strict=True):
                own[at] = value
            split_compiled(function, own, length, step)

        return run

    def bound(self, length: int, arrays: list[tuple[Any, ...]], native: Any, numbers: list[Any]) -> Any:
        """Return a function that calls the loop once on arrays and numbers, and the block of its arguments.

        Args:
            length: elements of the first dimension of the arrays that have all.
            arrays: of each, what says how it lies (the kind, the dimensions and the character of the dtype of
                `loops.ranges.function_of`), the array, and the sizes that a block holds.
                An array that is None is another one at each call: its address is to be written to the block before.
            numbers: as values.
        """
        described = [(*kind, ndim, char) for *kind, ndim, char, _, _ in arrays]
        fields = [length]
        for *_, value, sizes in arrays:
            fields += 0 if value is None else id(value), *sizes
        described += [("f", 0, np.dtype(native).char)] * len(numbers)
        fields += map(_bits, numbers)
        block = array("q", fields)
        run = _Bound(_once, _function(self.loop, tuple(described)), block.buffer_info()[0], length)
        run.kept = block, [value for *_, value, _ in arrays]
        return run, block


def in_turn(*calls: _Bound) -> _Bound:
    """Return a function that makes calls of bound loops one after the other."""
    table = array("q", [number for each in calls for number in each.args])
    run = _Bound(_in_turn, table.buffer_info()[0], len(calls))
    run.kept = table, calls
    return run


class _Bound(partial):  # type: ignore[type-arg]
    """A call of machine code, which keeps what its addresses are of."""

    kept: Any


@cache
def _function(loop: Callable[..., Any], kinds: tuple[tuple[str, int, str], ...]) -> int:
    return function_of(loop, kinds)
