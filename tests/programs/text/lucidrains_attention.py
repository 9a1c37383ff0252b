"""Attention of several kinds: local, linear, low-rank, rotary, mixtures of experts."""

import torch
from linformer import Linformer
from local_attention import LocalAttention
from minGRU_pytorch import minGRU
from nystrom_attention import Nystromformer
from perceiver_pytorch import Perceiver
from rotary_embedding_torch import RotaryEmbedding
from same import losses, normal, start
from soft_moe_pytorch import SoftMoE

x, y = normal(2, 32, 16), normal(2, 32, 16, seed=4)
rotary, local = RotaryEmbedding(dim=8), LocalAttention(dim=8, window_size=8, causal=True)


class Rotated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(16, 48)
        self.rotary, self.local = rotary, local

    def forward(self, x):
        q, k, v = (t.reshape(2, 32, 2, 8).transpose(1, 2) for t in self.project(x).chunk(3, -1))
        q, k = self.rotary.rotate_queries_or_keys(q), self.rotary.rotate_queries_or_keys(k)
        return self.local(q, k, v).transpose(1, 2).reshape(2, 32, 16)


for model in (
    Rotated(),
    Linformer(dim=16, seq_len=32, depth=2, heads=2, k=8),
    Nystromformer(dim=16, depth=1, heads=2, dim_head=8, num_landmarks=8, pinv_iterations=3),
    minGRU(16),
    SoftMoE(dim=16, num_experts=4, seq_len=32),
    Perceiver(
        input_channels=16,
        input_axis=1,
        num_freq_bands=2,
        max_freq=4.0,
        depth=2,
        num_latents=8,
        latent_dim=16,
        cross_heads=1,
        latent_heads=2,
        cross_dim_head=8,
        latent_dim_head=8,
        num_classes=3,
    ),
):
    start(model, scale=0.2)
    losses(model, lambda m=model: (m(x) - y.mean()).pow(2).mean(), torch.optim.AdamW(model.parameters(), 1e-3), 5)
