"""Meta-learning with higher: the gradient through some steps of an inner optimiser."""

import higher
import torch
from same import losses, normal, start

model = start(torch.nn.Sequential(torch.nn.Linear(1, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1)))
tasks = [(normal(10, 1, seed=s), normal(10, 1, seed=50 + s)) for s in range(4)]
for inner_kind in (torch.optim.SGD, torch.optim.Adam):
    inner = inner_kind(model.parameters(), lr=0.05)

    def loss():
        total = 0.0
        for x, y in tasks:
            with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (net, steps):
                for _ in range(3):
                    steps.step(((net(x) - y) ** 2).mean())
                total = total + ((net(x.flip(0)) - y.flip(0)) ** 2).mean()
        return total / len(tasks)

    losses(model, loss, torch.optim.Adam(model.parameters(), lr=1e-2), 8)
