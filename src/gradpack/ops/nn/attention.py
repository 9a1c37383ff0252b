"""Scaled dot-product attention.

The fused form keeps queries, keys, values and one number per row, and computes the probabilities
again in backward (as flash attention does): the T by T matrices are never saved.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...backends.numpy import product
from ...base import late
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array, Number
from ...declare.decorators import general
from ...kernels.conditions import moderate
from ...kernels.dispatch import accelerated
from ..reduce.kernels import SMALL, _add, _array_type, _maximum, _minimum, add_up, largest
from .dropout import keep_mask

FUNCTIONS = ""


def _scores(query: Any, key: Any, mask: Any, is_causal: bool, scale: float) -> Any:
    """`scale * query @ key.T`, masked with -inf, or plus a mask of numbers."""
    scores = product(query, key.mT)
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
    """Return a causal mask: -inf above the diagonal, 0 elsewhere."""
    return np.triu(np.full((rows, columns), -np.inf, dtype), 1)


@lru_cache(64)
def _above(rows: int, columns: int, dtype: Any) -> Any:
    """`_hidden`, cached."""
    made = _hidden(rows, columns, dtype)
    made.flags.writeable = False
    return made


def _softmax_in_place(scores: Any) -> Any:
    """The logarithm of each row's sum of exponentials; `scores` becomes the probabilities.

    A row of -inf only has probabilities 0, as in torch.
    """
    if not scores.shape[-1]:
        return np.zeros((*scores.shape[:-1], 1), scores.dtype)
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


@accelerated
def attend(
    query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float, kept: Any, inverse: float
) -> Any:
    """The result, and the logarithm of each row's sum of exponentials.

    Args:
        kept: bools for all scores, False where dropout makes zero of a probability; None without dropout.
        inverse: what dropout multiplies the others by.
    """
    p = _scores(query, key, mask, is_causal, scale)
    lse = _softmax_in_place(p)
    if kept is not None:
        p *= kept
        p *= inverse
    return product(p, value), lse


@accelerated
def attend_backward(
    query: Any, key: Any, value: Any, mask: Any, g: Any, out: Any, lse: Any, is_causal: bool, scale: float,
    kept: Any, inverse: float, needs: Any,
) -> Any:  # fmt: skip
    """With P the probabilities, D = g @ V.T and S = P * (D - sum(D * P)): S @ K, S.T @ Q, P.T @ g, and S."""
    p = _scores(query, key, mask, is_causal, scale)
    if moderate(lse):
        p -= lse
        np.exp(p, out=p)
    else:
        _softmax_in_place(p)
    dropped = p
    if kept is not None:
        dropped = p * kept
        dropped *= inverse
    value_g = product(dropped.mT, g) if needs[2] else None
    query_g = key_g = mask_g = None
    if needs[0] or needs[1] or needs[3]:
        s = product(g, value.mT)
        if kept is not None:
            s *= kept
            s *= inverse
        s -= add_up(s * p, -1, True)
        s *= p
        if needs[3]:
            mask_g = sum_to_shape(s, mask.shape)
        s *= scale
        query_g = product(s, key) if needs[0] else None
        key_g = product(s.mT, query) if needs[1] else None
    return query_g, key_g, value_g, mask_g


def _attention_gradients(
    g: Any, query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, scale: float,
    out: Any, lse: Any, kept: Any, needs: Any,
) -> Any:  # fmt: skip
    """The gradients of query, key, value and mask."""
    bits = unpacked(kept, (*query.shape[:-1], key.shape[-2])) if dropout_p else None
    given = (query, key, value, attn_mask, g, out, lse, is_causal, scale, bits, _inverse(dropout_p), needs)
    return attend_backward(*given)


def sum_to_shape(array: Any, shape: Any) -> Any:
    """The sum over dimensions along which a mask was broadcast; never the array itself, which goes on to change."""
    extra = len(array.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and array.shape[i + extra] != 1)
    return np.reshape(np.sum(array, axis=axes, keepdims=True) if axes else np.array(array), tuple(shape))


def unpacked(kept: Any, shape: Any) -> Any:
    """The bools of a mask of packed bits."""
    return np.reshape(np.unpackbits(kept, count=math.prod(shape)), shape).view(bool)


def _inverse(p: float) -> float:
    """Return the factor `1 / (1 - p)` of the probabilities that dropout keeps; 0 for p = 1."""
    return 1 / (1 - p) if p < 1 else 0.0


def _attention_meaning(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, scale: float, kept: Any
) -> Any:
    """Attention composed of other operations."""
    scores = late.matmul(query, key.mT) * scale
    if is_causal:
        rows, columns = scores.shape[-2:]
        scores = scores + wrap(np.triu(np.full((rows, columns), -np.inf, scores._spec.native), 1))
    if attn_mask is not None:
        if attn_mask.dtype.category == 0:
            scores = late.where(attn_mask, scores, -math.inf)
        else:
            scores = scores + attn_mask
    p = late.softmax(scores, -1)
    if attn_mask is not None or is_causal:
        p = late.where(late.isfinite(scores).any(-1, True), p, 0.0)
    if dropout_p:
        p = late._apply_mask(p, kept, p._shape, dropout_p)
    return late.matmul(p, value)


@general(
    inputs=("query", "key", "value", "attn_mask"),
    joint_vjp=_attention_gradients,
    decomposition=_attention_meaning,
    residuals=("lse", "kept"),
    promote=("query", "key", "value"),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    dtypes="f",
    autocast="lower",
    draws="dropout_p",
)
def _attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Number = None,
) -> Any:
    """Attention, with what backward needs to compute the probabilities again."""
    bits, kept = None, np.zeros(0, np.uint8)
    if dropout_p:
        bits = keep_mask(None, (*query.shape[:-1], key.shape[-2]), dropout_p)
        kept = np.packbits(bits)
    out, lse = attend(query, key, value, attn_mask, is_causal, scale, bits, _inverse(dropout_p))
    return _laid_as(query, out), lse, kept


def _laid_as(query: Any, out: Any) -> Any:
    """Return the result with the memory layout (heads of a position adjacent) of the queries.

    So a program can go on with `out.transpose(1, 2).view(batch, places, -1)`.
    """
    if type(query) is not _array_type or query.ndim != 4 or 0 in query.shape:
        return out
    batch, head, place, element = query.strides
    if element != query.itemsize or not element < head < place < max(batch, place + 1):
        return out
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(out, 1, 2)), 1, 2)


def _fits(shape: tuple[int, ...], full: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to another one, which it does not make larger."""
    return len(shape) <= len(full) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(full), strict=False))


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
        key = late.repeat_interleave(key, heads // groups, -3)
        value = late.repeat_interleave(value, heads // value._shape[-3], -3)
    lead = query._shape[:-2]
    if not lead == key._shape[:-2] == value._shape[:-2]:
        lead = late.broadcast_shapes(lead, key._shape[:-2], value._shape[:-2])
        query, key, value = (
            x if x._shape[:-2] == lead else late.expand(x, (*lead, *x._shape[-2:])) for x in (query, key, value)
        )
    factor = 1 / math.sqrt(query._shape[-1]) if scale is None and query._shape[-1] else scale or 1.0
    if attn_mask is not None:
        full = (*lead, query._shape[-2], key._shape[-2])
        if not _fits(attn_mask._shape, full):
            raise RuntimeError(f"attn_mask of shape {list(attn_mask._shape)} does not broadcast to {list(full)}")
    return _attention(query, key, value, attn_mask, dropout_p, is_causal, factor)
