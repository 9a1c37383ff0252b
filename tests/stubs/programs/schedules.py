"""Optimizers, schedules of learning rates, averages of weights."""

from __future__ import annotations

import gradpack as torch
from gradpack import nn, optim
from gradpack.optim.lr_scheduler import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    OneCycleLR,
    ReduceLROnPlateau,
    SequentialLR,
)
from gradpack.optim.swa_utils import SWALR, AveragedModel, update_bn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opts: list[optim.Optimizer] = [
    optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True),
    optim.Adam(model.parameters(), lr=1e-3, amsgrad=True),
    optim.AdamW([{"params": model[0].parameters(), "lr": 1e-4}, {"params": model[2].parameters()}], lr=1e-3),
    optim.RMSprop(model.parameters(), alpha=0.9, centered=True),
    optim.Adagrad(model.parameters()),
    optim.Adadelta(model.parameters()),
    optim.NAdam(model.parameters()),
    optim.RAdam(model.parameters()),
    optim.Adamax(model.parameters()),
    optim.ASGD(model.parameters()),
    optim.Rprop(model.parameters()),
]
x, y = torch.randn(16, 4), torch.randn(16, 1)
for opt in opts:
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
lbfgs = optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")


def closure() -> float:
    lbfgs.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss.item()


print(lbfgs.step(closure))
opt = optim.SGD(model.parameters(), lr=0.1)
scheds: list[LRScheduler] = [
    CosineAnnealingLR(opt, T_max=10, eta_min=1e-4),
    CosineAnnealingWarmRestarts(opt, T_0=5, T_mult=2),
    ExponentialLR(opt, gamma=0.9),
    LambdaLR(opt, lr_lambda=lambda epoch: 0.95**epoch),
    LambdaLR(opt, lr_lambda=[lambda e: 1.0]),
    MultiStepLR(opt, milestones=[3, 6], gamma=0.1),
    LinearLR(opt, start_factor=0.1, total_iters=4),
    OneCycleLR(opt, max_lr=0.1, total_steps=20),
    CyclicLR(opt, base_lr=0.01, max_lr=0.1, cycle_momentum=False),
    SequentialLR(opt, schedulers=[LinearLR(opt), ExponentialLR(opt, 0.9)], milestones=[2]),
]
for s in scheds:
    opt.step()
    s.step()
    print(type(s).__name__, s.get_last_lr(), s.last_epoch)
plateau = ReduceLROnPlateau(opt, mode="min", factor=0.5, patience=2)
plateau.step(0.3)
plateau.step(torch.tensor(0.3))
for group in opt.param_groups:
    group["lr"] *= 0.5
    for p in group["params"]:
        if p.grad is not None:
            p.grad.data.clamp_(-1, 1)
swa = AveragedModel(model)
swa_s = SWALR(opt, swa_lr=0.05, anneal_epochs=3)
swa.update_parameters(model)
swa_s.step()
update_bn([x], swa)
ema = AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.99))
print(opt.state_dict()["param_groups"][0]["lr"], opt.defaults["lr"], len(opt.state), swa.module, ema.n_averaged)
opt.add_param_group({"params": [torch.zeros(2, requires_grad=True)], "lr": 0.1})
