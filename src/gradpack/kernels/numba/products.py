"""Large matrix products in parts over all cores, by BLAS's own function, called without the lock of the interpreter.

The parts follow from the shapes alone, so that results do not depend on the number of threads: where a matrix is cut,
BLAS adds in another order.
"""

from __future__ import annotations

from array import array
from math import prod
from struct import Struct
from typing import Any

import numpy as np

from ...base import blas
from ...base.pool import Compiled, split_compiled
from ..parts import LINES, lines_of_part
from .loops import products as loops
from .loops.products import FIELDS, product_of
from .ranges import Each, Whole, over, part_of

_PART = 1 << 21  # multiplications of a part, at least
_READ = 1 << 18  # elements of a matrix of a part, times a vector
_PLAIN, _FLIPPED = 111, 112  # CBLAS's words for matrices that lie by rows, and by columns
_pack = Struct(f"{len(FIELDS)}q").pack


def product(a: Any, b: Any) -> Any:
    """As `backends.numpy.product`."""
    return affine(a, b, None)


def by_vector(a: Any, b: Any) -> Any:
    """As `backends.numpy.product`, where one of the two is a vector, or a matrix of one row or column."""
    if a.ndim == 1 or a.shape[0] == 1:
        vector, matrix = a.reshape(-1), b.T
    else:
        vector, matrix = b.reshape(-1), a
    if matrix.ndim != 2 or matrix.shape[1] != len(vector) or not vector.flags.c_contiguous:
        return NotImplemented
    shape = (*a.shape[:-1], *b.shape[1:])
    if matrix.flags.c_contiguous:
        out = np.empty(len(matrix), a.dtype)
        over(_READ, loops.rows_times, matrix, Whole(vector), out)
        return out.reshape(shape)
    if not matrix.flags.f_contiguous:
        return NotImplemented
    rows = matrix.T
    totals = np.empty((-(-len(rows) // part_of(_READ, rows)), rows.shape[1]))
    over(_READ, loops.rows_summed, rows, vector, Each(totals))
    return np.add.reduce(totals, axis=0).astype(a.dtype).reshape(shape)


def affine(a: Any, b: Any, bias: Any) -> Any:
    """Return `a @ b`, plus a vector if there is one; NotImplemented if BLAS does not take matrices as they lie."""
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        return NotImplemented
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:  # one large product
        made = affine(a.reshape(-1, a.shape[-1]), b, bias)
        return made if made is NotImplemented else made.reshape(*a.shape[:-1], b.shape[1])
    native = a.dtype
    lies_a, lies_b, function = _lies(a), _lies(b), blas.gemm(native.char)
    if lies_a is None or lies_b is None or function is None or not native.isnative:
        return NotImplemented
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    batch: tuple[int, ...] = ()
    strides = (1, 0, 0, 0, 0)
    if a.ndim > 2 or b.ndim > 2:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if len(batch) > 2:
            return NotImplemented
        strides = batch[-1], *_steps(a, batch), *_steps(b, batch)
    elif min(m, n) < LINES and k > 4096:  # few numbers, each a long sum
        return NotImplemented
    count = prod(batch)
    lines = lines_of_part(max(m, n), m * n * k, _PART) if count == 1 else -(-max(m, n) // LINES) * LINES
    made = np.empty((*batch, m, n), native)
    block = _pack(
        function[0], id(a), id(b), id(made), 0 if bias is None else id(bias), m, n, k, lies_a[1], lies_b[1], n,
        lies_a[0], lies_b[0], n > m, lines, *strides,
    )  # fmt: skip
    work = Compiled(product_of(function[1], native.char), array("q", block))
    tiles = -(-max(m, n) // lines)
    blas.on_one_thread(split_compiled, work, count * tiles, max(1, _PART * tiles // (m * n * k)))
    return made


def _lies(x: Any) -> tuple[int, int] | None:
    """Return how a matrix lies, and the distance of its rows or columns; None if BLAS does not take it."""
    size, (rows, columns), (down, across) = x.itemsize, x.shape[-2:], x.strides[-2:]
    if not x.flags.aligned:
        return None
    if across == size and down % size == 0 and (down >= columns * size or rows == 1):
        return _PLAIN, max(down // size, columns)
    if down == size and across % size == 0 and (across >= rows * size or columns == 1):
        return _FLIPPED, max(across // size, rows)
    return None


def _steps(x: Any, batch: Any) -> tuple[int, int]:
    """Return the distances, in numbers, of what two batch dimensions count."""
    given = [0] * (2 - (x.ndim - 2)) + [
        0 if n == 1 else s // x.itemsize for n, s in zip(x.shape[:-2], x.strides[:-2], strict=True)
    ]
    return (0, given[1]) if len(batch) == 1 else (given[0], given[1])
