"""A physics-informed network of DeepXDE for Poisson's equation."""

import os

os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde  # noqa: E402
import numpy as np
import torch
from same import losses, start

net = start(dde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot uniform"))
x = torch.linspace(-1, 1, 32)[:, None].requires_grad_()


def loss():
    y = net(x)
    residual = dde.grad.hessian(y, x) + np.pi**2 * torch.sin(np.pi * x)
    dde.grad.clear()
    return (residual**2).mean() + (net(torch.tensor([[-1.0], [1.0]])) ** 2).sum()


losses(net, loss, torch.optim.Adam(net.parameters(), 1e-3), 15)
