"""Products of matrices that lie in memory in any way, on one thread.

The right factor is packed: as many columns as a tile has lie side by side, so that the first-level cache holds them for
a run through the inner dimension; the left one is read where it lies. Each number of the product is a sum in the order
of the inner dimension, whatever tile it is in: how a product is cut changes no bit of it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import carray

from .loop import by_address, inlined
from .native import address_of, memory_at
from .vectors import ANY, BY_COLUMNS, BY_ROWS, OF, ROWS, STEPS, VECTORS, WIDTH

_ROWS, _STEPS, _WIDTH, _MOST = ROWS, STEPS, WIDTH, WIDTH * VECTORS
# Steps of the inner dimension of which a tile's columns fit into a first-level cache of 48 KiB, or of 32.
_DEEP = (46080 if WIDTH == 64 else 30720) // _MOST
_HIGH = 128  # rows of the left factor that stay in the second-level cache, from one tile's columns to the next
_LINE = 64  # bytes of a line of the cache


@inlined
def memory_for(k: int, n: int, size: int) -> int:
    """How many bytes `multiply` needs for a product of that inner dimension and so many columns of `size` bytes."""
    return _LINE + _MOST * (_ROWS + 1) + min(k, _DEEP) * (n * size + _WIDTH)


def _named(function: Any, char: str) -> Any:
    function.__name__ = function.__qualname__ = f"{function.__name__}_{char}"
    return by_address(function, {"contract"})


@cache
def packing(char: str) -> Any:
    """Return a function that packs a part of a matrix, of numbers of the bytes of `char`."""
    vectors, kind = OF[char], np.dtype(char).type
    size, lanes, copy, transpose = vectors.size, vectors.lanes, vectors.copy, vectors.transpose

    def fill(b: int, b_row: int, b_step: int, rows: Any, columns: Any, n: int, target: int, width: int) -> None:
        """Pack a range of rows and columns number by number, with zeros behind `n` columns."""
        for p in range(rows[0], rows[1]):
            row = carray(memory_at(target + p * width), columns[1], kind)
            for j in range(columns[0], columns[1]):
                row[j] = carray(memory_at(b + p * b_row + j * b_step), 1, kind)[0] if j < n else kind(0)

    fill = _named(fill, char)

    def pack(b: int, b_row: int, b_step: int, k: int, n: int, target: int, width: int) -> None:
        """Write `k` rows of `n` numbers side by side, in rows of `width` bytes."""
        whole, blocks = n // lanes * lanes, k // lanes * lanes
        if b_step == size:
            for p in range(k):
                for j in range(0, whole, lanes):
                    copy(b + p * b_row + j * size, target + p * width + j * size)
        elif b_row == size:
            for j in range(0, whole, lanes):
                for p in range(0, blocks, lanes):
                    transpose(b + j * b_step + p * size, b_step, target + p * width + j * size, width)
            fill(b, b_row, b_step, (blocks, k), (0, whole), n, target, width)
        else:
            whole = 0
        fill(b, b_row, b_step, (0, k), (whole, width // size), n, target, width)

    return _named(pack, char)


def _multiplying(char: str) -> int:
    """Return the address of the function of products of these numbers."""
    vectors, native, pack = OF[char], np.dtype(char).type, packing(char)
    size, lanes = vectors.size, vectors.lanes
    most = lanes * VECTORS
    tile = vectors.tile

    def multiply(
        a: int, a_row: int, a_step: int, b: int, b_row: int, b_step: int, m: int, n: int, k: int, plus: int,
        plus_row: int, c: int, c_row: int, memory: int,
    ) -> None:  # fmt: skip
        """Write `a @ b + plus` to `c`, of m times k and k times n numbers.

        Arrays are given by address and by distances in bytes: of their rows, and of the numbers of a row where they
        need not be side by side. `plus` may be `c`; it is 0 for nothing, and a vector with 0 as distance of its rows.
        `memory_for` says how much `memory` there is to be.
        """
        scratch = (memory + _LINE - 1) // _LINE * _LINE
        zeros = scratch + _MOST * _ROWS
        packed = zeros + _MOST
        carray(memory_at(zeros), most, native)[:] = 0
        blocks = (k + _DEEP - 1) // _DEEP
        step = ((k + blocks - 1) // blocks + _STEPS - 1) // _STEPS * _STEPS
        for start in range(0, k, step):
            depth = min(step, k - start)
            at_b = packed
            for j in range(0, n, most):
                columns = min(most, n - j)
                width = (columns + lanes - 1) // lanes * _WIDTH
                pack(b + start * b_row + j * b_step, b_row, b_step, depth, columns, at_b, width)
                at_b += depth * width
            for high in range(0, m, _HIGH):
                at_b = packed
                for j in range(0, n, most):
                    columns = min(most, n - j)
                    width = (columns + lanes - 1) // lanes * _WIDTH
                    for i in range(high, min(m, high + _HIGH), _ROWS):
                        rows = min(_ROWS, m - i)
                        at_a, at_c = a + i * a_row + start * a_step, c + i * c_row + j * size
                        if start:
                            at_plus, by_plus = at_c, c_row
                        else:
                            at_plus, by_plus = (plus + i * plus_row + j * size, plus_row) if plus else (zeros, 0)
                        is_whole = rows == _ROWS and columns * size == width
                        to, by = (at_c, c_row) if is_whole else (scratch, width)
                        other, by_other = (at_plus, by_plus) if is_whole else (zeros, 0)
                        lies = BY_ROWS if a_step == size else BY_COLUMNS if a_row == size else ANY
                        kind = (lies if rows == _ROWS else ANY) + width // _WIDTH
                        tile(kind, at_a, a_row, a_step, rows, at_b, depth, other, by_other, to, by)
                        for r in range(0 if is_whole else rows):
                            made = carray(memory_at(scratch + r * width), columns, native)
                            last = carray(memory_at(at_plus + r * by_plus), columns, native)
                            out = carray(memory_at(at_c + r * c_row), columns, native)
                            for q in range(columns):
                                out[q] = made[q] + last[q]
                    at_b += depth * width

    return address_of(_named(multiply, char), 14)


_MADE: dict[str, int] = {}


def multiply_of(char: str) -> int:
    """Return the address of the function of products of float32 ("f") or float64 ("d"), for `native.multiply`."""
    found = _MADE.get(char)
    if found is None:
        found = _MADE[char] = _multiplying(char)
    return found
