"""Functions of kornia on images, and their gradients."""

import kornia
import torch
from same import integers, normal

images = torch.sigmoid(normal(2, 3, 16, 16)).requires_grad_()
classes = integers(3, 2, 16, 16)
turned = torch.tensor([[[1.0, 0.1, 2.0], [0.0, 0.9, 1.0]]]).repeat(2, 1, 1)

FUNCTIONS = {
    "gaussian": lambda x: kornia.filters.gaussian_blur2d(x, (3, 3), (1.5, 1.5)),
    "sobel": kornia.filters.sobel,
    "median": lambda x: kornia.filters.median_blur(x, (3, 3)),
    "bilateral": lambda x: kornia.filters.bilateral_blur(x, (3, 3), 0.1, (1.5, 1.5)),
    "canny": lambda x: kornia.filters.canny(x)[0],
    "hsv": kornia.color.rgb_to_hsv,
    "gray": kornia.color.rgb_to_grayscale,
    "rotated": lambda x: kornia.geometry.rotate(x, torch.tensor([30.0, -15.0])),
    "affine": lambda x: kornia.geometry.warp_affine(x, turned, (12, 12)),
    "resized": lambda x: kornia.geometry.resize(x, (9, 11)),
    "pyramid": kornia.geometry.pyrdown,
    "elastic": lambda x: kornia.geometry.transform.elastic_transform2d(x, normal(2, 2, 16, 16)),
    "similarity": lambda x: kornia.losses.ssim_loss(x, x.detach().flip(-1), 5),
    "variation": kornia.losses.total_variation,
    "equalized": kornia.enhance.equalize,
    "dilation": lambda x: kornia.morphology.dilation(x, torch.ones(3, 3)),
    "harris": kornia.feature.harris_response,
    "distances": lambda x: kornia.contrib.distance_transform(x[:, :1]),
    "dice": lambda x: kornia.losses.dice_loss(x, classes),
    "lovasz": lambda x: kornia.losses.lovasz_softmax_loss(x, classes),
    "argmax": kornia.geometry.spatial_soft_argmax2d,
    "rotations": lambda x: kornia.geometry.axis_angle_to_rotation_matrix(x.reshape(-1, 3)),
}

for name, function in FUNCTIONS.items():
    found = function(images)
    weights = torch.cos(torch.arange(found.numel(), dtype=found.dtype)).reshape(found.shape)
    (gradient,) = torch.autograd.grad((found * weights).sum(), images)
    print(name, tuple(found.shape), f"{found.mean().item():.6f} {gradient.abs().mean().item():.6f}")
