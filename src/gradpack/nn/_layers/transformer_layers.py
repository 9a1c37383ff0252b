"""One layer of the encoder of a transformer, and one of the decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...core.tensor import Tensor
from .. import functional as F
from .._functional.attention import _canonical_mask
from .._public import give_all
from ..modules.dropout import Dropout
from ..modules.linear import Linear
from ..modules.module import Module
from ..modules.normalization import LayerNorm
from .multihead_attention import MultiheadAttention

Activation = str | Callable[[Tensor], Tensor]


def _get_activation_fn(activation: Activation) -> Callable[[Tensor], Tensor]:
    """Return the activation function of a name.

    Raises:
        RuntimeError: for another name than relu and gelu.
    """
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class _Layer(Module):
    """Base class of the layers: attentions, the small network, and a norm and dropout around each."""

    attentions: ClassVar[tuple[str, ...]]
    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        here: Any = {"bias": bias, "device": device, "dtype": dtype}
        for name in self.attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **here))
        self.linear1 = Linear(d_model, dim_feedforward, **here)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **here)
        self.norm_first = norm_first
        numbers = range(1, len(self.attentions) + 2)
        for nr in numbers:
            setattr(self, f"norm{nr}", LayerNorm(d_model, eps=layer_norm_eps, **here))
        for nr in numbers:
            setattr(self, f"dropout{nr}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def _sa_block(self, x: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool = False) -> Tensor:
        out = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False)
        return self.dropout1(out[0])

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a small network on each place, both with a sum around and a `LayerNorm`.

    Args:
        d_model: the number of features.
        nhead: the number of heads of attention, which divides `d_model`.
        dim_feedforward: the number of features inside of the network.
        dropout: the probability of zeroing an element, in training.
        activation: of the network: "relu", "gelu", or a function.
        layer_norm_eps: what the normalizations add to the variance.
        batch_first: whether tensors are (N, L, E) instead of (L, N, E).
        norm_first: normalise before attention and network instead of after.
        bias: whether the linear layers and normalizations have biases.

    Shape:
        src: (S, N, E), (N, S, E) with `batch_first`, or (S, E); the output is the same.
        src_mask: (S, S), or (N * nhead, S, S): True for pairs that are left out, or numbers that are added.
        src_key_padding_mask: (N, S): True for places that are left out.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.TransformerEncoderLayer(4, 2, 8)(torch.ones(5, 3, 4)).shape
        gradpack.Size([5, 3, 4])
    """

    attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", src.dtype, src_mask, "src_mask")
        mask = _canonical_mask(src_mask, "src_mask", src.dtype)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the memory of an encoder, and a small network on each place.

    Args:
        d_model: the number of features.
        nhead: the number of heads of attention, which divides `d_model`.
        dim_feedforward: the number of features inside of the network.
        dropout: the probability of zeroing an element, in training.
        activation: of the network: "relu", "gelu", or a function.
        layer_norm_eps: what the normalizations add to the variance.
        batch_first: whether tensors are (N, L, E) instead of (L, N, E).
        norm_first: normalise before attention and network instead of after.
        bias: whether the linear layers and normalizations have biases.

    Shape:
        tgt: (T, N, E), (N, T, E) with `batch_first`, or (T, E); the output is the same.
        memory: (S, N, E), (N, S, E), or (S, E): the output of the encoder.
        tgt_mask: (T, T), or (N * nhead, T, T): True for pairs that are left out, or numbers that are added.
        memory_mask: (T, S), or (N * nhead, T, S).
        tgt_key_padding_mask: (N, T): True for places that are left out.
        memory_key_padding_mask: (N, S).

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.TransformerDecoderLayer(4, 2, 8)
        >>> layer(torch.ones(5, 3, 4), torch.ones(7, 3, 4)).shape
        gradpack.Size([5, 3, 4])
    """

    attentions = ("self_attn", "multihead_attn")
    multihead_attn: MultiheadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *other))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self, x: Tensor, mem: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        out = self.multihead_attn(
            x, mem, mem, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False
        )
        return self.dropout2(out[0])

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))


give_all(globals())
