"""A U-Net of denoising-diffusion-pytorch with its Gaussian diffusion, at fixed times and noise."""

import torch
from denoising_diffusion_pytorch import GaussianDiffusion, Unet
from same import losses, normal, start

net = start(Unet(dim=8, dim_mults=(1, 2), channels=1, flash_attn=False), scale=0.1)
diffusion = GaussianDiffusion(net, image_size=16, timesteps=50, objective="pred_v", beta_schedule="cosine")
x, noise, t = torch.sigmoid(normal(4, 1, 16, 16)), normal(4, 1, 16, 16, seed=7), torch.tensor([3, 10, 25, 40])
losses(net, lambda: diffusion.p_losses(x, t, noise=noise), torch.optim.Adam(net.parameters(), 1e-3), 6)
with torch.no_grad():
    mean, variance, _, start_x = diffusion.p_mean_variance(noise, t, clip_denoised=True)
print(mean.std().item(), variance.flatten(), start_x.mean().item())
