"""Weights that stay on manifolds: geotorch's parametrizations."""

import geotorch
import torch
from same import normal, start
from torch import nn

torch.set_default_dtype(torch.float64)


def rnn(constraint, n=6):
    torch.manual_seed(0)
    cell = start(nn.RNNCell(3, n))
    constraint(cell, "weight_hh")
    return cell


x, target = normal(5, 4, 3, dtype=torch.float64), normal(4, 6, seed=3, dtype=torch.float64)
for name in ("orthogonal", "skew", "symmetric", "grassmannian", "sln", "low_rank", "fixed_rank", "positive_definite"):
    options = {"rank": 2} if name in ("low_rank", "fixed_rank") else {}
    cell = rnn(lambda m, w, name=name, options=options: getattr(geotorch, name)(m, w, **options))
    with torch.no_grad():
        raw = cell.weight_hh
        if name in ("orthogonal", "grassmannian"):
            cell.weight_hh = torch.linalg.qr(normal(6, 6, seed=9, dtype=torch.float64)).Q
        elif name in ("positive_definite",):
            cell.weight_hh = torch.diag(torch.arange(1.0, 7.0)) + 0.1
        elif name == "sln":
            cell.weight_hh = torch.diag(torch.tensor([2.0, 0.5, 1, 1, 4.0, 0.25]))
        elif name in ("low_rank", "fixed_rank"):
            b = normal(6, 2, seed=9, dtype=torch.float64)
            cell.weight_hh = b @ b.T
        elif name == "skew":
            b = normal(6, 6, seed=9, dtype=torch.float64) * 0.3
            cell.weight_hh = b - b.T
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.05)
    losses = []
    for _ in range(4):
        h = torch.zeros(4, 6)
        with nn.utils.parametrize.cached():
            for step in x:
                h = cell(step, h)
        loss = (h - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.6f}")
    print(name, *losses, f"{torch.linalg.norm(cell.weight_hh).item():.6f}")
