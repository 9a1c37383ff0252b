from time import perf_counter

from page import show

import gradpack as torch
from gradpack import saved

nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)

# Points on two spirals, and which of them each is on.
turn = torch.rand(300, 1).sqrt() * 7
side = torch.arange(300) % 2
angle = turn + torch.pi * side[:, None]
x = torch.cat([angle.cos(), angle.sin()], 1) * turn / 7 + 0.02 * torch.randn(300, 2)

model = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
show("graph", torch.autograd.graph.draw(model, x[:8], collapse=True).svg)

began = perf_counter()
for _ in range(200):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), side)
    loss.backward()
    optimizer.step()
    show("loss", loss.item())
right = (model(x).argmax(1) == side).float().mean().item()
show(
    "text", f"{right:.1%} of the points are on the right side, after {perf_counter() - began:.1f} s"
)

# What the tape keeps in one more step: by itself, and with activations quantized to 8 bits.
with saved.record(title="one step") as record:
    F.cross_entropy(model(x), side).backward()
show("kept", record.html())
with saved.record() as quantized, saved.quantize():
    F.cross_entropy(model(x), side).backward()
show("text", f"kept for backward: {record.peak} bytes, and {quantized.peak} with saved.quantize()")
