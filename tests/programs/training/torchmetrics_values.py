"""Metrics of torchmetrics during a training loop, by class and by function."""

import torch
import torchmetrics as tm
from same import integers, normal, start

x, y = normal(64, 6), integers(4, 64)
model = start(torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
task = {"task": "multiclass", "num_classes": 4}
metrics = tm.MetricCollection(
    {
        "accuracy": tm.Accuracy(**task),
        "f1": tm.F1Score(**task, average="macro"),
        "auroc": tm.AUROC(**task),
        "calibration": tm.CalibrationError(**task),
        "confusion": tm.ConfusionMatrix(**task),
    }
)
mean = tm.MeanMetric()
for _ in range(5):
    for part in range(0, 64, 16):
        optimizer.zero_grad()
        logits = model(x[part : part + 16])
        loss = torch.nn.functional.cross_entropy(logits, y[part : part + 16])
        loss.backward()
        optimizer.step()
        mean.update(loss.detach())
        metrics.update(logits.detach().softmax(-1), y[part : part + 16])
    print(
        {k: [round(e, 4) for e in v.flatten().tolist()] for k, v in metrics.compute().items()}, f"{mean.compute():.5f}"
    )
    metrics.reset()
    mean.reset()
