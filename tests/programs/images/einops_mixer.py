"""A mixer of patches written with einops."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import Rearrange, Reduce
from same import integers, losses, normal, start
from torch import nn


class Transposed(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + rearrange(self.inner(rearrange(x, "b n c -> b c n")), "b c n -> b n c")


model = start(
    nn.Sequential(
        Rearrange("b c (h p) (w q) -> b (h w) (c p q)", p=4, q=4),
        nn.Linear(48, 16),
        Transposed(nn.Sequential(nn.Linear(16, 8), nn.GELU(), nn.Linear(8, 16))),
        nn.LayerNorm(16),
        Reduce("b n c -> b c", "mean"),
        nn.Linear(16, 3),
    )
)
x, y = normal(6, 3, 16, 16), integers(3, 6)
losses(model, lambda: nn.functional.cross_entropy(model(x), y), torch.optim.AdamW(model.parameters(), lr=0.01), 8)
packed, shapes = pack([x.mean(1), x[:, 0]], "b * w")
print(reduce(x, "b c h w -> c", "max"), repeat(x[0, 0, 0], "w -> w 2").sum(), unpack(packed, shapes, "b * w")[0].std())
print(einsum(x, x, "b c h w, b d h w -> c d"))
