"""A neural posterior estimator of sbi: its loss on simulations of NumPy."""

import torch
from same import losses, normal, start
from sbi.neural_nets.net_builders import build_mdn, build_nsf

theta, x = normal(200, 3), normal(200, 4, seed=5)
for build in (build_nsf, build_mdn):
    net = start(
        build(theta, x, hidden_features=16, num_transforms=2)
        if build is not build_mdn
        else build(theta, x, hidden_features=16)
    )
    losses(net, lambda n=net: n.loss(theta, x).mean(), torch.optim.Adam(net.parameters(), 5e-3), 8)
    print(net.log_prob(theta[None, :5], x[:5]).detach())
