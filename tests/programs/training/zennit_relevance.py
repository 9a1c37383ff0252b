"""Relevances of zennit's rules."""

import torch
from same import integers, losses, normal, start
from zennit.attribution import Gradient, IntegratedGradients, SmoothGrad  # noqa: F401
from zennit.composites import EpsilonGammaBox, EpsilonPlus, GuidedBackprop

model = start(
    torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(36, 12),
        torch.nn.ReLU(),
        torch.nn.Linear(12, 3),
    )
)
x, labels = normal(4, 1, 8, 8), integers(3, 4)
losses(
    model, lambda: torch.nn.functional.cross_entropy(model(x), labels), torch.optim.Adam(model.parameters(), 1e-2), 5
)
for composite in (EpsilonPlus(), EpsilonGammaBox(low=-3.0, high=3.0), GuidedBackprop(), None):
    with Gradient(model=model, composite=composite) as attributor:
        out, relevance = attributor(x, torch.eye(3)[labels])
    print(type(composite).__name__, relevance.sum(dim=(1, 2, 3)), relevance.abs().mean().item())
with IntegratedGradients(model=model, n_iter=8) as attributor:
    print(attributor(x, torch.eye(3)[labels])[1].sum(dim=(1, 2, 3)))
