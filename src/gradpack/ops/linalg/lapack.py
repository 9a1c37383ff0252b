"""Linear algebra on arrays that `numpy.linalg` lacks: triangular systems, LU, solving of singular systems.

All take batches; loops are over columns or blocks of columns, never over elements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..shape.diagonal import triangle_mask

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
BLOCK = 48  # rows of a triangle that are solved for at once; what is beside them is one product
PANEL = 16  # columns of LU that are worked on one by one; what is right of them is one product


def stacked(a: Any) -> Any:
    """Matrices in one dimension of batches."""
    return np.reshape(a, (math.prod(a.shape[:-2]), *a.shape[-2:]))


# -- triangular systems --


def triangle(a: Any, upper: bool, unit: bool) -> Any:
    """Return a triangle of matrices, the other one zero, with ones on the diagonal if unitriangular."""
    n, step = a.shape[-1], int(unit) if upper else -int(unit)
    if type(a) is _array_type and n <= BLOCK and n == a.shape[-2]:
        found = np.where(triangle_mask(n, n, step, not upper), a, a.dtype.type(0))
    else:
        found = np.triu(a, k=step) if upper else np.tril(a, k=step)
    return found + np.eye(n, dtype=a.dtype) if unit else found


def solve_triangle(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """`x` with `a @ x = b`; infinite or NaN where the diagonal is zero."""
    if not upper:  # from the last row up, a lower triangle is an upper one
        turned = a[..., ::-1, ::-1]
        x = solve_triangle(turned, b[..., ::-1, :], True, unit)[..., ::-1, :]
        return np.ascontiguousarray(x) if type(x) is _array_type else x  # no tensor has negative strides
    n = a.shape[-1]
    if not n or not b.shape[-1]:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return np.zeros((*lead, n, b.shape[-1]), dtype=b.dtype)
    if n > BLOCK:
        h = n // 2
        low = solve_triangle(a[..., h:, h:], b[..., h:, :], True, unit)
        high = b[..., :h, :] - np.matmul(a[..., :h, h:], low)
        high = solve_triangle(a[..., :h, :h], high, True, unit)
        return np.concatenate((high, low), axis=-2)
    t = triangle(a, True, unit)
    if t.diagonal(0, -2, -1).all() if type(t) is _array_type else np.all(np.linalg.diagonal(t) != 0):
        if b.shape[-1] > n and a.ndim == b.ndim == 2:
            return np.matmul(np.linalg.inv(t), b)  # many right sides: a product is faster than substitution
        return np.linalg.solve(t, b)  # nothing below the diagonal: no row is exchanged, and this substitutes
    return _substitute(t, b)


def _substitute(t: Any, b: Any) -> Any:
    """Back substitution row by row, where it divides by zero."""
    lead = np.broadcast_shapes(t.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*lead, *b.shape[-2:])))
    for i in range(t.shape[-1] - 1, -1, -1):
        x[..., i, :] = x[..., i, :] / t[..., i, i, None]
        if i:
            x[..., :i, :] -= t[..., :i, i, None] * x[..., None, i, :]
    return x


# -- LU --


def lu_factor(a: Any) -> tuple[Any, Any, Any]:
    """Both factors in one matrix, the rows exchanged (from 1), and the first zero of the diagonal (from 1, or 0)."""
    lead, (m, n) = a.shape[:-2], a.shape[-2:]
    k = min(m, n)
    x = stacked(np.array(a, copy=True, order="C"))
    pivots = np.tile(np.arange(1, k + 1, dtype=np.int32), (x.shape[0], 1))
    batch = np.arange(x.shape[0])
    for start in range(0, k if x.size else 0, PANEL):
        end = min(start + PANEL, k)
        for j in range(start, end):
            _eliminate(x, pivots, batch, j, end)
        if end < n:
            unit = triangle(x[:, start:end, start:end], False, True)
            x[:, start:end, end:] = np.linalg.solve(unit, x[:, start:end, end:])
            if end < m:
                x[:, end:, end:] -= np.matmul(x[:, end:, start:end], x[:, start:end, end:])
    zero = np.linalg.diagonal(x)[:, :k] == 0
    info = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if k else np.zeros(x.shape[0])
    return x.reshape(a.shape), pivots.reshape(*lead, k), np.asarray(info, dtype=np.int32).reshape(lead)


def _eliminate(x: Any, pivots: Any, batch: Any, j: int, end: int) -> None:
    """One column of a panel that ends before column `end`."""
    if len(x) == 1:
        _eliminate_one(x[0], pivots[0], j, end)
        return
    column = x[:, j:, j]
    size = np.abs(column.real) + np.abs(column.imag) if column.dtype.kind == "c" else np.abs(column)
    row = j + size.argmax(-1)
    moved = row != j
    if moved.any():
        which, row = batch[moved], row[moved]
        pivots[which, j] = row + 1
        kept = x[which, j]
        x[which, j] = x[which, row]
        x[which, row] = kept
    pivot = x[:, j, j, None]
    x[:, j + 1 :, j] /= np.where(pivot == 0, 1, pivot)
    if j + 1 < end:
        x[:, j + 1 :, j + 1 : end] -= x[:, j + 1 :, j, None] * x[:, j, None, j + 1 : end]


def _eliminate_one(x: Any, pivots: Any, j: int, end: int) -> None:
    """The same for a single matrix, without the cost of batches."""
    column = x[j:, j]
    size = np.abs(column.real) + np.abs(column.imag) if column.dtype.kind == "c" else np.abs(column)
    row = j + int(size.argmax())
    if row != j:
        pivots[j] = row + 1
        kept = x[j].copy()
        x[j] = x[row]
        x[row] = kept
    below = x[j + 1 :, j]
    if x[j, j] != 0:
        below /= x[j, j]
    if j + 1 < end:
        x[j + 1 :, j + 1 : end] -= below[:, None] * x[j, j + 1 : end]


def permutation(pivots: Any, m: int) -> Any:
    """The rows of L @ U in the order of those of the matrix: `a[perm] = l @ u`."""
    if not pivots.size:
        return np.array(np.broadcast_to(np.arange(m), (*pivots.shape[:-1], m)))
    flat = np.reshape(pivots, (-1, pivots.shape[-1]))
    order = np.tile(np.arange(m), (flat.shape[0], 1))
    batch = np.arange(flat.shape[0])
    for j in range(flat.shape[1]):
        row = flat[:, j] - 1
        kept = order[batch, j]
        order[batch, j] = order[batch, row]
        order[batch, row] = kept
    return order.reshape(*pivots.shape[:-1], m)


def permutation_matrix(pivots: Any, m: int, dtype: Any) -> Any:
    """P of `a = P @ l @ u`."""
    order = permutation(pivots, m)
    return np.asarray(order[..., None, :] == np.arange(m)[:, None], dtype=dtype)


# -- systems that may have no solution --


def solve(a: Any, b: Any) -> tuple[Any, Any]:
    """`x` with `a @ x = b`, and the first zero on the diagonal of U for each matrix (0: none)."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) if a.ndim + b.ndim > 4 else ()
    if not a.shape[-1] or not b.shape[-1] or 0 in lead:
        return np.zeros((*lead, *b.shape[-2:]), dtype=b.dtype), np.zeros(a.shape[:-2], dtype=np.int32)
    try:
        return np.linalg.solve(a, b), np.zeros(a.shape[:-2], dtype=np.int32)
    except np.linalg.LinAlgError:
        lu, pivots, info = lu_factor(a)
        return solve_by_lu(lu, pivots, b), info


def solve_by_lu(lu: Any, pivots: Any, b: Any) -> Any:
    """The solution by factors that are there already."""
    order = permutation(pivots, lu.shape[-1])
    lead = np.broadcast_shapes(order.shape[:-1], b.shape[:-2])
    b = np.broadcast_to(b, (*lead, *b.shape[-2:]))
    order = np.broadcast_to(order, (*lead, order.shape[-1]))
    moved = np.take_along_axis(b, order[..., None], -2)
    return solve_triangle(lu, solve_triangle(lu, moved, False, True), True)
