"""A Kolmogorov-Arnold network of pykan."""

import torch
from kan import KAN
from same import losses, normal, start

x = normal(60, 2)
y = torch.sin(3 * x[:, :1]) + x[:, 1:] ** 2
model = KAN(width=[2, 3, 1], grid=3, k=3, seed=0, auto_save=False)
start(model, scale=0.2)
losses(
    model,
    lambda: ((model(x) - y) ** 2).mean(),
    torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 1e-2),
    10,
)
model.update_grid_from_samples(x)
print(((model(x) - y) ** 2).mean().item(), [round(s.item(), 5) for s in model.acts_scale[0].flatten()])
