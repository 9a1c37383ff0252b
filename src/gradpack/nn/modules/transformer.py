"""Transformers: their layers, stacks of these, and both stacks together."""

from __future__ import annotations

import copy
import math
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill import full
from ...ops.shape.diagonal import triu
from .. import functional as F
from .. import init
from .._functional.attention import _canonical_mask
from .._layers import transformer_layers
from .._layers.transformer_layers import *
from .._layers.transformer_layers import (
    Activation,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    _get_activation_fn,  # noqa: F401 - torch's name, by which programs import it
)
from .._public import adopt, give_all
from .container import ModuleList
from .module import Module
from .normalization import LayerNorm


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
        num_layers: how many layers.
        norm: a module after the last.
        enable_nested_tensor, mask_check: accepted; there are no nested tensors here.

    Shape:
        src: as for `TransformerEncoderLayer`; the output is the same.

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

    Args:
        decoder_layer: copied `num_layers` times.
        num_layers: how many layers.
        norm: a module after the last.

    Shape:
        tgt, memory: as for `TransformerDecoderLayer`; the output is like `tgt`.

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
        d_model, nhead, dim_feedforward, dropout, activation, batch_first, norm_first: see `TransformerEncoderLayer`.
        num_encoder_layers, num_decoder_layers: how many of each.
        custom_encoder, custom_decoder: modules in their places.
        layer_norm_eps: what the normalizations add to the variance.
        bias: whether the linear layers and normalizations have biases.

    Shape:
        src: (S, N, E), (N, S, E) with `batch_first`, or (S, E).
        tgt: (T, N, E), (N, T, E), or (T, E); the output is the same.

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


adopt(globals(), transformer_layers.__name__)
give_all(globals())
