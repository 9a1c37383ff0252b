"""Fourier neural operators on fields of one and two dimensions."""

import torch
from neuralop.losses import H1Loss, LpLoss
from neuralop.models import FNO, TFNO
from same import losses, normal

for model, x, y, d in (
    (
        FNO(n_modes=(8,), in_channels=1, out_channels=1, hidden_channels=12, n_layers=2),
        normal(4, 1, 32),
        normal(4, 1, 32, seed=3),
        1,
    ),
    (
        FNO(n_modes=(6, 6), in_channels=2, out_channels=1, hidden_channels=12, n_layers=2),
        normal(3, 2, 16, 16),
        normal(3, 1, 16, 16, seed=3),
        2,
    ),
    (
        TFNO(n_modes=(6, 6), in_channels=2, out_channels=1, hidden_channels=12, n_layers=2, rank=0.3),
        normal(3, 2, 16, 16),
        normal(3, 1, 16, 16, seed=3),
        2,
    ),
):
    with torch.no_grad():
        for i, (name, p) in enumerate(sorted(model.named_parameters())):
            p.copy_(normal(*p.shape, seed=i, dtype=p.dtype) * 0.2)
    lp, h1 = LpLoss(d=d, p=2), H1Loss(d=d)
    losses(model, lambda: lp(model(x), y), torch.optim.AdamW(model.parameters(), 1e-3), 4)
    losses(model, lambda: h1(model(x), y), torch.optim.AdamW(model.parameters(), 1e-3), 4)
