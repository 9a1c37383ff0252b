"""A line through points, by gradient descent."""

from __future__ import annotations

import gradpack as torch


def fit(x: torch.Tensor, y: torch.Tensor, steps: int = 100, lr: float = 0.1) -> tuple[float, float]:
    weight = torch.zeros(1, requires_grad=True)
    bias = torch.zeros(1, requires_grad=True)
    for _ in range(steps):
        loss = ((weight * x + bias - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (weight, bias):
                assert p.grad is not None
                p -= lr * p.grad
                p.grad = None
    return weight.item(), float(bias.detach())


points = torch.linspace(-1, 1, 20)
slope, height = fit(points, 2 * points + 1)
assert abs(slope - 2) < 0.1 and abs(height - 1) < 0.1
