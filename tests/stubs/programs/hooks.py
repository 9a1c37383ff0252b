"""Hooks on saved tensors and on gradients."""

from __future__ import annotations

import gradpack as torch

kept: list[torch.Size] = []


def pack(t: torch.Tensor) -> torch.Tensor:
    kept.append(t.shape)
    return t.to(torch.float16)


def unpack(t: torch.Tensor) -> torch.Tensor:
    return t.to(torch.float32)


x = torch.randn(3, 4, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = torch.exp(x).sum()
handle = x.register_hook(lambda g: 2 * g)
y.backward()
handle.remove()
assert x.grad is not None and x.grad.shape == (3, 4)
rows, columns = x.shape
assert kept[0].numel() == rows * columns
