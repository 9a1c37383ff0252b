"""A flow of real-NVP blocks."""

import normflows as nf
import torch
from same import losses, normal, start

points = normal(64, 2)
blocks = []
for _ in range(3):
    blocks += [nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 16, 16, 2])), nf.flows.Permute(2, mode="swap")]
flow = start(nf.NormalizingFlow(nf.distributions.base.DiagGaussian(2), blocks))
losses(flow, lambda: flow.forward_kld(points), torch.optim.Adam(flow.parameters(), lr=0.01), 12)
