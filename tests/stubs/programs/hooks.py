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
node = (x * 2).grad_fn
assert node is not None
node.metadata["seen"] = 1
node.register_hook(lambda inputs, outputs: None).remove()
print(node.name(), [n for n, _ in node.next_functions if n is not None])
for row in x.detach():
    row.add_(1)
weight = torch.nn.Parameter(torch.ones(2))
with torch.no_grad():
    for p in (weight,):
        p -= 0.1 * torch.ones(2)
checked: torch.nn.Parameter = weight
