"""Losses, miners and distances of pytorch-metric-learning."""

import torch
from pytorch_metric_learning import distances, miners, reducers, regularizers
from pytorch_metric_learning import losses as kinds
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator  # noqa: F401
from same import integers, losses, normal, start

x, labels = normal(32, 10), integers(4, 32)
for make in (
    lambda: kinds.TripletMarginLoss(distance=distances.CosineSimilarity(), reducer=reducers.ThresholdReducer(low=0)),
    lambda: kinds.ContrastiveLoss(embedding_regularizer=regularizers.LpRegularizer()),
    lambda: kinds.NTXentLoss(temperature=0.2),
    lambda: kinds.MultiSimilarityLoss(),
    lambda: kinds.ArcFaceLoss(4, 8),
    lambda: kinds.ProxyNCALoss(4, 8),
    lambda: kinds.CircleLoss(),
    lambda: kinds.SupConLoss(),
    lambda: kinds.LiftedStructureLoss(),
):
    loss = make()
    model = start(torch.nn.ModuleList([torch.nn.Linear(10, 8), loss]))
    miner = miners.MultiSimilarityMiner() if isinstance(loss, kinds.TripletMarginLoss) else None

    def value():
        e = model[0](x)
        return loss(e, labels, miner(e, labels)) if miner else loss(e, labels)

    losses(model, value, torch.optim.Adam(model.parameters(), 1e-2), 5)
