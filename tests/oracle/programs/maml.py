"""Learning to learn: higher differentiates through inner steps of optimisers."""

import higher
import torch
from same import normal, start
from torch import nn
from torch.nn import functional as F

model = start(nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.BatchNorm1d(16), nn.Linear(16, 1)))
meta = torch.optim.Adam(model.parameters(), lr=1e-2)
for outer in range(4):
    meta.zero_grad()
    total = 0.0
    for task in range(2):
        support, query = normal(10, 3, seed=10 + task), normal(10, 3, seed=20 + task)
        inner = torch.optim.SGD(model.parameters(), lr=1e-1, momentum=0.9)
        with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (fmodel, diffopt):
            for _ in range(3):
                diffopt.step(F.mse_loss(fmodel(support), support.sum(1, keepdim=True)))
            loss = F.mse_loss(fmodel(query), query.sum(1, keepdim=True) + task)
            loss.backward()
            total += loss.item()
    meta.step()
    print(f"outer {outer}: {total:.6f}, gradient {model[0].weight.grad.norm().item():.6f}")

for kind in (torch.optim.Adam, torch.optim.Adagrad, torch.optim.RMSprop, torch.optim.Adadelta):
    rate = torch.tensor(0.05, requires_grad=True)
    with higher.innerloop_ctx(model, kind(model.parameters()), override={"lr": [rate]}) as (fmodel, diffopt):
        for _ in range(2):
            diffopt.step(fmodel(normal(10, 3)).pow(2).mean())
        (slope,) = torch.autograd.grad(fmodel(normal(10, 3)).pow(2).mean(), rate)
    print(kind.__name__, f"{slope.item():.6f}")
