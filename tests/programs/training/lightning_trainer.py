"""A module of PyTorch Lightning, trained by its Trainer."""

import logging
import warnings

import pytorch_lightning as pl
import torch
from same import integers, normal, start
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        self.seen = []

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.seen.append(round(loss.item(), 6))
        self.log("train", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val", torch.nn.functional.cross_entropy(self.net(x), y))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.02)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]


model = start(Classifier())
loader = DataLoader(TensorDataset(normal(40, 6), integers(3, 40)), batch_size=10)
trainer = pl.Trainer(
    max_epochs=3,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    gradient_clip_val=1.0,
)
trainer.fit(model, loader, loader)
print("losses", model.seen)
print({k: round(v.item(), 6) for k, v in trainer.callback_metrics.items()})
