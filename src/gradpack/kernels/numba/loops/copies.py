"""Row-major copies of arrays that lie in memory in another order."""

from __future__ import annotations

from functools import cache
from typing import Any

from .loop import by_address, loop
from .matrix_products import packing
from .native import address_of, data_of, read
from .vectors import OF

# What a block holds: the addresses of the two arrays' objects, the sizes of four dimensions, the strides of the source
# in bytes, and how many rows a part has. The last two dimensions are rows and columns.
SOURCE, TARGET, INNER, ROWS, COLUMNS, OUTER_STEP, INNER_STEP, ROW, STEP, PART = (8 * i for i in range(10))


@loop
def put_in_rows(x: Any, rows: Any, start: int) -> None:
    """Write the rows of `x` to the columns of `rows` from `start` on."""
    for i in range(x.shape[0]):
        source, target = x[i], rows[i, start : start + x.shape[1]]
        for j in range(source.size):
            target[j] = source[j]


@cache
def copy_function(char: str) -> int:
    """Return the address of the function of parts, for numbers of the bytes of `char`: "f" for 4, "d" for 8."""
    pack, size = packing(char), OF[char].size

    def copied(block: int, low: int, high: int) -> None:
        source, target = data_of(read(block + SOURCE)), data_of(read(block + TARGET))
        inner, rows, columns, part = read(block + INNER), read(block + ROWS), read(block + COLUMNS), read(block + PART)
        row, step = read(block + ROW), read(block + STEP)
        parts = (rows + part - 1) // part
        for item in range(low, high):
            matrix, first = item // parts, item % parts * part
            here = source + matrix // inner * read(block + OUTER_STEP) + matrix % inner * read(block + INNER_STEP)
            there = target + (matrix * rows + first) * columns * size
            pack(here + first * row, row, step, min(part, rows - first), columns, there, columns * size)

    copied.__name__ = copied.__qualname__ = f"copied_{char}"
    return address_of(by_address(copied, {"contract"}))
