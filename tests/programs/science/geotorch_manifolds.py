"""Weights on manifolds by geotorch."""

import geotorch
import torch
from same import losses, normal

x, y = normal(20, 6), normal(20, 6, seed=3)
for constrain in (geotorch.orthogonal, geotorch.sln, geotorch.positive_definite):
    layer = torch.nn.Linear(6, 6, bias=False)
    constrain(layer, "weight")
    layer.weight = torch.eye(6)
    criterion = torch.nn.functional.mse_loss
    losses(layer, lambda f=layer: criterion(f(x), y), torch.optim.SGD(layer.parameters(), lr=0.1), 8)
    print(layer.weight.detach()[0])
