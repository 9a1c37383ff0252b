"""Tensors as arrays: making, indexing, joining, writing in place."""

from __future__ import annotations

import numpy as np

import gradpack as torch

x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
y = torch.from_numpy(np.ones((3, 4), dtype=np.float32))
first, *others = torch.stack([x, y]).unbind(0)
left, right = torch.split(x, 2, dim=1)
rows = torch.cat((left, right), dim=-1)[1:, ..., None]
picked = x[x > 3]
corner = x[torch.tensor([0, 1]), [2, 3]]
x[0, 1:3] = -1.0
x[:, 0] += 10
x.clamp_(min=0).mul_(2).add_(1, alpha=0.5)
z = torch.where(x > 1, x, torch.zeros_like(x))
places: tuple[torch.Tensor, ...] = torch.where(x > 1)
table: torch.Tensor = torch.nonzero(x)
unique, counts = torch.unique(x, return_counts=True)
grid = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
array = z.detach().cpu().numpy()
numbers: list[list[float]] = z.tolist()
total = sum(len(row) for row in numbers)
more = x.view(2, 6).permute(1, 0).contiguous().view(-1).expand(2, -1).repeat(1, 2)
like = torch.full((2, 2), 0.5).new_zeros(3).to(x)
wide = 1 - 2 / (1 + x) ** 2 - -x // 3 % 2
flags = (x > 1) & ~(y < 0) | (x == y)
assert array.shape == (3, 4) and total == 12 and first.shape == others[0].shape and flags.any()
assert rows.size(-1) == 1 and picked.numel() + corner.numel() > 0 and len(places) == table.shape[1] == 2
assert unique.numel() == counts.numel() and len(grid) == 2 and more.shape == (2, 24) and like.dtype == wide.dtype
