"""Second-order quantities of BackPACK: single gradients, variances, Gauss-Newton diagonals, Kronecker factors."""

import torch
from backpack import backpack, extend
from backpack.extensions import KFLR, BatchGrad, BatchL2Grad, DiagGGNExact, DiagHessian, Variance
from same import integers, normal, start

x, labels = normal(12, 6), integers(3, 12)
model = extend(start(torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Sigmoid(), torch.nn.Linear(8, 3))))
criterion = extend(torch.nn.CrossEntropyLoss())
for step in range(5):
    model.zero_grad()
    loss = criterion(model(x), labels)
    with backpack(BatchGrad(), BatchL2Grad(), Variance(), DiagGGNExact(), DiagHessian(), KFLR()):
        loss.backward()
    print(f"{step} {loss.item():.6f}")
    for p in model.parameters():
        print(
            f"{p.grad_batch.abs().sum().item():.5f} {p.variance.sum().item():.6f} {p.diag_ggn_exact.sum().item():.5f}"
        )
        print(f"{p.diag_h.sum().item():.5f} {[round(k.sum().item(), 5) for k in p.kflr]} {p.batch_l2.sum().item():.5f}")
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.5 * p.grad / (p.diag_ggn_exact + 0.1)
