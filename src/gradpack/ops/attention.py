"""Scaled dot-product attention.

The fused form keeps queries, keys, values and one number per row, and computes the probabilities
again in backward (as flash attention does): the T by T matrices are never saved.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..declare.kinds import general
from ..tensor.tensor import Tensor
from .blockwise import aligned
from .kernels import SMALL, _add, _array_type, _maximum, _minimum, add_up, largest

FUNCTIONS = ""


def _scores(query: Any, key: Any, mask: Any, is_causal: bool, scale: float) -> Any:
    """`scale * query @ key.T`, masked with -inf, or plus a mask of numbers."""
    scores = np.matmul(query, key.mT)
    scores *= scale
    if is_causal:
        rows, columns = scores.shape[-2:]
        few = type(scores) is _array_type and rows * columns < SMALL
        scores += (_above if few else _hidden)(rows, columns, scores.dtype)
    if mask is not None:
        if mask.dtype == bool:
            scores = np.where(mask, scores, np.asarray(-np.inf, scores.dtype))
        else:
            scores = scores + mask
    return scores


def _hidden(rows: int, columns: int, dtype: Any) -> Any:
    """-inf above the diagonal."""
    return np.triu(np.full((rows, columns), -np.inf, dtype), 1)


@lru_cache(64)
def _above(rows: int, columns: int, dtype: Any) -> Any:
    """The same, made once."""
    made = _hidden(rows, columns, dtype)
    made.flags.writeable = False
    return made


def _softmax_in_place(scores: Any) -> Any:
    """The logarithm of each row's sum of exponentials; `scores` becomes the probabilities.

    A row of -inf only has probabilities 0, as in torch.
    """
    if type(scores) is _array_type and 0 < scores.size < SMALL:
        top = _maximum(scores, -1, None, None, True)
        if _minimum(top, None) > -np.inf:  # or NaN: as below
            scores -= top
            np.exp(scores, out=scores)
            total = _add(scores, -1, None, None, True)
            scores /= total
            return top + np.log(total)
    top = largest(scores, -1, True)
    top = np.where(np.isfinite(top), top, np.zeros_like(top))
    scores -= top
    np.exp(scores, out=scores)
    total = add_up(scores, -1, True)
    scores /= np.where(total == 0, np.ones_like(total), total)
    return top + np.log(np.where(total == 0, np.ones_like(total), total))


# Elements of a block of scores: it stays in the second-level cache with a second one like it.
_BLOCK = 1 << 17
# Scores whose exponentials neither overflow nor vanish need not be compared with the largest one of their row.
_HIGH, _LOW = 60.0, 1e-20


def _by_blocks(*arrays: Any) -> bool:
    """Whether scores are computed block by block: NumPy's arrays of one dtype, and not only a few numbers."""
    first = arrays[0]
    return (
        all(type(a) is _array_type and a.dtype == first.dtype and a.size for a in arrays)
        and first.dtype.char in "fd"
        and first.size >= 256
    )


def _plan(heads: int, rows: int, columns: int, is_causal: bool) -> Any:
    """Blocks of scores: the heads, the rows, and how many columns those rows see."""
    if rows * columns <= _BLOCK:
        step = max(1, _BLOCK // (rows * columns))
        seen = min(rows, columns) if is_causal else columns
        for start in range(0, heads, step):
            yield slice(start, min(start + step, heads)), 0, rows, seen
        return
    step = max(16, _BLOCK // columns)
    for head in range(heads):
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            yield slice(head, head + 1), start, stop, min(stop, columns) if is_causal else columns


def _stacked(x: Any, extra: Any) -> Any:
    """A stack of matrices in one piece, with one more column."""
    out = np.empty((math.prod(x.shape[:-2]), x.shape[-2], x.shape[-1] + 1), x.dtype)
    np.copyto(np.reshape(out, (*x.shape[:-1], x.shape[-1] + 1))[..., :-1], x)
    out[..., -1] = extra
    return out


def _hide(scores: Any, start: int, columns: int, bound: Any) -> None:
    """Scores of -inf where a causal mask forbids."""
    if start < columns:
        part = scores[..., start:]
        np.minimum(part, bound[: part.shape[-2], : columns - start], out=part)


@lru_cache(maxsize=8)
def _bound(rows: int, columns: int, kind: str) -> Any:
    """The largest scores that a causal mask allows: infinity in the lower triangle, -inf above."""
    step = rows if rows * columns <= _BLOCK else max(16, _BLOCK // columns)
    lower = np.tri(step, min(step, columns), dtype=bool)
    return np.where(lower, np.inf, -np.inf).astype(kind)


def _attend(query: Any, key: Any, value: Any, is_causal: bool, scale: float) -> Any:
    """The result and the logarithm of each row's sum of exponentials, in blocks; None if scores are too large."""
    rows, columns, width = query.shape[-2], key.shape[-2], value.shape[-1]
    q = np.reshape(query * scale, (-1, rows, query.shape[-1]))
    k, v = (np.reshape(x, (-1, *x.shape[-2:])) for x in (key, value))
    out = np.empty((len(q), rows, width), q.dtype)
    total = np.empty((len(q), rows), q.dtype)
    bound = _bound(rows, columns, query.dtype.char) if is_causal else None
    ones = np.ones(columns, q.dtype)
    memory = aligned(max(_BLOCK, 16 * columns), q.dtype)
    for heads, start, stop, seen in _plan(len(q), rows, columns, is_causal):
        part = q[heads, start:stop]
        p = memory[: part.shape[0] * part.shape[1] * seen].reshape(*part.shape[:2], seen)
        np.matmul(part, k[heads, :seen].mT, out=p)
        if is_causal:
            _hide(p, start, seen, bound)
        if not _maximum(p, None) <= _HIGH:
            return None
        np.exp(p, out=p)
        sums = np.matmul(p, ones[:seen], out=total[heads, start:stop])
        if not sums.min() >= _LOW:
            return None
        made = np.matmul(p, v[heads, :seen], out=out[heads, start:stop])
        made /= sums[..., None]
    lead = query.shape[:-1]
    return np.reshape(out, (*lead, width)), np.reshape(np.log(total), (*lead, 1))


def _attend_backward(
    g: Any, query: Any, key: Any, value: Any, out: Any, lse: Any, is_causal: bool, scale: float, needs: Any
) -> Any:
    """The gradients in blocks, without a mask or dropout.

    What is subtracted from each row of scores, and of g @ V.T, is one more column of the factors of that product.
    The sum of D * P along a row is that of g * out.
    """
    rows, columns = query.shape[-2], key.shape[-2]
    q = _stacked(query, 0)
    q *= scale
    q[..., -1] = np.reshape(lse, (-1, rows))
    np.negative(q[..., -1], out=q[..., -1])
    k = _stacked(key, 1)
    gs = _stacked(g, -np.reshape(np.vecdot(g, out), (-1, rows)))
    v = _stacked(value, 1)
    count = len(q)
    query_g = np.empty((count, rows, query.shape[-1]), q.dtype) if needs[0] else None
    key_g = np.zeros((count, columns, key.shape[-1]), q.dtype) if needs[1] else None
    value_g = np.zeros((count, columns, value.shape[-1]), q.dtype) if needs[2] else None
    bound = _bound(rows, columns, query.dtype.char) if is_causal else None
    memories = [aligned(max(_BLOCK, 16 * columns), q.dtype) for _ in range(2)]
    for heads, start, stop, seen in _plan(count, rows, columns, is_causal):
        part, g_part = q[heads, start:stop], gs[heads, start:stop]
        p, s = (m[: part.shape[0] * part.shape[1] * seen].reshape(*part.shape[:2], seen) for m in memories)
        np.matmul(part, k[heads, :seen].mT, out=p)
        if is_causal:
            _hide(p, start, seen, bound)
        np.exp(p, out=p)
        whole = start == 0 and stop == rows
        if value_g is not None:
            _accumulate(value_g[heads, :seen], p.mT, g_part[..., :-1], whole)
        if query_g is None and key_g is None:
            continue
        np.matmul(g_part, v[heads, :seen].mT, out=s)
        np.multiply(s, p, out=s)
        if query_g is not None:
            np.matmul(s, k[heads, :seen, :-1], out=query_g[heads, start:stop])
        if key_g is not None:
            _accumulate(key_g[heads, :seen], s.mT, part[..., :-1], whole)
    if query_g is not None:
        query_g *= scale
    return tuple(
        None if made is None else np.reshape(made, x.shape)
        for made, x in ((query_g, query), (key_g, key), (value_g, value))
    )


def _accumulate(total: Any, a: Any, b: Any, first: bool) -> None:
    if first:
        np.matmul(a, b, out=total)
    else:
        total += np.matmul(a, b)


def _attention_gradients(
    g: Any, query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, scale: float,
    out: Any, lse: Any, kept: Any, needs: Any,
) -> Any:  # fmt: skip
    """With P the probabilities, D = g @ V.T and S = P * (D - sum(D * P)): S @ K, S.T @ Q, P.T @ g."""
    if attn_mask is None and not dropout_p and _by_blocks(query, key, value, g):
        return *_attend_backward(g, query, key, value, out, lse, is_causal, scale, needs), None
    p = _scores(query, key, attn_mask, is_causal, scale)
    p -= lse
    np.exp(p, out=p)
    dropped = p
    if dropout_p:
        factor = _dropout_factor(kept, p.shape, dropout_p, p.dtype)
        dropped = p * factor
    value_g = np.matmul(dropped.mT, g) if needs[2] else None
    query_g = key_g = mask_g = None
    if needs[0] or needs[1] or needs[3]:
        s = np.matmul(g, value.mT)
        if dropout_p:
            s *= factor
        s -= add_up(s * p, -1, True)
        s *= p
        if needs[3]:
            mask_g = sum_to_shape(s, attn_mask.shape)
        s *= scale
        query_g = np.matmul(s, key) if needs[0] else None
        key_g = np.matmul(s.mT, query) if needs[1] else None
    return query_g, key_g, value_g, mask_g


def sum_to_shape(array: Any, shape: Any) -> Any:
    """The sum over dimensions along which a mask was broadcast; never the array itself, which goes on to change."""
    extra = len(array.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and array.shape[i + extra] != 1)
    return np.reshape(np.sum(array, axis=axes, keepdims=True) if axes else np.array(array), tuple(shape))


def _dropout_factor(kept: Any, shape: Any, p: float, dtype: Any) -> Any:
    bits = np.reshape(np.unpackbits(kept, count=math.prod(shape)), shape)
    return bits.astype(dtype) * (1 / (1 - p) if p < 1 else 0)


def _attention_meaning(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, scale: float, kept: Any
) -> Any:
    """Attention composed of other operations."""
    scores = matmul(query, key.mT) * scale
    if is_causal:
        rows, columns = scores.shape[-2:]
        scores = scores + wrap(np.triu(np.full((rows, columns), -np.inf, scores._spec.native), 1))
    if attn_mask is not None:
        if attn_mask.dtype.category == 0:
            scores = where(attn_mask, scores, -math.inf)
        else:
            scores = scores + attn_mask
    p = softmax(scores, -1)
    if attn_mask is not None or is_causal:
        p = where(isfinite(scores).any(-1, True), p, 0.0)
    if dropout_p:
        p = _apply_mask(p, kept, p._shape, dropout_p)
    return matmul(p, value)


@general(
    inputs=("query", "key", "value", "attn_mask"),
    joint=_attention_gradients,
    meaning=_attention_meaning,
    extra=("lse", "kept"),
    promote=("query", "key", "value"),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    dtypes="f",
)
def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
) -> Any:
    """Attention, with what backward needs to compute the probabilities again."""
    kept = np.zeros(0, np.uint8)
    if attn_mask is None and not dropout_p and _by_blocks(query, key, value):
        found = _attend(query, key, value, is_causal, scale)
        if found is not None:
            return *found, kept
    p = _scores(query, key, attn_mask, is_causal, scale)
    lse = _softmax_in_place(p)
    if dropout_p:
        kept = np.packbits(keep_mask(None, p.shape, dropout_p))
        p *= _dropout_factor(kept, p.shape, dropout_p, p.dtype)
    return np.matmul(p, value), lse, kept


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`softmax(query @ key.T * scale + attn_mask) @ value`, batched.

    Args:
        query: shape (..., L, E).
        key: shape (..., S, E).
        value: shape (..., S, Ev).
        attn_mask: broadcasts to (..., L, S): bools (True takes part) or numbers that are added.
        dropout_p: probability of dropping an attention weight.
        is_causal: each position attends to itself and those before. Not together with a mask.
        scale: default 1 / sqrt(E).
        enable_gqa: fewer heads of key and value than of query, each shared by a group.

    Raises:
        RuntimeError: for shapes or dtypes that do not fit, and for a mask beside `is_causal`.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(1, 2, 4)
        >>> torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).shape
        gradpack.Size([1, 2, 4])
    """
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not isinstance(x, Tensor):
            raise TypeError(f"scaled_dot_product_attention(): argument '{name}' must be Tensor, not {type(x).__name__}")
        if x.ndim < 2:
            raise RuntimeError(
                "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 dimensional, but "
                "got "
                f"query.dim(): {query.ndim}, key.dim(): {key.ndim} and value.dim(): {value.ndim} instead."
            )
    if not query._spec.dtype is key._spec.dtype is value._spec.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype}, key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if attn_mask is not None and is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask is not None and attn_mask._spec.dtype.category != 0 and attn_mask._spec.dtype is not query._spec.dtype:
        raise RuntimeError(
            f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{attn_mask.dtype} and query.dtype: {query.dtype} instead."
        )
    if query._shape[-1] != key._shape[-1] or key._shape[-2] != value._shape[-2]:
        raise RuntimeError(
            f"scaled_dot_product_attention(): query {list(query._shape)}, key {list(key._shape)} and value "
            f"{list(value._shape)} do not fit: query and key need one last dimension, key and value one length"
        )
    if enable_gqa:
        heads, groups = query._shape[-3], key._shape[-3]
        if groups == 0 or heads % groups:
            raise RuntimeError(
                f"Number of heads in key and value must divide the number of heads in query, got {groups} and {heads}"
            )
        key = repeat_interleave(key, heads // groups, -3)
        value = repeat_interleave(value, heads // value._shape[-3], -3)
    lead = query._shape[:-2]
    if not lead == key._shape[:-2] == value._shape[:-2]:
        lead = broadcast_shapes(lead, key._shape[:-2], value._shape[:-2])
        query, key, value = (
            x if x._shape[:-2] == lead else expand(x, (*lead, *x._shape[-2:])) for x in (query, key, value)
        )
    factor = 1 / math.sqrt(query._shape[-1]) if scale is None and query._shape[-1] else scale or 1.0
    if attn_mask is not None:
        full = (*lead, query._shape[-2], key._shape[-2])
        if tuple(broadcast_shapes(attn_mask._shape, full)) != full:
            raise RuntimeError(f"attn_mask of shape {list(attn_mask._shape)} does not broadcast to {list(full)}")
    return _attention(query, key, value, attn_mask, dropout_p, is_causal, factor)


from ..tensor.tensor import wrap  # noqa: E402
from .arrange import repeat_interleave  # noqa: E402
from .compare import isfinite  # noqa: E402
from .dropout import _apply_mask, keep_mask  # noqa: E402
from .linalg import matmul  # noqa: E402
from .rounding import where  # noqa: E402 - adjoints name each other
from .shape import broadcast_shapes, expand  # noqa: E402
from .softmax import softmax  # noqa: E402
