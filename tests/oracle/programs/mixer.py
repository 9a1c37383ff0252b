"""An MLP mixer of einops' layers, trained on patterns that it can learn."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat
from einops.layers.torch import EinMix, Rearrange, Reduce
from same import integers, normal, start
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.tokens = nn.Sequential(
            nn.LayerNorm(dim),
            EinMix("b t c -> b t1 c", weight_shape="t t1", bias_shape="t1", t=tokens, t1=2 * tokens),
            nn.GELU(),
            EinMix("b t c -> b t1 c", weight_shape="t t1", bias_shape="t1", t=2 * tokens, t1=tokens),
        )
        self.channels = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.tokens(x)
        return x + self.channels(x)


model = nn.Sequential(
    Rearrange("b c (h p) (w q) -> b (h w) (c p q)", p=4, q=4),
    nn.Linear(48, 32),
    Block(16, 32),
    Block(16, 32),
    Reduce("b t c -> b c", "mean"),
    nn.Linear(32, 5),
)
start(model, scale=0.15)
print(model)
images, labels = normal(32, 3, 16, 16), integers(5, 32)
loader = DataLoader(TensorDataset(images, labels), batch_size=8)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    print(f"epoch {epoch}: {total / len(images):.6f}")

x = images.clone().requires_grad_()
packed, shapes = pack([rearrange(x, "b c h w -> b (c h w)"), reduce(x, "b c h w -> b", "max")], "b *")
value = einsum(packed, repeat(packed, "b n -> k b n", k=2), "b n, k b n -> k")
value.prod().sqrt().backward()
print(shapes, value.tolist(), x.grad.norm().item())
