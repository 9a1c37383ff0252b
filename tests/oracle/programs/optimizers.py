"""One small network trained by optimisers of many packages."""

import importlib
import warnings

import torch
from same import normal, start
from torch import nn

warnings.simplefilter("ignore")


def made(package, name, **options):
    def make(parameters):
        return getattr(importlib.import_module(package), name)(parameters, **options)

    return f"{package}.{name}", make


CHOICES = [
    made("lion_pytorch", "Lion", lr=1e-3, weight_decay=1e-2),
    made("madgrad", "MADGRAD", lr=1e-2),
    made("madgrad", "MirrorMADGRAD", lr=1e-2),
    made("prodigyopt", "Prodigy", lr=1.0),
    made("schedulefree", "AdamWScheduleFree", lr=1e-2),
    made("schedulefree", "SGDScheduleFree", lr=1e-1),
    *(
        made("torch_optimizer", name, lr=1e-2)
        for name in (
            "AccSGD AdaBelief AdaBound AdaMod AdamP AggMo Apollo DiffGrad Lamb "
            "LARS MADGRAD NovoGrad PID QHAdam QHM RAdam RangerQH RangerVA Ranger SGDP SGDW SWATS Shampoo Yogi"
        ).split()
    ),
]
x = normal(32, 6)
target = torch.sin(x.sum(1, keepdim=True))
for name, make in CHOICES:
    model = start(nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = make(model.parameters())
    if hasattr(optimizer, "train"):
        optimizer.train()
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = (model(x) - target).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.5f}")
    again = make(model.parameters())
    again.load_state_dict(optimizer.state_dict())
    print(name, *losses, len(again.state_dict()["state"]))
