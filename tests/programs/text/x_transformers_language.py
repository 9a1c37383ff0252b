"""A decoder of x-transformers with rotary positions and gated layers, and an encoder."""

import torch
from same import integers, losses, normal, start
from x_transformers import ContinuousTransformerWrapper, Decoder, Encoder, TransformerWrapper

tokens = integers(40, 2, 17)
model = TransformerWrapper(
    num_tokens=40,
    max_seq_len=32,
    attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True),
)
start(model, scale=0.1)


def loss():
    return torch.nn.functional.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])


losses(model, loss, torch.optim.AdamW(model.parameters(), lr=3e-3), 8)
encoder = start(
    ContinuousTransformerWrapper(
        dim_in=6, dim_out=3, max_seq_len=16, attn_layers=Encoder(dim=32, depth=1, heads=4, attn_dim_head=8)
    ),
    scale=0.1,
)
x = normal(2, 10, 6)
losses(encoder, lambda: encoder(x).square().mean(), torch.optim.SGD(encoder.parameters(), lr=0.1), 5)
