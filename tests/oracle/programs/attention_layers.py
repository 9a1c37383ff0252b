"""Attention of several packages: rotary, local, linear, with latent vectors."""

import torch
from linformer import Linformer
from local_attention import LocalAttention
from perceiver_pytorch import Perceiver
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
from same import normal, start
from torch import nn


class Rotary(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.rotary, self.query, self.key = RotaryEmbedding(dim=8, **options), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        query, key = (self.rotary.rotate_queries_or_keys(layer(x)) for layer in (self.query, self.key))
        return torch.einsum("bhid,bhjd->bhij", query, key).softmax(-1) @ x


class Axial(nn.Module):
    def __init__(self):
        super().__init__()
        self.rotary, self.query = RotaryEmbedding(dim=4, freqs_for="pixel", max_freq=16), nn.Linear(8, 8)

    def forward(self, x):
        return apply_rotary_emb(self.rotary.get_axial_freqs(3, 4), self.query(x))


class Local(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.query = nn.Linear(8, 8)
        self.attention = LocalAttention(
            dim=8, window_size=4, look_backward=1, look_forward=0, causal=True, autopad=True, **options
        )

    def forward(self, x):
        query = self.query(x)
        return self.attention(query, query, x)


def train(name, model, x):
    start(model, scale=0.1)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(3):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.6f}")
    print(name, *losses)


train("rotary", Rotary(), normal(2, 2, 6, 8))
train("learned rotary", Rotary(learned_freq=True), normal(2, 2, 6, 8))
train("axial rotary", Axial(), normal(2, 3, 4, 8))
train("local", Local(), normal(2, 2, 14, 8))
train("local, exact windows", Local(exact_windowsize=True), normal(2, 2, 14, 8))
train("linear", Linformer(dim=16, seq_len=8, depth=1, heads=2, k=4), normal(2, 8, 16))
latent = {"num_latents": 4, "latent_dim": 8, "cross_heads": 1, "latent_heads": 2}
heads = {"cross_dim_head": 4, "latent_dim_head": 4}
perceiver = Perceiver(
    input_channels=3, input_axis=2, num_freq_bands=2, max_freq=4.0, depth=1, num_classes=5, **latent, **heads
)
train("latent", perceiver, normal(2, 4, 4, 3))
