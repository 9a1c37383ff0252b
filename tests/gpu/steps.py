"""Steps of training, on whatever device."""

from __future__ import annotations

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import saved


def model_of(where):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 4)
    ).to(where)


def train(where, make=torch.optim.AdamW, policy=None, low=None):
    """The losses of three steps."""
    model = model_of(where)
    optimizer = make(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(where, enabled=low is not None)
    x, y = torch.randn(5, 1, 6, 6).to(where), torch.tensor([0, 1, 2, 3, 0], device=where)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast(where, dtype=low or torch.bfloat16, enabled=low is not None):
            with saved.bypass() if policy is None else policy:
                loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert {p.device.type for p in model.parameters()} == {torch.device(where).type}
    return losses
