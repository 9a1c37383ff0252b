"""A search by expected improvement over a fitted Gaussian process, in float64."""

import torch
from botorch.acquisition import ExpectedImprovement, LogExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.set_default_dtype(torch.float64)
x = torch.linspace(0, 1, 8).reshape(-1, 1)
y = torch.sin(5 * x) * x
for _ in range(3):
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    grid = torch.linspace(0, 1, 25).reshape(-1, 1, 1)
    values = LogExpectedImprovement(model, best_f=y.max())(grid)
    point = grid[values.argmax()].reshape(1, 1).requires_grad_()
    optimizer = torch.optim.Adam([point], lr=0.02)
    bound = UpperConfidenceBound(model, beta=0.2)
    for _ in range(10):
        optimizer.zero_grad()
        loss = -bound(point.unsqueeze(0)).sum()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.5f} {point.item():.5f} {ExpectedImprovement(model, y.max())(grid).max().item():.5f}")
    x = torch.cat([x, point.detach()])
    y = torch.cat([y, torch.sin(5 * point.detach()) * point.detach()])
