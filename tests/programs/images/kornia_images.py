"""Filters, colours and geometry of kornia, and a registration by gradient descent."""

import kornia
import torch
from same import normal

image = normal(1, 3, 24, 24).sigmoid()
print(kornia.filters.gaussian_blur2d(image, (5, 5), (1.2, 1.2)).std(), kornia.filters.sobel(image).mean())
print(
    kornia.color.rgb_to_hsv(image).mean(),
    kornia.color.rgb_to_lab(image).std(),
    kornia.color.rgb_to_grayscale(image).std(),
)
target = kornia.geometry.transform.translate(image, torch.tensor([[1.5, -0.7]]))
shift = torch.tensor([[0.3, -0.2]], requires_grad=True)
optimizer = torch.optim.Adam([shift], lr=0.2)
for _ in range(12):
    optimizer.zero_grad()
    moved = kornia.geometry.transform.translate(image, shift)
    loss = torch.nn.functional.l1_loss(kornia.filters.gaussian_blur2d(moved, (7, 7), (2.0, 2.0)), target)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.6f}", shift.detach())
print(kornia.losses.ssim_loss(image, target, 5), kornia.losses.total_variation(image))
