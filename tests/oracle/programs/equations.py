"""Controlled and stochastic equations, roots and integrals: torchcde, torchsde and xitorch."""

import torch
import torchcde
import torchsde
import xitorch.integrate
import xitorch.optimize
from same import normal, start
from torch import nn

torch.set_default_dtype(torch.float64)


def data(*shape, seed=1):
    return normal(*shape, seed=seed, dtype=torch.float64)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 8)

    def forward(self, t, z):
        return torch.tanh(self.linear(z)).view(3, 4, 2)


times = torch.linspace(0, 1, 8)
series = torch.stack([times.expand(3, 8), data(3, 8)], -1)
holes = series.clone()
holes[0, 3, 1] = float("nan")
print(torchcde.natural_cubic_coeffs(holes).sum().item(), torchcde.linear_interpolation_coeffs(holes).sum().item())
path = torchcde.CubicSpline(torchcde.hermite_cubic_coefficients_with_backward_differences(series))
field = start(Field())
for adjoint in (True, False):
    field.zero_grad()
    z = torchcde.cdeint(
        X=path,
        func=field,
        z0=data(3, 4, seed=4),
        t=path.interval,
        adjoint=adjoint,
        method="rk4",
        options={"step_size": 0.05},
    )
    z[:, -1].pow(2).sum().backward()
    print("controlled", z.sum().item(), field.linear.weight.grad.norm().item())


class Drift(nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.mu, self.sigma = nn.Linear(3, 3), nn.Linear(3, 3)

    def f(self, t, y):
        return self.mu(y)

    def g(self, t, y):
        return self.sigma(y).sigmoid() * 0.1


class Noise(torchsde.BaseBrownian):
    """The same for both libraries."""

    dtype, device, shape, levy_area_approximation = torch.float64, torch.device("cpu"), torch.Size((4, 3)), "none"

    def __call__(self, ta, tb=None, return_U=False, return_A=False):
        return data(4, 3, seed=round(float(ta) * 1000)) * float(tb - ta) ** 0.5

    def __repr__(self):
        return "noise"


sde, y0, ts = start(Drift()), torch.ones(4, 3), torch.linspace(0, 1, 5)
for solve, method in ((torchsde.sdeint, "euler"), (torchsde.sdeint, "milstein"), (torchsde.sdeint_adjoint, "euler")):
    sde.zero_grad()
    ys = solve(sde, y0, ts, bm=Noise(), dt=0.1, method=method)
    ys[-1].sum().backward()
    print(
        solve.__name__, method, ys.sum().item(), sde.mu.weight.grad.norm().item(), sde.sigma.weight.grad.norm().item()
    )

A = torch.tensor([[1.0, 0.2], [0.3, 1.5]], requires_grad=True)
root = xitorch.optimize.rootfinder(lambda y, A: torch.tanh(A @ y + 0.1) + y / 2, torch.zeros(2, 1), params=(A,))
(first,) = torch.autograd.grad(root.sum(), A, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), A)
print("root", root.flatten().tolist(), first.flatten().tolist(), second.flatten().tolist())
way = xitorch.integrate.solve_ivp(lambda t, y, A: A @ y, torch.linspace(0, 1, 5), torch.ones(2, 1), params=(A,))
print("initial value", way[-1].flatten().tolist(), torch.autograd.grad(way.sum(), A)[0].flatten().tolist())
