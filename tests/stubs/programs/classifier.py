"""A small classifier with modules, an optimizer and a schedule."""

from __future__ import annotations

import gradpack as torch
from gradpack import nn
from gradpack.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(hidden, classes, bias=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.drop(F.gelu(self.norm(self.first(x))))
        logits: torch.Tensor = self.last(hidden)
        return logits


def accuracy(logits: torch.Tensor, labels: torch.Tensor) -> float:
    return (logits.argmax(dim=-1) == labels).float().mean().item()


torch.manual_seed(0)
model = Classifier(4, 16, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
x, labels = torch.randn(32, 4), torch.randint(0, 3, (32,))
for _ in range(10):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), labels, label_smoothing=0.1)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    schedule.step()
model.eval()
with torch.inference_mode():
    share = accuracy(model(x), labels)
state = model.state_dict()
model.load_state_dict(state)
assert 0 <= share <= 1
