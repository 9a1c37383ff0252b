"""`torch.nn.attention.flex_attention`: attention whose scores a function changes, by the composition it stands for."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple, TypeAlias

from ...core.tensor import Tensor
from ...func import vmap
from ...ops.create.fill import full
from ...ops.create.ranges import arange
from ...ops.pointwise.rounding import where
from ...ops.reduce.softmax import softmax
from .block_mask import BlockMask, and_masks, create_block_mask, create_mask, noop_mask, or_masks

FlexKernelOptions: TypeAlias = dict[str, Any]
Score: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


class AuxRequest(NamedTuple):
    """A request for more results of `flex_attention`: logarithms of sums of exponentials, and largest scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The results that an `AuxRequest` asked for; None for the rest."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Score | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention with scores changed by `score_mod(score, b, h, q_idx, kv_idx)`, and masked by a block mask.

    All scores are computed, whatever the mask. A row that is masked wholly gives zeros.

    Args:
        query, key, value: of shapes (B, Hq, L, E), (B, Hkv, S, E), (B, Hkv, S, Ev).
        scale: what products are multiplied by: `1 / sqrt(E)` by default.
        enable_gqa: whether Hq may be a multiple of Hkv.
        return_lse: return the logarithms of the sums of exponentials of the scores, too.
        kernel_options: without effect.
        return_aux: what else to return, as an `AuxOutput`.

    Raises:
        NotImplementedError: for tensors that do not have four dimensions.
        ValueError: for heads or masks that do not fit.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.nn.attention.flex_attention import flex_attention
        >>> x = torch.ones(1, 2, 3, 4)
        >>> flex_attention(x, x, x, score_mod=lambda score, b, h, q, kv: score - abs(q - kv)).shape
        gradpack.Size([1, 2, 3, 4])
    """
    _check(query, key, value, block_mask, enable_gqa)
    dtype = query.dtype
    if dtype.itemsize < 4:
        query, key, value = query.float(), key.float(), value.float()
    if key.shape[1] != query.shape[1]:
        groups = query.shape[1] // key.shape[1]
        key, value = (t.repeat_interleave(groups, dim=1) for t in (key, value))
    scores = query @ key.transpose(-2, -1) * (1 / sqrt(query.shape[-1]) if scale is None else scale)
    places = [arange(n, device=query.device) for n in scores.shape]
    if score_mod is not None:
        scores = _over_places(score_mod, scores=True)(scores, *places)
    if block_mask is not None:
        kept = _over_places(block_mask.mask_mod, scores=False)(*places)
        scores = where(kept, scores, full((), -float("inf"), dtype=scores.dtype, device=scores.device))
    largest = scores.amax(-1)
    empty = (largest == -float("inf")).unsqueeze(-1)
    weights = softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    out = (weights @ value).to(dtype)
    if return_aux is not None:
        lse = scores.logsumexp(-1) if return_aux.lse else None
        return out, AuxOutput(lse, largest if return_aux.max_scores else None)
    return (out, scores.logsumexp(-1)) if return_lse else out


def _over_places(function: Any, scores: bool) -> Any:
    """A function of one score and its place, as one of all scores, and of the places along each dimension."""
    first = (0,) if scores else ()
    for dim in reversed(range(4)):
        function = vmap(function, in_dims=(*first, *(0 if i == dim else None for i in range(4))))
    return function


def _check(query: Tensor, key: Tensor, value: Tensor, block_mask: BlockMask | None, grouped: bool) -> None:
    if not query.ndim == key.ndim == value.ndim == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, kv_heads = query.shape[1], key.shape[1]
    if heads != kv_heads and not grouped:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={kv_heads}. "
            "Try setting enable_gqa=True for GQA."
        )
    if heads % kv_heads:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={kv_heads}."
        )
    wanted = (query.shape[-2], key.shape[-2])
    if block_mask is not None and block_mask.seq_lengths != wanted:
        raise ValueError(
            f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={wanted[0]} and "
            f"kv_len={wanted[1]}. A new block_mask should be created for these lengths."
        )


__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]
