"""Neural ODEs of torchdyn with its solvers."""

import torch
from same import losses, normal, start
from torchdyn.core import NeuralODE

x, y = normal(32, 2), normal(32, 2, seed=4)
for solver in ("rk4", "dopri5", "tsit5"):
    for sensitivity in ("autograd", "adjoint"):
        net = start(torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)))
        model = NeuralODE(net, sensitivity=sensitivity, solver=solver, atol=1e-4, rtol=1e-4)
        span = torch.linspace(0, 1, 5)
        losses(
            model, lambda m=model: ((m(x, span)[1][-1] - y) ** 2).mean(), torch.optim.Adam(model.parameters(), 1e-2), 4
        )
