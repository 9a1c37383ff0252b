"""Neural spline and masked flows with a context."""

import torch
import zuko
from same import losses, normal, start

points, context = normal(64, 3), normal(64, 2, seed=5)
for make in (zuko.flows.NSF, zuko.flows.MAF, zuko.flows.NICE):
    flow = start(make(3, 2, transforms=2, hidden_features=[16, 16]))
    losses(flow, lambda f=flow: -f(context).log_prob(points).mean(), torch.optim.AdamW(flow.parameters(), lr=0.01), 8)
