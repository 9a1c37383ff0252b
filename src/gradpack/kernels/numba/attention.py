"""Attention in blocks of scores, with one compiled loop for all that is between two products; float32 only.

Blocks have as many rows as products need to be fast, but no more, where a causal mask hides what comes later.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.pointwise.blockwise import aligned
from ..blocks.attention import accumulate, hide, plan, spread
from .loops import attention as loops
from .loops.matrix_products import multiply_of
from .ranges import Whole, split_over

_PART = 1 << 21  # multiplications of a product of scores, of a part


def _block(columns: int, is_causal: bool) -> int:
    """How many scores there are to a block."""
    return max(1 << 16, 128 * columns, 0 if is_causal else min(256 * columns, 1 << 17))


def _stack(x: Any) -> Any:
    """The matrices of `x`, one after another."""
    return np.reshape(np.ascontiguousarray(x), (-1, *x.shape[-2:]))


def _bytes(kept: Any) -> Any:
    return np.zeros(0, np.uint8) if kept is None else np.reshape(kept, (-1,)).view(np.uint8)


def _over_heads(loop: Any, logs: Any, kept: Any, given: Any, made: Any, numbers: Any) -> None:
    """Call a loop over the heads of all batches."""
    query, key, value = (_with_heads(x) for x in given[:3])
    batch, heads, rows, depth = query.shape
    count, columns = batch * heads, key.shape[2]
    arrays = [query, key, value, *map(_with_heads, given[3:]), *(_as_four(x) for x in made)]
    bits = np.zeros((count, 0), np.uint8) if kept is None else np.reshape(kept, (count, -1)).view(np.uint8)
    shape = np.empty((count, 6), np.int64)
    shape[:] = (0, heads, rows, columns, depth, value.shape[3])
    shape[:, 0] = np.arange(count)
    strides = np.array([x.strides[:3] for x in arrays], np.int64)
    step = max(1, min(_PART // max(1, rows * columns * depth), -(-count // 2)))
    logs = logs.reshape(count, rows)
    given = (logs, bits, shape, Whole(strides), *numbers, *map(id, arrays))
    split_over(count, step, loop, *given)


def _as_four(x: Any) -> Any:
    """An array of matrices with two dimensions for batch and heads."""
    return x if x.ndim == 4 else x.reshape((1,) * (4 - x.ndim) + x.shape) if x.ndim < 4 else _stack(x)[None]


def _with_heads(x: Any) -> Any:
    """`_as_four`, with numbers of a row side by side, and rows apart."""
    is_fit = x.strides[-1] == x.itemsize and x.strides[-2] >= x.shape[-1] * x.itemsize and x.flags.aligned
    return _as_four(x if is_fit else np.ascontiguousarray(x))


def _like(x: Any, width: int) -> Any:
    """A new array whose dimensions follow one another in memory as those of `x`, with rows of another length."""
    if x.ndim == 4 and x.strides[1] < x.strides[2] < x.strides[0]:
        return np.empty((x.shape[0], x.shape[2], x.shape[1], width), x.dtype).swapaxes(1, 2)
    return np.empty((*x.shape[:-1], width), x.dtype)


def _blocks(count: int, rows: int, columns: int, is_causal: bool, dtype: Any, buffers: int) -> Any:
    """Heads, first and last row, and number of columns of each block; the memory of each buffer, as matrices."""
    size = _block(columns, is_causal)
    memories = [aligned(size, dtype) for _ in range(buffers)]
    for heads, start, stop, seen in plan(count, rows, columns, is_causal, size):
        shape = (heads.stop - heads.start, stop - start, seen)
        yield heads, start, stop, seen, *(m[: math.prod(shape)].reshape(shape) for m in memories)


def attend(
    query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float, kept: Any, inverse: float
) -> Any:
    """As `ops.nn.attention.attend`."""
    rows, columns, width = query.shape[-2], key.shape[-2], value.shape[-1]
    if mask is None:
        out = _like(query, width)
        logs = np.empty(query.shape[:-1], query.dtype)
        numbers = (multiply_of("f"), is_causal, float(scale), float(inverse))
        _over_heads(loops.attend, logs, kept, (query, key, value), (out,), numbers)
        return out, logs[..., None]
    out = np.empty((math.prod(query.shape[:-2]), rows, width), query.dtype)
    q, k, v = (_stack(x) for x in (query, key, value))
    total, logarithm = np.empty(out.shape[:2], out.dtype), np.empty(out.shape[:2], out.dtype)
    hidden, bits = spread(mask, query, columns), _bytes(kept)
    for heads, start, stop, seen, p in _blocks(len(out), rows, columns, is_causal, out.dtype, 1):
        np.matmul(q[heads, start:stop], k[heads, :seen].mT, out=p)
        if hidden is not None:
            np.multiply(p, scale, out=p)
            hide(p, heads, start, stop, None, hidden)
        loops.probabilities(
            p.reshape(-1, seen), heads.start * rows + start, rows, columns, is_causal,
            1.0 if hidden is not None else float(scale), bits, total.reshape(-1), logarithm.reshape(-1),
        )  # fmt: skip
        np.matmul(p, v[heads, :seen], out=out[heads, start:stop])
    if kept is not None and inverse:
        np.divide(total, inverse, out=total)
    out /= total[..., None]
    return np.reshape(out, (*query.shape[:-1], width)), np.reshape(logarithm, (*query.shape[:-1], 1))


def attend_backward(
    query: Any, key: Any, value: Any, mask: Any, g: Any, out: Any, lse: Any, is_causal: bool, scale: float,
    kept: Any, inverse: float, needs: Any,
) -> Any:  # fmt: skip
    """As `ops.nn.attention.attend_backward`, without the gradient of a mask."""
    rows, columns = query.shape[-2], key.shape[-2]
    if mask is None:
        whole = [_like(x, x.shape[-1]) for x in (query, key, value)]
        logs = np.ascontiguousarray(np.reshape(lse, query.shape[:-1]))
        numbers = (multiply_of("f"), is_causal, float(scale), float(inverse))
        _over_heads(loops.attend_backward, logs, kept, (query, key, value, g, out), whole, numbers)
        return *(x if need else None for x, need in zip(whole, needs, strict=False)), None
    q, k, v, given = (_stack(x) for x in (query, key, value, g))
    made = [
        np.empty((math.prod(x.shape[:-2]), *x.shape[-2:]), x.dtype) if need else None
        for x, need in zip((query, key, value), needs, strict=False)
    ]
    query_g, key_g, value_g = made
    sums, logs = np.reshape(np.vecdot(g, out), (-1,)), np.reshape(lse, (-1,))
    hidden, bits = spread(mask, query, columns), _bytes(kept)
    count, factor, buffers = len(q), float(scale), 2 if kept is None else 3
    for heads, start, stop, seen, p, s, *dropped in _blocks(count, rows, columns, is_causal, q.dtype, buffers):
        some_q, some_g = q[heads, start:stop], given[heads, start:stop]
        some_k, some_v = k[heads, :seen], v[heads, :seen]
        flat_p, flat_s, at = p.reshape(-1, seen), s.reshape(-1, seen), heads.start * rows + start
        kept_p = dropped[0] if dropped else p
        flat_kept = kept_p.reshape(-1, seen)
        np.matmul(some_q, some_k.mT, out=p)
        if hidden is not None:
            np.multiply(p, scale, out=p)
            hide(p, heads, start, stop, None, hidden)
        loops.probabilities_again(
            flat_p, flat_kept, at, rows, columns, is_causal, 1.0 if hidden is not None else factor, bits,
            float(inverse), logs,
        )  # fmt: skip
        if value_g is not None:
            accumulate(value_g[heads], kept_p.mT, some_g, start == 0)
        if query_g is None and key_g is None:
            continue
        np.matmul(some_g, some_v.mT, out=s)
        loops.slopes(flat_s, flat_p, flat_kept, at, sums, factor)
        if query_g is not None:
            np.matmul(s, some_k, out=query_g[heads, start:stop])
        if key_g is not None:
            accumulate(key_g[heads], s.mT, some_q, start == 0)
    shapes = (query.shape, key.shape, value.shape)
    return *(None if x is None else np.reshape(x, shape) for x, shape in zip(made, shapes, strict=True)), None
