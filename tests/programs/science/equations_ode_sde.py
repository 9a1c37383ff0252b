"""Neural differential equations: torchdiffeq with the adjoint, torchcde with splines, and a torchsde without noise."""

import torch
import torchcde
import torchsde
from same import losses, normal, start
from torchdiffeq import odeint, odeint_adjoint

times = torch.linspace(0, 1, 6)
target = torch.stack([torch.cos(3 * times), torch.sin(3 * times)], 1)[:, None]


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y)


for solve in (odeint, odeint_adjoint):
    field = start(Field())
    optimizer = torch.optim.Adam(field.parameters(), lr=0.02)

    def loss(field=field, solve=solve):
        return (solve(field, target[0], times, method="dopri5", rtol=1e-5, atol=1e-6) - target).square().mean()

    losses(field, loss, optimizer, 6)


class Controlled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 12)

    def forward(self, t, z):
        return self.linear(z).tanh().view(-1, 4, 3)


path = torchcde.CubicSpline(torchcde.hermite_cubic_coefficients_with_backward_differences(normal(5, 7, 3)))
controlled = start(Controlled())


def controlled_loss():
    return torchcde.cdeint(X=path, func=controlled, z0=torch.ones(5, 4), t=path.interval, method="rk4").square().mean()


losses(controlled, controlled_loss, torch.optim.Adam(controlled.parameters(), lr=0.02), 4)


class Noisy(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.drift = torch.nn.Linear(2, 2)

    def f(self, t, y):
        return self.drift(y).tanh()

    def g(self, t, y):
        return torch.zeros_like(y)


noisy = start(Noisy())


def noisy_loss():
    return torchsde.sdeint(noisy, torch.ones(3, 2), times, dt=0.05, method="euler").square().mean()


losses(noisy, noisy_loss, torch.optim.Adam(noisy.parameters(), lr=0.02), 4)
