"""Attention in blocks of scores that stay in the second-level cache, on NumPy's arrays.

The scores of a block are made, masked, exponentiated, dropped and multiplied before the next block begins, so that no
T by T matrix goes to main memory and back.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...ops.pointwise.blockwise import aligned

# Elements of a block of scores: it stays in the second-level cache with a second one like it.
_BLOCK = 1 << 17
# Scores whose exponentials neither overflow nor vanish need not be compared with the largest one of their row.
_HIGH, _LOW = 60.0, 1e-20


def plan(heads: int, rows: int, columns: int, is_causal: bool, block: int = _BLOCK) -> Any:
    """Blocks of scores: the heads, the rows, and how many columns those rows see."""
    several = max(1, block // (rows * columns))
    step = rows if rows * columns <= block else max(16, block // columns)
    for head in range(0, heads, several):
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            yield slice(head, min(head + several, heads)), start, stop, min(stop, columns) if is_causal else columns


def _stacked(x: Any, extra: Any) -> Any:
    """A stack of matrices in one piece, with one more column."""
    out = np.empty((math.prod(x.shape[:-2]), x.shape[-2], x.shape[-1] + 1), x.dtype)
    np.copyto(np.reshape(out, (*x.shape[:-1], x.shape[-1] + 1))[..., :-1], x)
    out[..., -1] = extra
    return out


@lru_cache(maxsize=8)
def _bound(rows: int, columns: int, kind: str) -> Any:
    """The largest scores that a causal mask allows: infinity in the lower triangle, -inf above."""
    step = rows if rows * columns <= _BLOCK else max(16, _BLOCK // columns)
    lower = np.tri(step, min(step, columns), dtype=bool)
    return np.where(lower, np.inf, -np.inf).astype(kind)


def spread(mask: Any, query: Any, columns: int) -> Any:
    """A mask for every score: a stack of matrices, of which broadcast ones take no memory.

    Bools of one matrix for all heads become bounds, as those of a causal mask.
    """
    if mask is None:
        return None
    count, rows = math.prod(query.shape[:-2]), query.shape[-2]
    if all(n == 1 for n in mask.shape[:-2]):
        one = np.reshape(mask, mask.shape[-2:])
        if mask.dtype == bool:
            one = np.where(one, np.inf, -np.inf).astype(query.dtype)
            return np.broadcast_to(one, (count, rows, columns)), True
        return np.broadcast_to(one, (count, rows, columns)), False
    spread = np.broadcast_to(mask, (*query.shape[:-1], columns))
    return np.reshape(spread, (count, rows, columns)), mask.dtype == bool


def hide(scores: Any, heads: Any, start: int, stop: int, bound: Any, mask: Any) -> None:
    """Scores of -inf where a mask forbids, or plus a mask of numbers."""
    columns = scores.shape[-1]
    if bound is not None and start < columns:
        part = scores[..., start:]
        np.minimum(part, bound[: part.shape[-2], : columns - start], out=part)
    if mask is not None:
        array, bounds = mask
        part = array[heads, start:stop, :columns]
        if part.dtype == bool:
            part = np.where(part, np.inf, -np.inf).astype(scores.dtype)
        (np.minimum if bounds else np.add)(scores, part, out=scores)


def attend(
    query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float, kept: Any, inverse: float
) -> Any:
    """As `ops.nn.attention.attend`, if no score is too large."""
    rows, columns, width = query.shape[-2], key.shape[-2], value.shape[-1]
    q = np.reshape(query * scale, (-1, rows, query.shape[-1]))
    k, v = (np.reshape(x, (-1, *x.shape[-2:])) for x in (key, value))
    out = np.empty((len(q), rows, width), q.dtype)
    total = np.empty((len(q), rows), q.dtype)
    bound = _bound(rows, columns, query.dtype.char) if is_causal else None
    hidden = spread(mask, query, columns)
    bits = None if kept is None else np.reshape(kept, (-1, rows, columns))
    ones = np.ones(columns, q.dtype)
    memory = aligned(max(_BLOCK, 16 * columns), q.dtype)
    for heads, start, stop, seen in plan(len(q), rows, columns, is_causal):
        part = q[heads, start:stop]
        p = memory[: part.shape[0] * part.shape[1] * seen].reshape(*part.shape[:2], seen)
        np.matmul(part, k[heads, :seen].mT, out=p)
        hide(p, heads, start, stop, bound, hidden)
        if not np.maximum.reduce(p, None) <= _HIGH:
            return NotImplemented
        np.exp(p, out=p)
        sums = np.matmul(p, ones[:seen], out=total[heads, start:stop])
        if not sums.min() >= _LOW:
            return NotImplemented
        if bits is not None:
            np.multiply(p, bits[heads, start:stop, :seen], out=p)
        made = np.matmul(p, v[heads, :seen], out=out[heads, start:stop])
        made /= (sums if bits is None or not inverse else sums / inverse)[..., None]
    lead = query.shape[:-1]
    return np.reshape(out, (*lead, width)), np.reshape(np.log(total), (*lead, 1))


def attend_backward(
    query: Any, key: Any, value: Any, mask: Any, g: Any, out: Any, lse: Any, is_causal: bool, scale: float,
    kept: Any, inverse: float, needs: Any,
) -> Any:  # fmt: skip
    """As `ops.nn.attention.attend_backward`, without the gradient of a mask.

    What is subtracted from each row of scores, and without dropout also of g @ V.T, is one more column of the factors
    of that product. The sum of D * P along a row is that of g * out.
    """
    rows, columns = query.shape[-2], key.shape[-2]
    q = _stacked(query, 0)
    q *= scale
    q[..., -1] = np.reshape(lse, (-1, rows))
    np.negative(q[..., -1], out=q[..., -1])
    k = _stacked(key, 1)
    sums = np.reshape(np.vecdot(g, out), (-1, rows))
    gs = _stacked(g, -sums)
    v = _stacked(value, 1)
    count = len(q)
    query_g = np.empty((count, rows, query.shape[-1]), q.dtype) if needs[0] else None
    key_g = np.empty((count, columns, key.shape[-1]), q.dtype) if needs[1] else None
    value_g = np.empty((count, columns, value.shape[-1]), q.dtype) if needs[2] else None
    bound = _bound(rows, columns, query.dtype.char) if is_causal else None
    hidden = spread(mask, query, columns)
    bits = None
    if kept is not None:
        bits = np.reshape(kept, (-1, rows, columns))
        gs[..., :-1] *= inverse
        gs, v = gs[..., :-1], v[..., :-1]
    memories = [aligned(max(_BLOCK, 16 * columns), q.dtype) for _ in range(2 if bits is None else 3)]
    for heads, start, stop, seen in plan(count, rows, columns, is_causal):
        part, g_part = q[heads, start:stop], gs[heads, start:stop]
        p, s, *more = (m[: part.shape[0] * part.shape[1] * seen].reshape(*part.shape[:2], seen) for m in memories)
        np.matmul(part, k[heads, :seen].mT, out=p)
        hide(p, heads, start, stop, bound, hidden)
        np.exp(p, out=p)
        dropped = p if bits is None else np.multiply(p, bits[heads, start:stop, :seen], out=more[0])
        if value_g is not None:
            accumulate(value_g[heads], dropped.mT, g_part[..., : value.shape[-1]], start == 0)
        if query_g is None and key_g is None:
            continue
        np.matmul(g_part, v[heads, :seen].mT, out=s)
        np.multiply(s, dropped, out=s)
        if bits is not None:
            np.multiply(p, sums[heads, start:stop, None], out=p)
            np.subtract(s, p, out=s)
        if query_g is not None:
            np.matmul(s, k[heads, :seen, :-1], out=query_g[heads, start:stop])
        if key_g is not None:
            accumulate(key_g[heads], s.mT, part[..., :-1], start == 0)
    if query_g is not None:
        query_g *= scale
    pairs = ((query_g, query), (key_g, key), (value_g, value))
    return *(None if made is None else np.reshape(made, x.shape) for made, x in pairs), None


def accumulate(total: Any, a: Any, b: Any, first: bool) -> None:
    """`total = a @ b`, or plus that if it is not the first of several; rows that `a` has not are zero."""
    seen = a.shape[-2]
    if first:
        np.matmul(a, b, out=total[:, :seen])
        total[:, seen:] = 0
    else:
        total[:, :seen] += np.matmul(a, b)
