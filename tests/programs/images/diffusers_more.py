"""A conditional U-Net, an autoencoder and schedules of diffusers."""

import torch
from diffusers import (
    AutoencoderKL,
    DiTTransformer2DModel,
    DPMSolverMultistepScheduler,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
    PNDMScheduler,
    UNet2DConditionModel,
    UniPCMultistepScheduler,
)
from same import losses, normal, start

x, text, noise = normal(2, 4, 8, 8), normal(2, 5, 16, seed=5), normal(2, 4, 8, 8, seed=6)
unet = start(
    UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        layers_per_block=1,
        cross_attention_dim=16,
        attention_head_dim=4,
        norm_num_groups=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    ),
    scale=0.1,
)
t = torch.tensor([3, 40])
losses(
    unet,
    lambda: torch.nn.functional.mse_loss(unet(x, t, text).sample, noise),
    torch.optim.AdamW(unet.parameters(), 1e-3),
    4,
)
vae = start(
    AutoencoderKL(
        in_channels=3,
        out_channels=3,
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
        norm_num_groups=4,
        sample_size=16,
    ),
    scale=0.1,
)
images = normal(2, 3, 16, 16, seed=8)


def loss():
    code = vae.encode(images).latent_dist
    return torch.nn.functional.mse_loss(vae.decode(code.mode()).sample, images) + 1e-3 * code.kl().mean()


losses(vae, loss, torch.optim.AdamW(vae.parameters(), 1e-3), 4)
dit = start(
    DiTTransformer2DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        in_channels=4,
        num_layers=2,
        sample_size=8,
        patch_size=2,
        num_embeds_ada_norm=10,
        norm_num_groups=4,
        dropout=0.0,
    ),
    scale=0.1,
)
dit.eval()
print(dit(x, t, class_labels=torch.tensor([1, 2])).sample.std().item())
unet.eval()
for kind in (
    DPMSolverMultistepScheduler,
    EulerDiscreteScheduler,
    PNDMScheduler,
    UniPCMultistepScheduler,
    FlowMatchEulerDiscreteScheduler,
):
    schedule = kind(num_train_timesteps=100)
    schedule.set_timesteps(6)
    y = noise * getattr(schedule, "init_noise_sigma", 1.0)
    with torch.no_grad():
        for step in schedule.timesteps:
            inputs = schedule.scale_model_input(y, step) if hasattr(schedule, "scale_model_input") else y
            y = schedule.step(unet(inputs, step, text).sample, step, y).prev_sample
    print(kind.__name__, y.mean().item(), y.std().item())
