"""Large matrix products in parts over all cores, without the lock of the interpreter."""

from __future__ import annotations

from array import array
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...base.pool import split_compiled
from ...base.threads import get_num_threads
from ..dispatch import LARGE, SEEN, note_large
from .loops import products as loops
from .loops.matrix_products import multiply_of
from .loops.products import LANES, product_function
from .ranges import Each, Whole, over, part_of

_PART = 1 << 20  # multiplications of a part, at least
_READ = 1 << 18  # elements of a matrix of a part, times a vector
_COLUMNS, _ROWS = 4, 2  # parts for each thread, where columns are cut, and where rows are
_FEW = 64  # rows of a part, at least: with fewer, it takes long to pack columns beside multiplying them
_Sizes = tuple[int, ...]


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
    """Return `a @ b`, plus a vector if there is one; NotImplemented if these are not matrices that loops take."""
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:  # one large product
        made = affine(a.reshape(-1, a.shape[-1]), b, bias)
        return made if made is NotImplemented else made.reshape(*a.shape[:-1], b.shape[1])
    native = a.dtype
    plan = _plan(a.shape, a.strides, b.shape, b.strides, native.char, get_num_threads())
    if plan is None or not (native.isnative and a.flags.aligned and b.flags.aligned):
        return NotImplemented
    made, block = np.empty(plan.shape, native), plan.block[:]
    block[0], block[1], block[2] = id(a), id(b), id(made)
    if bias is not None:
        block[3] = id(bias)
    if not SEEN and made.size >= 2 * LARGE:
        note_large(made.size)
    split_compiled(product_function(), block, plan.parts, plan.part)
    return made


class Plan(NamedTuple):
    """How matrices that lie in memory in some way are multiplied."""

    shape: tuple[int, ...]  # of the result
    block: array[int]  # what the loop gets, without the arrays
    parts: int
    part: int  # how many of them a thread takes at a time


@lru_cache(1024)
def _plan(a: _Sizes, a_strides: _Sizes, b: _Sizes, b_strides: _Sizes, char: str, threads: int) -> Plan | None:
    """Return the plan for two arrays of these shapes and strides; None if loops do not take them."""
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2] or char not in "fd":
        return None
    m, k, n = a[-2], a[-1], b[-1]
    batch: _Sizes = ()
    if len(a) > 2 or len(b) > 2:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
        if len(batch) > 2:
            return None
    elif min(m, n) < _FEW and k > 4096:  # few numbers, each a long sum
        return None
    count, each = prod(batch), m * n * k
    if not count * each:
        return None
    most = max(1, count * each // _PART)
    rows, columns = _cut(m, n, LANES[char], max(1, threads // count), most)
    steps = *_steps(a, a_strides, batch), *_steps(b, b_strides, batch)
    parts = count * -(-m // rows) * -(-n // columns)
    numbers = multiply_of(char), np.dtype(char).itemsize, m, n, k, rows, columns, batch[-1] if batch else 1
    block = array("q", (0, 0, 0, 0, *numbers, *steps))
    return Plan((*batch, m, n), block, parts, max(1, _PART * parts // (count * each)))


def _cut(m: int, n: int, lanes: int, threads: int, most: int) -> tuple[int, int]:
    """Return how many rows and columns each part of a product has.

    Each thread has rows of its own, which it may have written before, and columns are cut, so that a thread that is
    slowed down can leave parts to others. Rows are cut again only where there are few columns: each part packs those of
    its right factor.

    Args:
        lanes: numbers in a vector; tiles have three.
        threads: for each matrix.
        most: parts, of at least `_PART` multiplications.
    """
    down = max(1, min(threads, most, m // _FEW))
    across = max(1, min(-(-min(most, _COLUMNS * threads) // down), n // ((6 if m >= 2 * _FEW else 2) * lanes)))
    down = max(down, min(-(-min(most, _ROWS * threads) // across), m // _FEW))
    return -(-m // (down * 8)) * 8, -(-n // (across * lanes)) * lanes


def _steps(shape: _Sizes, strides: _Sizes, batch: _Sizes) -> _Sizes:
    """Return the distances of two batch dimensions, of rows, and of a row's numbers."""
    outer = [0 if n == 1 else s for n, s in zip(shape[:-2], strides[:-2], strict=True)]
    given = [0] * (2 - len(outer)) + outer if len(batch) > 1 else [0, *(outer or [0])]
    return (*given, *strides[-2:])
