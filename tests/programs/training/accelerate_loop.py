"""A loop of accelerate with accumulated gradients and clipping."""

import torch
from accelerate import Accelerator
from same import integers, normal, start
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = start(torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.GELU(), torch.nn.Linear(16, 3)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
loader = DataLoader(TensorDataset(normal(40, 6), integers(3, 40)), batch_size=10)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
for _ in range(3):
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        print(f"{accelerator.gather_for_metrics(loss.detach()).mean().item():.6f}")
