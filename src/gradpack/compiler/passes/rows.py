"""Rows that the same calls compute one after another, as calls on all rows at once.

The rows of a Jacobian come from passes that differ in the constant that they begin with, and those of a loop over
samples in the row of an array. In the end they are put into one array: so the calls that lead there are made on arrays
with one dimension more, where they are small and nothing else needs a row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..program import Instruction, Program, Variable, is_elementwise, is_of_rows, new_memory, variables

_MOST = 1 << 14  # elements of an array of all rows: large ones take memory, and gain nothing
_DEEPEST = 64  # calls on the way to a row


def with_rows(program: Program) -> Program:
    """Return a program in which rows of small arrays are computed at once."""
    places = [i for i, each in enumerate(program.instructions) if _rows_of(each)]
    if not places:
        return program
    uses, found = _Uses(program), dict[int, list[Instruction]]()
    gone: set[int] = set()
    for place in places:
        each = program.instructions[place]
        chain = _Chain(uses, len(_rows_of(each)))
        if chain.replaces(each, place) and gone.isdisjoint(chain.gone):
            found[place] = chain.made
            gone |= chain.gone.keys()
    if not found:
        return program
    kept: list[Instruction] = []
    for i, each in enumerate(program.instructions):
        kept += found.get(i) or ([] if i in gone else [each])
    return program._replace(instructions=kept)


def _rows_of(each: Instruction) -> list[Variable]:
    """Return the arrays that an instruction puts one after another; [] if it does not, or they are not alike."""
    if each.name != "np.concatenate" or each.kind != "call" or each.writes or not isinstance(each.results, Variable):
        return []
    rows, axis = each.args[0], each.kwargs.get("axis", 0)
    if each.kwargs.keys() - {"axis"} or len(each.args) > 1 or axis not in (None, 0) or type(rows) not in (list, tuple):
        return []
    like = rows[0] if len(rows) > 1 else None
    if not isinstance(like, Variable) or like.dtype != each.results.dtype or math.prod(each.results.shape) > _MOST:
        return []
    fit = all(isinstance(v, Variable) and (v.shape, v.dtype) == (like.shape, like.dtype) for v in rows)
    return list(rows) if fit and len(set(rows)) > 1 else []


class _Uses:
    """The makers of variables of a program, their readers, and where memory is written to."""

    def __init__(self, program: Program) -> None:
        self.makers: dict[Variable, tuple[int, Instruction]] = {}
        self.readers: dict[Variable, set[int]] = {v: {-1} for v in program.outputs}
        self.written: dict[int, int] = {}  # the last place
        for i, each in enumerate(program.instructions):
            for v in variables((each.args, each.kwargs)):
                self.readers.setdefault(v, set()).add(i)
            self.written |= {v.memory: i for v in each.writes}
            if isinstance(each.results, Variable):
                self.makers[each.results] = i, each


class _Chain:
    """The calls that compute some rows, as calls on all of them.

    Attributes:
        made: the new instructions.
        gone: the results of those that they replace, by their places.
    """

    def __init__(self, uses: _Uses, rows: int) -> None:
        self.uses, self.rows = uses, rows
        self.made: list[Instruction] = []
        self.gone: dict[int, Variable] = {}
        self.read: list[Variable] = []
        self._known: dict[tuple[Variable, ...], Variable] = {}
        self._joins = 0  # how often rows are put together that no call on all of them makes

    def replaces(self, each: Instruction, place: int) -> bool:
        """Return whether calls on all rows were found, and stand for an instruction and those that lead to it."""
        rows, result = tuple(_rows_of(each)), each.results
        made = self._batched(rows, result.memory)
        if made is None:
            return False
        if made.shape != result.shape:
            self._add(np.reshape, "np.reshape", (made, result.shape), result, each)
        else:
            self.made[-1] = self.made[-1]._replace(results=result)
        first, ends = min(self.gone), self.gone.keys() | {place}
        replaced = set(self.gone.values())
        if any(v in replaced or self.uses.written.get(v.memory, -1) >= first for v in self.read):
            return False
        used = {i for v in replaced for i in self.uses.readers.get(v, ())}
        return used <= ends and len(self.gone) >= len(self.made) + self._joins + self.rows // 2

    def _batched(self, rows: tuple[Variable, ...], memory: int | None = None, depth: int = 0) -> Variable | None:
        """Return a variable of all rows, which instructions are added for; None if each is computed differently."""
        if rows in self._known:
            return self._known[rows]
        makers = [self.uses.makers[v] for v in rows if v in self.uses.makers]
        if len({place for place, _ in makers}) < len(rows) or depth > _DEEPEST:
            return None
        calls = [each for _, each in makers]
        first = calls[0]
        if not all(_is_alike(first, each) for each in calls):
            return None
        args = self._args(first, [each.args for each in calls], depth + 1)
        if args is None:
            return None
        made = self._variable(rows[0], memory)
        kwargs = _keywords_of_all(first)
        self._add(first.function, first.name, tuple(args), made, first, kwargs)
        self.gone |= {place: v for (place, _), v in zip(makers, rows, strict=True)}
        self._known[rows] = made
        return made

    def _variable(self, like: Variable, memory: int | None = None) -> Variable:
        array = np.empty((self.rows, *like.shape), like.dtype)
        return Variable(like.number, next(new_memory) if memory is None else memory, array, like.hint)

    def _add(
        self, function: Any, name: str, args: Any, made: Variable, like: Instruction, kwargs: Any = None
    ) -> None:  # fmt: skip
        expected = made.shape, made.dtype
        new = Instruction(function, name, args, kwargs or {}, made, (), expected, "call", like.line, like.origin)
        self.made.append(new)

    def _args(self, first: Instruction, all_args: list[tuple[Any, ...]], depth: int) -> list[Any] | None:
        """Return the arguments of a call on all rows."""
        shape, found = first.results.shape, list[Any]()
        for values in zip(*all_args, strict=True):
            value = values[0]
            if not isinstance(value, Variable):
                found.append(value)
                continue
            if all(v is value for v in values):
                self.read.append(value)
                found.append(value)
                continue
            rows = self._operand(values, depth)
            if rows is None:
                return None
            missing = len(shape) - len(value.shape)
            if is_elementwise(first) and missing:
                wide = (self.rows, *(1,) * missing, *value.shape)
                reshaped = Variable(rows.number, rows.memory, np.empty(wide, rows.dtype), rows.hint)
                self._add(np.reshape, "np.reshape", (rows, wide), reshaped, first)
                rows = reshaped
            found.append(rows)
        return self._of_matrices(first, found) if first.function is np.matmul else _reshaped(first, found, self.rows)

    def _of_matrices(self, each: Instruction, args: list[Any]) -> list[Any] | None:
        """Return the operands of a product of all rows, of which vectors make a matrix; None if there is none."""
        (a, b), (x, y) = args, each.args
        if len(x.shape) > 1 and len(y.shape) > 1:
            dims = len(each.results.shape)  # of an operand with fewer, rows would meet another dimension
            return args if (a is x or len(x.shape) == dims) and (b is y or len(y.shape) == dims) else None
        if b is y and len(x.shape) == 1 and len(y.shape) == 2:
            return args  # (n, k) @ (k, m)
        if a is x and len(y.shape) == 1 and len(x.shape) == 2:
            transposed = Variable(x.number, x.memory, np.empty(x.shape[::-1], x.dtype, "F"), x.hint)
            self._add(np.transpose, "np.transpose", (x,), transposed, each)
            return [b, transposed]  # (n, k) @ (k, m), of a matrix (m, k)
        return None

    def _operand(self, values: tuple[Variable, ...], depth: int) -> Variable | None:
        """Return a variable of different values: computed at once, a constant, a part of one array, or put together."""
        like = values[0]
        if any((v.shape, v.dtype) != (like.shape, like.dtype) for v in values):
            return None
        if self.rows * math.prod(like.shape) > _MOST:
            return None
        if all(v.value is not None for v in values):
            array = np.stack([v.value for v in values])
            array.flags.writeable = False
            return Variable(like.number, id(array), array, like.hint, array)
        found = self._batched(values, None, depth) or self._part_of_one(values)
        if found is not None:
            return found
        self.read += values
        flat = Variable(like.number, next(new_memory), np.empty(self.rows * math.prod(like.shape), like.dtype))
        made = self._variable(like, flat.memory)
        source = self.uses.makers.get(like, (0, None))[1] or Instruction(print, "", (), {}, None)
        self._add(np.concatenate, "np.concatenate", (list(values),), flat, source, {"axis": None})
        self._add(np.reshape, "np.reshape", (flat, made.shape), made, source)
        self._joins += 2
        self._known[values] = made
        return made

    def _part_of_one(self, values: tuple[Variable, ...]) -> Variable | None:
        """Return a variable of values that are the rows of one array, one after another."""
        makers = [self.uses.makers.get(v) for v in values]
        items = [m[1] for m in makers if m is not None and m[1].name == "item"]
        places = [each.args[1] if type(each.args[1]) is tuple else (each.args[1],) for each in items]
        if len(items) < len(values) or not places[0] or type(places[0][0]) is not int or places[0][0] < 0:
            return None
        base, (first, *rest), like = items[0].args[0], places[0], values[0]
        wanted = [(first + i, *rest) for i in range(self.rows)]
        if [each.args[0] for each in items] != [base] * self.rows or repr(places) != repr(wanted):
            return None
        made = self._variable(like, base.memory)
        made.strides = base.strides[0], *like.strides
        if not is_of_rows(made):
            return None
        self.read.append(base)
        self._add(items[0].function, "item", (base, (slice(first, first + self.rows), *rest)), made, items[0])
        self.gone |= {m[0]: v for m, v in zip(makers, values, strict=True) if m is not None}
        self._known[values] = made
        return made


def _is_alike(a: Instruction, b: Instruction) -> bool:
    """Return whether two instructions make the same call, on arrays of the same shapes, that takes rows at once."""
    if a.kind != "call" or a.writes or a.parts is not None or b.writes or b.parts is not None or b.kind != "call":
        return False
    if a.name != b.name or a.function != b.function or len(a.args) != len(b.args) or a.kwargs != b.kwargs:
        return False
    if variables(a.kwargs) or (a.results.shape, a.results.dtype) != (b.results.shape, b.results.dtype):
        return False
    for x, y in zip(a.args, b.args, strict=True):
        if isinstance(x, Variable) != isinstance(y, Variable):
            return False
        if isinstance(x, Variable):
            if (x.shape, x.dtype) != (y.shape, y.dtype):
                return False
        elif variables(x) or variables(y) or type(x) is not type(y) or repr(x) != repr(y):
            return False
    if is_elementwise(a):
        return not a.kwargs and all(is_of_rows(v) for v in (a.results, *variables((a.args, b.args))))
    if a.function is np.matmul:
        return not a.kwargs
    return (_is_reduction(a) and is_of_rows(a.args[0])) or (a.name == "np.reshape" and is_of_rows(a.args[0]))


def _is_reduction(each: Instruction) -> bool:
    known = each.function in (np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.minimum.reduce)
    return known and len(each.args) == 1 and each.kwargs.keys() <= {"axis", "keepdims"} and bool(each.args[0].shape)


def _keywords_of_all(each: Instruction) -> dict[str, Any]:
    """Return the keywords of a call on all rows."""
    if not _is_reduction(each):
        return each.kwargs
    dims, axis = len(each.args[0].shape), each.kwargs.get("axis", 0)
    axes = range(dims) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    moved = tuple(a % dims + 1 for a in axes)
    return each.kwargs | {"axis": moved[0] if len(moved) == 1 else moved}


def _reshaped(each: Instruction, args: list[Any], rows: int) -> list[Any]:
    return [args[0], (rows, *each.results.shape)] if each.name == "np.reshape" else args
