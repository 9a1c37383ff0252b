"""Convolutions, pooling and interpolation."""

from __future__ import annotations

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import nn

net = nn.Sequential(nn.Conv2d(3, 8, kernel_size=3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
images = torch.rand(2, 3, 8, 8)
features = net(images).flatten(1)
pooled, where = F.max_pool2d(images, 2, return_indices=True)
restored = F.max_unpool2d(pooled, where, kernel_size=2)
larger = F.interpolate(images, scale_factor=2.0, mode="bilinear", align_corners=False)
padded = F.pad(images, (1, 1, 2, 2), mode="constant", value=0.5)
weight = torch.ones(4, 3, 3, 3)
out = F.conv2d(images, weight, None, stride=2, padding="valid") if images.is_cpu else images
small: torch.Tensor = F.avg_pool2d(images, (2, 2)).to(device="cpu", dtype=torch.float64)
assert features.size() == (2, 8) and restored.size(0) == 2 and larger.shape[-1] == 16 and padded.ndim == 4
assert out.dim() == 4 and small.dtype is torch.double and small.stride(-1) == 1
