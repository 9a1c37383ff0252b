"""A flow of affine couplings and permutations that learns a density."""

import torch
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.nn.nets import ResidualNet
from nflows.transforms import (
    CompositeTransform,
    MaskedAffineAutoregressiveTransform,
    PiecewiseRationalQuadraticCouplingTransform,
    ReversePermutation,
)
from same import losses, normal, start

points = normal(64, 2)
points = torch.stack([points[:, 0], points[:, 1] + points[:, 0] ** 2], 1)
spline = PiecewiseRationalQuadraticCouplingTransform(
    torch.tensor([0, 1]), lambda i, o: ResidualNet(i, o, hidden_features=8), tails="linear", tail_bound=4.0, num_bins=4
)
layers = [MaskedAffineAutoregressiveTransform(2, 16), ReversePermutation(2), spline]
flow = start(Flow(CompositeTransform(layers), StandardNormal([2])))
losses(flow, lambda: -flow.log_prob(points).mean(), torch.optim.Adam(flow.parameters(), lr=0.01), 15)
latent, determinant = CompositeTransform(layers)(points[:4])
print(latent.detach(), determinant.detach())
