"""A training engine of ignite with metrics and handlers."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import LRScheduler
from ignite.metrics import Accuracy, ConfusionMatrix, Loss
from same import integers, normal, start
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(normal(40, 6), integers(3, 40))
loader = DataLoader(data, batch_size=10)
model = start(torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
criterion = torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, criterion)
metrics = {"accuracy": Accuracy(), "loss": Loss(criterion), "confusion": ConfusionMatrix(3)}
evaluator = create_supervised_evaluator(model, metrics=metrics)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 4, gamma=0.7)
trainer.add_event_handler(Events.ITERATION_COMPLETED, LRScheduler(schedule))


@trainer.on(Events.EPOCH_COMPLETED)
def report(engine):
    found = evaluator.run(loader).metrics
    print(
        engine.state.epoch, f"{engine.state.output:.6f}", f"{found['loss']:.6f}", found["accuracy"], found["confusion"]
    )


trainer.run(loader, max_epochs=4)
