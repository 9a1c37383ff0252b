"""`multi_head_attention_forward` of `torch.nn.functional`, and how its masks are read."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

from ...base.callers import depth_of_user
from ...base.dtypes import FLOATING, bool_
from ...core.tensor import Tensor
from ...ops.create.fill import zeros
from ...ops.create.fill_like import zeros_like
from ...ops.linalg.addmm import baddbmm
from ...ops.linalg.products import bmm
from ...ops.nn.affine import linear
from ...ops.nn.attention import scaled_dot_product_attention
from ...ops.reduce.softmax import softmax
from ...ops.shape.join import cat
from .._public import give_all
from .dropout import dropout


def _canonical_mask(mask: Tensor | None, name: str, dtype: Any, other: Tensor | None = None, beside: str = "") -> Any:
    """Return an additive float mask: -inf where a bool mask is True (which here means: masked out).

    Warns, as torch does, where `other`, the mask beside it, has another dtype.

    Raises:
        AssertionError: for integers.
    """
    if mask is None:
        return None
    if mask.dtype is not bool_ and mask.dtype.category != FLOATING:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype is not other.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {beside} is deprecated. Use same type for both instead.",
            stacklevel=depth_of_user(),
        )
    if mask.dtype is bool_:
        return zeros_like(mask, dtype=dtype).masked_fill(mask, -math.inf)
    return mask


def _check(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int) -> bool:
    """Whether there is a batch.

    Raises:
        AssertionError: for numbers of dimensions that do not fit.
    """
    ndim = query.ndim
    if ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor")
    what = f"For {'batched' if ndim == 3 else 'unbatched'} ({ndim}-D) `query`, expected"
    if key.ndim != ndim or value.ndim != ndim:
        raise AssertionError(
            f"{what} `key` and `value` to be {ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != ndim - 1:
        raise AssertionError(
            f"{what} `key_padding_mask` to be `None` or {ndim - 1}-D but found {padding.ndim}-D tensor instead"
        )
    if mask is not None:
        if mask.ndim not in (2, 3):
            raise AssertionError(f"{what} `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead")
        wanted = (heads, query._shape[0], key._shape[0])
        if ndim == 2 and mask.ndim == 3 and mask._shape != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {mask.shape}")
    return ndim == 3


def _projected(
    query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Project query, key and value; with one product if they are the same tensor."""
    features = query.size(-1)
    if isinstance(weights, Tensor):
        if query is key is value:
            q, k, v = linear(query, weights, bias).chunk(3, -1)
            return q, k, v
        if key is value:
            w_q, w_kv = weights.split([features, features * 2])
            b_q, b_kv = (None, None) if bias is None else bias.split([features, features * 2])
            return (linear(query, w_q, b_q), *linear(key, w_kv, b_kv).chunk(2, -1))
        weights = weights.chunk(3)
    else:
        for name, x, w in zip(("query", "key", "value"), (query, key, value), weights, strict=True):
            wanted = (features, x.size(-1))
            if w._shape != wanted:
                raise AssertionError(f"expecting {name} weights shape of {wanted}, but got {w.shape}")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    q, k, v = (linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    return q, k, v


def _one_more(mask: Tensor | None) -> Tensor | None:
    """Extend a mask by one key, which is not masked out."""
    return None if mask is None else cat((mask, mask.new_zeros((*mask._shape[:-1], 1))), -1)


def _static(name: str, given: Tensor, count: int, size: int) -> Tensor:
    for dim, wanted in ((0, count), (2, size)):
        if given.size(dim) != wanted:
            raise AssertionError(f"expecting {name}.size({dim}) of {wanted}, but got {given.size(dim)}")
    return given


def _with_batch(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three with a batch of one, where they are the same tensor still the same."""
    same, shared = query is key, key is value
    query = query.unsqueeze(1)
    key = query if same else key.unsqueeze(1)
    return query, key, key if shared else value.unsqueeze(1)


def _masks(
    padding: Tensor | None, mask: Tensor | None, dtype: Any, is_causal: bool, need_weights: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Return both masks as numbers to add, and None for a causal one that is computed without a mask."""
    padding = _canonical_mask(padding, "key_padding_mask", dtype, mask, "attn_mask")
    if is_causal and mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and padding is None and not need_weights:
        return padding, None
    return padding, _canonical_mask(mask, "attn_mask", dtype)


def _size_of_head(features: int, wanted: int, heads: int) -> int:
    if features != wanted:
        raise AssertionError(f"was expecting embedding dimension of {wanted}, but got {features}")
    if features % heads:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {heads}")
    return features // heads


def _checked_weights(
    key: Tensor, value: Tensor, weight: Tensor | None, separate: tuple[Tensor | None, ...] | None
) -> Any:
    """Return the weight of the projections, or the three separate ones, after a look at the shapes of the inputs."""
    if separate is None:
        if key._shape != value._shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        return weight
    if key._shape[:2] != value._shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    for name, w in zip("qkv", separate, strict=True):
        if w is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    return separate


def _mask_by_rows(mask: Tensor | None, length: int, keys: int, rows: int) -> Tensor | None:
    """Return a mask with a dimension in front: one for all rows (heads of elements of a batch), or one for each."""
    if mask is None:
        return None
    wanted = (length, keys) if mask.ndim == 2 else (rows, length, keys)
    if mask._shape != wanted:
        raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {wanted}.")
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _with_biases(
    k: Tensor, v: Tensor, bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None, static_v: Tensor | None
) -> tuple[Tensor, Tensor]:
    if bias_k is None or bias_v is None:
        given, other = ("bias_k", "bias_v") if bias_v is None else ("bias_v", "bias_k")
        raise AssertionError(f"{given} is set but {other} is None")
    if static_k is not None or static_v is not None:
        raise AssertionError(f"bias cannot be added to static {'key' if static_k is not None else 'value'}.")
    batch = k._shape[1]
    return cat((k, bias_k.repeat(1, batch, 1))), cat((v, bias_v.repeat(1, batch, 1)))


def _with_padding(mask: Tensor | None, padding: Tensor | None, batch: int, heads: int, keys: int) -> Tensor | None:
    """Return the mask with keys masked out by padding, too."""
    if padding is None:
        return mask
    for dim, wanted in ((0, batch), (1, keys)):
        if padding._shape[dim] != wanted:
            raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {wanted}, but got {padding._shape[dim]}")
    padding = padding.view(batch, 1, 1, keys).expand(-1, heads, -1, -1).reshape(batch * heads, 1, keys)
    return padding if mask is None else mask + padding


def _attend_with_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, batch: int, heads: int, chance: float
) -> tuple[Tensor, Tensor]:
    """Return the results as a matrix, and the weights of each head."""
    _, length, size = q._shape
    q = q * math.sqrt(1.0 / size)
    shares = softmax(bmm(q, k.transpose(1, 2)) if mask is None else baddbmm(mask, q, k.transpose(1, 2)), -1)
    if chance:
        shares = dropout(shares, chance)
    out = bmm(shares, v).transpose(0, 1).reshape(length * batch, heads * size)
    return out, shares.view(batch, heads, length, k._shape[1])


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, batch: int, heads: int, chance: float, is_causal: bool
) -> tuple[Tensor, None]:
    """Return the results as a matrix, of which no weights are known."""
    _, length, size = q._shape
    if mask is not None:
        mask = mask.unsqueeze(0) if mask._shape[0] == 1 else mask.view(batch, heads, mask._shape[1], k._shape[1])
    q, k, v = (x.reshape(batch, heads, x._shape[1], size) for x in (q, k, v))
    out = scaled_dot_product_attention(q, k, v, mask, chance, is_causal)
    return out.permute(2, 0, 1, 3).reshape(length * batch, heads * size), None


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, each on its part of the features, between layers of weights.

    Args:
        query: shape (L, N, E) or (L, E).
        key, value: shapes (S, N, K) and (S, N, V), or without batch; K and V are E without `use_separate_proj_weight`.
        embed_dim_to_check: E: whatever else `query` has is an error.
        num_heads: the number of heads, which divides E.
        in_proj_weight: shape (3E, E): the weights of queries, keys and values, one below the other.
        in_proj_bias: shape (3E), or None.
        bias_k, bias_v: a learned key and value appended to the others, shape (1, 1, E).
        add_zero_attn: append a key and a value of zeros.
        dropout_p: the probability of dropping a weight of attention, in training.
        out_proj_weight, out_proj_bias: of the layer after attention: shapes (E, E) and (E); the bias may be None.
        key_padding_mask: shape (N, S): True or -inf for keys that are left out.
        attn_mask: shape (L, S) or (N * heads, L, S): True for pairs that are left out, or numbers that are added.
        need_weights: give back the weights as well.
        average_attn_weights: averaged over the heads, rather than for each.
        use_separate_proj_weight: take the following three instead of `in_proj_weight`.
        q_proj_weight, k_proj_weight, v_proj_weight: shapes (E, E), (E, K) and (E, V).
        static_k, static_v: keys and values as they are, shape (N * heads, S, E / heads).
        is_causal: a hint that `attn_mask` is the causal one.

    Returns:
        (L, N, E), and the weights (N, L, S), (N, heads, L, S) or None.

    Raises:
        AssertionError, RuntimeError: for shapes that do not fit.

    Example::

        >>> import gradpack as torch
        >>> x, w = torch.ones(2, 1, 4), torch.zeros(12, 4)
        >>> out, weights = torch.nn.functional.multi_head_attention_forward(
        ...     x, x, x, 4, 2, w, None, None, None, False, 0.0, torch.zeros(4, 4), None)
        >>> weights
        tensor([[[0.5000, 0.5000],
                 [0.5000, 0.5000]]])
    """
    batched = _check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = _with_batch(query, key, value)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, features = query._shape
    padding, mask = _masks(key_padding_mask, attn_mask, query.dtype, is_causal, need_weights)
    is_causal = is_causal and padding is None and not need_weights
    size = _size_of_head(features, embed_dim_to_check, num_heads)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    weights = _checked_weights(key, value, in_proj_weight, separate)
    q, k, v = _projected(query, key, value, weights, in_proj_bias)
    rows = batch * num_heads
    mask = _mask_by_rows(mask, length, key._shape[0], rows)
    if bias_k is not None or bias_v is not None:
        k, v = _with_biases(k, v, bias_k, bias_v, static_k, static_v)
        mask, padding = _one_more(mask), _one_more(padding)
    q, k, v = (x.reshape(x._shape[0], rows, size).transpose(0, 1) for x in (q, k, v))
    k = k if static_k is None else _static("static_k", static_k, rows, size)
    v = v if static_v is None else _static("static_v", static_v, rows, size)
    if add_zero_attn:
        nothing = zeros((rows, 1, size), dtype=k.dtype, device=k.device)
        k, v = cat((k, nothing), 1), cat((v, nothing), 1)
        mask, padding = _one_more(mask), _one_more(padding)
    mask = _with_padding(mask, padding, batch, num_heads, k._shape[1])
    chance = dropout_p if training else 0.0
    attend = _attend_with_weights if need_weights else partial(_attend, is_causal=is_causal)
    out, shares = attend(q, k, v, mask, batch, num_heads, chance)
    if shares is not None and average_attn_weights:
        shares = shares.mean(1)
    out = linear(out, out_proj_weight, out_proj_bias).view(length, batch, out_proj_weight._shape[0])
    if not batched:
        return out.squeeze(1), None if shares is None else shares.squeeze(0)
    return out, shares


give_all(globals())
