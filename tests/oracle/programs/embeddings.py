"""Losses of pytorch-metric-learning, a flow of nflows, spiking neurons of snntorch."""

import snntorch
import torch
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.transforms.autoregressive import (
    MaskedAffineAutoregressiveTransform,
    MaskedPiecewiseRationalQuadraticAutoregressiveTransform,
)
from nflows.transforms.base import CompositeTransform
from nflows.transforms.permutations import ReversePermutation
from pytorch_metric_learning import distances, losses, miners
from same import integers, normal, start
from snntorch import surrogate
from torch import nn


def descend(name, parameters, loss):
    optimizer = torch.optim.Adam(parameters, lr=1e-2)
    found = []
    for _ in range(3):
        value = loss()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        found.append(f"{value.item():.5f}")
    print(name, *found)


x, labels = normal(12, 6), integers(3, 12)
for (
    name
) in "Triplet Contrastive Circle MultiSimilarity SupCon NPairs FastAP NTXent ArcFace ProxyAnchor SoftTriple".split():
    kind = getattr(losses, f"{name}{'MarginLoss' if name == 'Triplet' else 'Loss'}")
    own = start(kind(3, 4) if name in ("ArcFace", "ProxyAnchor", "SoftTriple") else kind(), seed=3)
    model = start(nn.Linear(6, 4))
    descend(name, [*model.parameters(), *own.parameters()], lambda: own(model(x), labels))  # noqa: B023
model, miner = start(nn.Linear(6, 4)), miners.MultiSimilarityMiner()
loss = losses.TripletMarginLoss(distance=distances.CosineSimilarity())
descend("mined", model.parameters(), lambda: loss(model(x), labels, miner(model(x), labels)))

steps = [
    ReversePermutation(3),
    MaskedAffineAutoregressiveTransform(3, 8),
    MaskedPiecewiseRationalQuadraticAutoregressiveTransform(3, 8, num_bins=4, tails="linear", tail_bound=3.0),
]
flow = start(Flow(CompositeTransform(steps), StandardNormal([3])))
descend("flow", flow.parameters(), lambda: -flow.log_prob(normal(16, 3)).mean())

first, second = start(nn.Linear(6, 8)), start(nn.Linear(8, 3), seed=5)
for neuron in (
    snntorch.Leaky(beta=0.9, spike_grad=surrogate.fast_sigmoid()),
    snntorch.Synaptic(alpha=0.8, beta=0.9, spike_grad=surrogate.atan()),
):

    def spiking(neuron=neuron):
        state, total = neuron.reset_mem(), 0.0
        state = state if isinstance(state, tuple) else (state,)
        for _ in range(5):
            spikes, *state = neuron(first(normal(4, 6).abs() * 4), *state)
            total = total + second(spikes).pow(2).mean()
        return total

    descend(type(neuron).__name__, [*first.parameters(), *second.parameters()], spiking)
