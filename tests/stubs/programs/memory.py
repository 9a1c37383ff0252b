"""Checkpoints, autocast, saving to a file, data loaders."""

from __future__ import annotations

import io
from collections.abc import Iterator

import gradpack as torch
from gradpack import nn
from gradpack.utils.checkpoint import checkpoint
from gradpack.utils.data import DataLoader, TensorDataset

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
data = TensorDataset(torch.randn(16, 4), torch.randn(16, 1))


def losses() -> Iterator[float]:
    for x, y in DataLoader(data, batch_size=4, shuffle=True):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = checkpoint(model, x, use_reentrant=False)
        loss = nn.MSELoss()(out.float(), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        yield loss.item()


assert len([*losses()]) == 4
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
loaded = torch.load(file)
model.load_state_dict(loaded["model"])
for name, p in model.named_parameters():
    assert p.requires_grad and name.split(".")[-1] in ("weight", "bias")
