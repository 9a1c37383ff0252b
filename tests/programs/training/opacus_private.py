"""Gradients of single samples, clipped, as Opacus computes them, without the noise."""

import torch
from opacus import GradSampleModule
from opacus.accountants import RDPAccountant
from opacus.optimizers import DPOptimizer
from same import integers, normal, start

model = start(
    torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.GroupNorm(2, 4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3)
    )
)
wrapped = GradSampleModule(model)
inner = torch.optim.SGD(wrapped.parameters(), lr=0.2)
optimizer = DPOptimizer(inner, noise_multiplier=0.0, max_grad_norm=0.7, expected_batch_size=8)
x, labels = normal(8, 1, 8, 8), integers(3, 8)
for _ in range(6):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(wrapped(x), labels)
    loss.backward()
    norms = torch.stack([p.grad_sample.flatten(1).norm(dim=1) for p in wrapped.parameters()]).norm(dim=0)
    optimizer.step()
    print(f"{loss.item():.6f}", norms[:4])
accountant = RDPAccountant()
for _ in range(10):
    accountant.step(noise_multiplier=1.1, sample_rate=0.01)
print(f"{accountant.get_epsilon(delta=1e-5):.5f}")
