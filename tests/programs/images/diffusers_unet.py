"""A denoising model of diffusers: noise of a schedule, a U-Net, and steps back."""

import torch
from diffusers import DDIMScheduler, DDPMScheduler, UNet2DModel
from same import losses, normal, start

images, noise = normal(2, 1, 16, 16), normal(2, 1, 16, 16, seed=7)
schedule = DDPMScheduler(num_train_timesteps=50)
steps = torch.tensor([5, 30])
noisy = schedule.add_noise(images, noise, steps)
model = start(
    UNet2DModel(
        sample_size=16,
        in_channels=1,
        out_channels=1,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    ),
    scale=0.1,
)


def loss():
    return torch.nn.functional.mse_loss(model(noisy, steps).sample, noise)


losses(model, loss, torch.optim.AdamW(model.parameters(), lr=1e-3), 5)
back = DDIMScheduler(num_train_timesteps=50)
back.set_timesteps(5)
x = noise
with torch.no_grad():
    for t in back.timesteps:
        x = back.step(model(x, t).sample, t, x).prev_sample
print("sample", x.mean(), x.std())
