"""Losses and layers of several packages: entmax, pytorch-msssim, egnn-pytorch, siren-pytorch, nystrom-attention."""

import torch
from egnn_pytorch import EGNN
from entmax import Entmax15Loss, SparsemaxLoss, entmax15, entmax_bisect, sparsemax
from nystrom_attention import Nystromformer
from pytorch_msssim import MS_SSIM, ssim
from same import integers, normal, start
from siren_pytorch import SirenNet

x = normal(4, 6).requires_grad_()
for name, f in (
    ("sparsemax", sparsemax),
    ("1.5", entmax15),
    ("1.3", lambda x, dim: entmax_bisect(x, alpha=1.3, dim=dim)),
):
    y = f(x, dim=-1)
    (gradient,) = torch.autograd.grad((y * normal(4, 6, seed=8)).sum(), x)
    print("entmax", name, [round(v, 5) for v in y[0].tolist()], f"{gradient.norm().item():.5f}")
alpha = torch.tensor(1.7, requires_grad=True)
entmax_bisect(x, alpha=alpha, dim=-1).pow(2).sum().backward()
print("by alpha", f"{alpha.grad.item():.5f}")
print(f"{SparsemaxLoss()(x, integers(6, 4)).item():.5f} {Entmax15Loss()(x, integers(6, 4)).item():.5f}")

image = normal(1, 3, 176, 176).sigmoid().requires_grad_()
other = image.detach() * 0.9 + 0.05
for value in (ssim(image, other, data_range=1.0), MS_SSIM(data_range=1.0)(image, other * 0.9)):
    (gradient,) = torch.autograd.grad(value, image)
    print("similarity", f"{value.item():.4f} {gradient.norm().item():.4f}")

layer = start(EGNN(dim=8), scale=0.1)
features, places = layer(normal(1, 6, 8), normal(1, 6, 3))
(features.sum() + places.pow(2).sum()).backward()
print("egnn", f"{features.sum().item():.4f}", f"{sum(p.grad.norm() for p in layer.parameters()).item():.4f}")

for name, model, data in (
    ("siren", SirenNet(dim_in=2, dim_hidden=16, dim_out=3, num_layers=2, w0_initial=30.0), normal(10, 2)),
    ("nystrom", Nystromformer(dim=16, dim_head=8, heads=2, depth=1, num_landmarks=4), normal(1, 20, 16)),
):
    start(model, scale=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(3):
        loss = model(data).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(name, f"{loss.item():.5f}")
