"""Optimal transport of POT and geomloss, whose gradients move points."""

import geomloss
import ot
import torch
from same import normal

x = normal(30, 2).requires_grad_()
y = normal(30, 2, seed=5) * 0.5 + 2
optimizer = torch.optim.SGD([x], lr=0.5)
weights = torch.full((30,), 1 / 30)
for name, loss in (
    ("emd", lambda: ot.emd2(weights, weights, ot.dist(x, y))),
    ("sinkhorn", lambda: ot.sinkhorn2(weights, weights, ot.dist(x, y), 1.0, numItermax=50)),
    (
        "sliced",
        lambda: ot.sliced_wasserstein_distance(
            x, y, projections=torch.nn.functional.normalize(normal(2, 10, seed=9), dim=0)
        ),
    ),
    ("geom", lambda: geomloss.SamplesLoss("sinkhorn", p=2, blur=0.3, backend="tensorized")(x, y)),
    ("energy", lambda: geomloss.SamplesLoss("energy", backend="tensorized")(x, y)),
    ("gaussian", lambda: geomloss.SamplesLoss("gaussian", blur=1.0, backend="tensorized")(x, y)),
):
    found = []
    for _ in range(4):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        found.append(round(value.item(), 6))
    print(name, found, x[:2].detach())
print(ot.gromov_wasserstein2(ot.dist(x, x), ot.dist(y, y), weights, weights).item())
