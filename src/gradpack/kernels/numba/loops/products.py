"""Parts of matrix products, by the BLAS library that NumPy calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray

from .loop import by_address, loop, summing
from .native import GEMMS, address_of, data_of, memory_at, read

# What a block holds: addresses (of BLAS's function, and of the arrays' objects), how the matrices lie, and the batch.
FIELDS = (
    "function a b c bias m n k lda ldb ldc flip_a flip_b by_columns lines inner a_outer a_inner b_outer b_inner".split()
)
(
    FUNCTION, A, B, C, BIAS, M, N, K, LDA, LDB, LDC, FLIP_A, FLIP_B, BY_COLUMNS, LINES, INNER, A_OUTER, A_INNER,
    B_OUTER, B_INNER,
) = (8 * i for i in range(len(FIELDS)))  # fmt: skip
_FLIPPED = 112  # CBLAS's word for a transposed matrix


def _of(wide: bool, char: str) -> Any:
    gemm, kind = GEMMS[wide, char], np.dtype(char).type
    size = np.dtype(char).itemsize

    def product(block: int, low: int, high: int) -> None:
        m, n, k = read(block + M), read(block + N), read(block + K)
        lda, ldb, ldc = read(block + LDA), read(block + LDB), read(block + LDC)
        flip_a, flip_b = read(block + FLIP_A), read(block + FLIP_B)
        by_columns, lines, inner = read(block + BY_COLUMNS), read(block + LINES), read(block + INNER)
        a, b, c = data_of(read(block + A)), data_of(read(block + B)), data_of(read(block + C))
        total = n if by_columns else m
        tiles = (total + lines - 1) // lines
        for item in range(low, high):
            matrix, tile = item // tiles, item % tiles
            outer, within = matrix // inner, matrix % inner
            here_a = a + size * (outer * read(block + A_OUTER) + within * read(block + A_INNER))
            here_b = b + size * (outer * read(block + B_OUTER) + within * read(block + B_INNER))
            here_c = c + size * matrix * m * ldc
            first = tile * lines
            count = min(lines, total - first)
            rows, columns = m, n
            if by_columns:
                columns = count
                here_b += size * first * (ldb if flip_b == _FLIPPED else 1)
                here_c += size * first
            else:
                rows = count
                here_a += size * first * (1 if flip_a == _FLIPPED else lda)
                here_c += size * first * ldc
            gemm(read(block + FUNCTION), flip_a, flip_b, rows, columns, k, here_a, lda, here_b, ldb, 0.0, here_c, ldc)
            if read(block + BIAS):
                start = first if by_columns else 0
                plus = carray(memory_at(data_of(read(block + BIAS)) + size * start), columns, kind)
                out = carray(memory_at(here_c), (rows, ldc), kind)
                for i in range(rows):
                    for j in range(columns):
                        out[i, j] += plus[j]

    product.__name__ = product.__qualname__ = f"product_{char}_{'64' if wide else '32'}"
    return address_of(by_address(product, {"contract"}))


def product_of(wide: bool, char: str) -> int:
    """Return the address of the function of parts, for numbers of `char` and sizes of 64 bits or 32."""
    found = _MADE.get((wide, char))
    if found is None:
        found = _MADE[wide, char] = _of(wide, char)
    return found


_MADE: dict[tuple[bool, str], int] = {}


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
