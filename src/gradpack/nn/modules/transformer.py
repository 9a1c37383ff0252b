"""Transformers: their layers, stacks of these, and both stacks together."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, ClassVar

from ...core.tensor import Tensor
from ...ops.create.fill import full
from ...ops.shape.diagonal import triu
from .. import functional as F
from .. import init
from .._functional.attention import _canonical_mask
from .._layers.multihead_attention import MultiheadAttention
from .._public import give_all
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

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
        d_model: features.
        nhead: heads of attention.
        dim_feedforward: features inside of the network.
        activation: "relu", "gelu", or a function.
        batch_first: (N, S, E) instead of (S, N, E)?
        norm_first: normalise before attention and network instead of after?

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

    Args: those of `TransformerEncoderLayer`.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.TransformerDecoderLayer(4, 2, 8)
        >>> layer(torch.ones(5, 3, 4), torch.ones(7, 3, 4)).shape
        gradpack.Size([5, 3, 4])
    """

    attentions = ("self_attn", "multihead_attn")

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


def _generate_square_subsequent_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    return triu(full((size, size), -math.inf, dtype=dtype, device=device), 1)


def _length(x: Tensor, batch_first: bool) -> int:
    return x.size(1 if batch_first and x.ndim == 3 else 0)


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None, size: int) -> bool:
    """Return whether a mask is causal: as the caller says, else by comparison."""
    if is_causal is not None or mask is None:
        return is_causal is True
    wanted = _generate_square_subsequent_mask(size, mask.device, mask.dtype)
    return mask._shape == wanted._shape and bool((mask == wanted).all())


class TransformerEncoder(Module):
    """Several encoder layers, one after another.

    Args:
        encoder_layer: copied `num_layers` times.
        norm: a module after the last.
        enable_nested_tensor, mask_check: accepted; there are no nested tensors here.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
        >>> torch.nn.TransformerEncoder(layer, 2)(torch.ones(3, 5, 4)).shape
        gradpack.Size([3, 5, 4])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = False
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", src.dtype, mask, "mask")
        mask = _canonical_mask(mask, "mask", src.dtype)
        first: Any = self.layers[0]
        causal = _detect_is_causal_mask(mask, is_causal, _length(src, first.self_attn.batch_first))
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        return out if self.norm is None else self.norm(out)


class TransformerDecoder(Module):
    """Several decoder layers, one after another.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.TransformerDecoderLayer(4, 2, 8)
        >>> torch.nn.TransformerDecoder(layer, 2)(torch.ones(5, 3, 4), torch.ones(7, 3, 4)).shape
        gradpack.Size([5, 3, 4])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        first: Any = self.layers[0]
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, _length(tgt, first.self_attn.batch_first))
        out = tgt
        for layer in self.layers:
            out = layer(
                out,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder and a decoder that attends to what it gives.

    Source: Vaswani et al., 2017.

    Args:
        num_encoder_layers, num_decoder_layers: how many of each.
        custom_encoder, custom_decoder: modules in their places.
        d_model, nhead, dim_feedforward, dropout, activation, batch_first, norm_first: see `TransformerEncoderLayer`.

    Example::

        >>> import gradpack as torch
        >>> model = torch.nn.Transformer(4, 2, 1, 1, 8)
        >>> model(torch.ones(7, 3, 4), torch.ones(5, 3, 4)).shape
        gradpack.Size([5, 3, 4])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shared = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        here: Any = {"device": device, "dtype": dtype}
        if custom_encoder is None:
            layer: Module = TransformerEncoderLayer(*shared, **here)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **here)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*shared, **here)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **here)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        place = 0 if self.batch_first else 1
        if src.ndim == 3 and src.size(place) != tgt.size(place):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """-inf above the diagonal, 0 elsewhere: each place attends to itself and those before."""
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        """Draw all matrices anew."""
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)


give_all(globals())
