"""Vector quantisation whose codes are learnt by gradients, and finite scalar quantisation."""

import torch
from same import losses, normal, start
from vector_quantize_pytorch import FSQ, LFQ, VectorQuantize

x = normal(4, 32, 8)
model = torch.nn.ModuleList(
    [
        torch.nn.Linear(8, 8),
        VectorQuantize(
            dim=8, codebook_size=16, ema_update=False, learnable_codebook=True, in_place_codebook_optimizer=None
        ),
        torch.nn.Linear(8, 8),
    ]
)
start(model)


def loss():
    z, codes, commit = model[1](model[0](x))
    return ((model[2](z) - x) ** 2).mean() + commit.sum()


losses(model, loss, torch.optim.AdamW(model.parameters(), 1e-2), 8)
fsq = start(FSQ([8, 5, 5], dim=8))
z, codes = fsq(x)
print(z.mean().item(), codes.float().mean().item())
lfq = start(LFQ(codebook_size=256, dim=8, entropy_loss_weight=0.1))
z, codes, extra = lfq(x)
print(z.mean().item(), codes.float().mean().item(), extra.item())
