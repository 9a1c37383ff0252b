"""Parts of matrix products, and products with vectors."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .loop import by_address, loop, summing
from .matrix_products import memory_for
from .native import address_of, data_of, multiply, read
from .vectors import OF

# What a block holds: addresses of the arrays' objects and of the function that multiplies, the bytes of a number, sizes
# of the matrices and of the parts of one, how many matrices the inner batch dimension has, and distances in bytes: of
# the two batch dimensions, of rows, and of a row's numbers.
_FIELDS = 20
(
    A, B, C, BIAS, FUNCTION, SIZE, M, N, K, ROWS, COLUMNS, INNER, A_OUTER, A_INNER, A_ROW, A_STEP, B_OUTER, B_INNER,
    B_ROW, B_STEP,
) = (8 * i for i in range(_FIELDS))  # fmt: skip
LANES = {char: vectors.lanes for char, vectors in OF.items()}


def product(block: int, low: int, high: int) -> None:
    """Parts of a product."""
    m, n, k, size = read(block + M), read(block + N), read(block + K), read(block + SIZE)
    rows, columns, inner = read(block + ROWS), read(block + COLUMNS), read(block + INNER)
    a_row, a_step = read(block + A_ROW), read(block + A_STEP)
    b_row, b_step = read(block + B_ROW), read(block + B_STEP)
    a, b, c = data_of(read(block + A)), data_of(read(block + B)), data_of(read(block + C))
    bias = data_of(read(block + BIAS)) if read(block + BIAS) else 0
    across = (n + columns - 1) // columns
    parts = (m + rows - 1) // rows * across
    memory = np.empty(memory_for(k, min(n, columns), size), np.uint8)
    for item in range(low, high):
        matrix, part = item // parts, item % parts
        i, j = part // across * rows, part % across * columns
        outer, within = matrix // inner, matrix % inner
        here_a = a + outer * read(block + A_OUTER) + within * read(block + A_INNER)
        here_b = b + outer * read(block + B_OUTER) + within * read(block + B_INNER)
        multiply(
            read(block + FUNCTION), here_a + i * a_row, a_row, a_step, here_b + j * b_step, b_row, b_step,
            min(rows, m - i), min(columns, n - j), k, bias + j * size if bias else 0, 0,
            c + size * ((matrix * m + i) * n + j), n * size, memory.ctypes.data,
        )  # fmt: skip
    memory[0] = 0  # it is needed until here


@cache
def product_function() -> int:
    """Return the address of the function of parts."""
    return address_of(by_address(product, {"contract"}))


@summing
def rows_times(x: Any, vector: Any, out: Any) -> None:
    """The product of each row of `x` with a vector, of four rows at a time."""
    zero = x.dtype.type(0)
    fours = len(x) // 4 * 4
    for i in range(0, fours, 4):
        a, b, c, d = zero, zero, zero, zero
        for j in range(x.shape[1]):
            a += x[i, j] * vector[j]
            b += x[i + 1, j] * vector[j]
            c += x[i + 2, j] * vector[j]
            d += x[i + 3, j] * vector[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d
    for i in range(fours, len(x)):
        whole = zero
        for j in range(x.shape[1]):
            whole += x[i, j] * vector[j]
        out[i] = whole


_ROWS = 512  # rows that are added up in their own dtype


@loop
def rows_summed(x: Any, factors: Any, total: Any) -> None:
    """The sum of all rows of `x`, each times its factor: in float64 from one block of rows to the next."""
    count, length = x.shape
    part = np.zeros(length, x.dtype)
    total[:] = 0
    for first in range(0, count, _ROWS):
        last = min(first + _ROWS, count)
        part[:] = 0
        paired = first + (last - first) // 4 * 4
        for i in range(first, paired, 4):
            a, b, c, d = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
            for j in range(length):
                part[j] += (a * x[i, j] + b * x[i + 1, j]) + (c * x[i + 2, j] + d * x[i + 3, j])
        for i in range(paired, last):
            for j in range(length):
                part[j] += factors[i] * x[i, j]
        for j in range(length):
            total[j] += part[j]
