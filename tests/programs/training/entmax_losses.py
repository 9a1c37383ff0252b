"""Sparse softmaxes and their losses, with optimisers of torch_optimizer."""

import entmax
import torch
import torch_optimizer
from same import integers, losses, normal, start

x, labels = normal(16, 6), integers(5, 16)
for loss_of in (
    entmax.Sparsemax15Loss if hasattr(entmax, "Sparsemax15Loss") else entmax.SparsemaxLoss,
    entmax.Entmax15Loss,
):
    for make in (torch_optimizer.RAdam, torch_optimizer.Lamb, torch_optimizer.Yogi, torch_optimizer.DiffGrad):
        model = start(torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 5)))
        criterion = loss_of()
        losses(model, lambda m=model, c=criterion: c(m(x), labels).mean(), make(model.parameters(), lr=0.01), 6)
print(entmax.sparsemax(x[:2], dim=-1), entmax.entmax15(x[:2], dim=-1), entmax.entmax_bisect(x[:2], alpha=1.3))
