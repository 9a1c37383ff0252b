"""Sums of float32 numbers as products, which BLAS computes in a part of the time that NumPy's reductions take.

In float64 a program has the bits of the function, so there NumPy's reductions stay. Products of matrices are calls of
`dot`, which gives them to BLAS as `matmul` does, and takes 0.6 of the time for small ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..program import Instruction, Program, Variable, variables

_MOST = 1 << 12  # numbers that are added up in one sum


def with_products(program: Program) -> Program:
    """Return a program whose sums over rows, and of squares, are products."""
    uses: dict[Variable, int] = {}
    for each in program.instructions:
        for v in variables((each.args, each.kwargs)):
            uses[v] = uses.get(v, 0) + 1
    for v in program.outputs:
        uses[v] = uses.get(v, 0) + 1
    squares: dict[Variable, Instruction] = {}
    gone: set[int] = set()
    found: list[Instruction] = []
    written = {v.memory for each in program.instructions for v in each.writes}
    for each in program.instructions:
        given = each.args[0] if each.args else None
        if _is_sum(each) and isinstance(given, Variable) and given.dtype == np.float32:
            square = squares.get(given)
            if square is not None and each.kwargs.get("axis") is None and uses[given] == 1:
                gone.add(id(square))
                each = each._replace(function=np.vdot, name="np.vdot", args=square.args, kwargs={})
            elif each.kwargs.get("axis") == 0 and _is_matrix(given) and "keepdims" not in each.kwargs:
                each = _over_rows(each, given)
        elif each.name == "linear_grad_bias" and _is_matrix(given) and each.args[1:] == ((given.shape[1],),):  # type: ignore[union-attr]
            each = _over_rows(each, given)
        elif each.function is np.multiply and not each.writes and not each.kwargs and each.args[0] is each.args[1]:
            if isinstance(given, Variable) and given.memory not in written and math.prod(given.shape) <= _MOST:
                squares[each.results] = each
        found.append(each)
    return program._replace(instructions=[_as_dot(each) for each in found if id(each) not in gone])


def _is_sum(each: Instruction) -> bool:
    return each.function == np.add.reduce and each.kind == "call" and not each.writes and "dtype" not in each.kwargs


def _is_matrix(v: Any) -> bool:
    """Return whether an array is one of rows that BLAS takes as they are."""
    if not isinstance(v, Variable) or v.dtype != np.float32 or len(v.shape) != 2 or not 2 <= v.shape[0] <= _MOST:
        return False
    return v.shape[1] > 0 and v.strides == (4 * v.shape[1], 4)


def _as_dot(each: Instruction) -> Instruction:
    """Return a product of matrices as a call of `dot`; any other instruction as it is."""
    if each.function is not np.matmul or each.kind != "call" or each.writes or each.kwargs:
        return each
    if not all(_is_dense(v) for v in (*each.args, each.results)) or each.args[0].dtype != each.args[1].dtype:
        return each
    return each._replace(function=np.dot, name="np.dot")


def _is_dense(v: Any) -> bool:
    """Return whether an array is a matrix of real numbers whose rows, or columns, lie in memory without gaps."""
    if not isinstance(v, Variable) or v.dtype.char not in "fd" or len(v.shape) != 2 or 0 in v.shape:
        return False
    size, (rows, columns) = v.dtype.itemsize, v.shape
    return v.strides in ((size * columns, size), (size, size * rows))


def _over_rows(each: Instruction, given: Any) -> Instruction:
    ones = np.ones(given.shape[0], np.float32)
    ones.flags.writeable = False
    constant = Variable(given.number, id(ones), ones, "ones", ones)
    return each._replace(function=np.dot, name="np.dot", args=(constant, given), kwargs={}, origin=None, parts=None)
