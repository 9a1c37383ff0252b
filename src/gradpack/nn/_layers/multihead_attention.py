"""`MultiheadAttention`."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill import empty
from .. import functional as F
from .. import init
from .._public import give_all
from ..modules.linear import NonDynamicallyQuantizableLinear
from ..modules.module import Module
from ..parameter import Parameter


class MultiheadAttention(Module):
    """Attention of several heads, each on its part of the features, between linear layers.

    For each head: `softmax(q @ k.T / sqrt(E / num_heads)) @ v`, of what linear layers make of query, key and value; the
    results of the heads, one beside the other, go through one more.

    Source: Vaswani et al., 2017.

    Args:
        embed_dim: E, the number of features of queries and results, divided among the heads.
        num_heads: the number of heads, which divides `embed_dim`.
        dropout: the probability of dropping a weight of attention, in training.
        bias: whether the linear layers have biases.
        add_bias_kv: whether to append a learned key and value to the others.
        add_zero_attn: whether to append a key and a value of zeros.
        kdim, vdim: the numbers of features of keys and values, where they differ from `embed_dim`.
        batch_first: whether tensors are (N, L, E) instead of (L, N, E).

    Returns:
        The tuple (output, weights); weights are None for `need_weights=False`, which is faster.

    Shape:
        query: (L, N, E), (N, L, E) with `batch_first`, or (L, E) without a batch; the output is the same.
        key: (S, N, kdim), (N, S, kdim), or (S, kdim).
        value: (S, N, vdim), (N, S, vdim), or (S, vdim).
        key_padding_mask: (N, S): True for keys that are left out, or numbers that are added.
        attn_mask: (L, S), or (N * num_heads, L, S): True for pairs that are left out, or numbers that are added.
        weights: (N, L, S), averaged over the heads; (N, num_heads, L, S) for `average_attn_weights=False`.

    Raises:
        ValueError, AssertionError: for numbers that are not positive or do not divide.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        >>> x = torch.ones(3, 5, 4)
        >>> out, weights = layer(x, x, x)
        >>> out.shape, weights.shape
        (gradpack.Size([3, 5, 4]), gradpack.Size([3, 5, 5]))
    """

    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    q_proj_weight: Tensor | None
    k_proj_weight: Tensor | None
    v_proj_weight: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def new(*shape: int) -> Parameter:
            return Parameter(empty(shape, device=device, dtype=dtype))

        if self._qkv_same_embed_dim:
            self.in_proj_weight = new(3 * embed_dim, embed_dim)
            for name in "qkv":
                self.register_parameter(f"{name}_proj_weight", None)
        else:
            self.q_proj_weight = new(embed_dim, embed_dim)
            self.k_proj_weight = new(embed_dim, self.kdim)
            self.v_proj_weight = new(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", new(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k, self.bias_v = (new(1, 1, embed_dim), new(1, 1, embed_dim)) if add_bias_kv else (None, None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw all weights anew; biases become zeros."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            if self.out_proj.bias is not None:
                init.constant_(self.out_proj.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        turned = self.batch_first and query.ndim == 3
        if turned:
            same, shared = query is key, key is value
            query = query.transpose(1, 0)
            key = query if same else key.transpose(1, 0)
            value = key if shared else value.transpose(1, 0)
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (out.transpose(1, 0) if turned else out), weights


give_all(globals())
