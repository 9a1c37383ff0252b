"""A neural differential equation that learns a spiral, by the adjoint method: torchdiffeq."""

import argparse

import torch
import torch.nn as nn
import torch.optim as optim
from same import start
from torchdiffeq import odeint, odeint_adjoint, odeint_event

parser = argparse.ArgumentParser()
parser.add_argument("--iters", type=int, default=6)
args = parser.parse_args()
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
torch.set_default_dtype(torch.float64)

true_y0 = torch.tensor([[2.0, 0.0]]).to(device)
t = torch.linspace(0.0, 2.0, 20).to(device)
true_a = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]).to(device)


class Lambda(nn.Module):
    def forward(self, t, y):
        return torch.mm(y**3, true_a)


with torch.no_grad():
    true_y = odeint(Lambda(), true_y0, t, method="dopri5")
print("spiral", true_y.shape, true_y[-1].tolist())


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)
        self.calls = 0

    def forward(self, t, y):
        self.calls += 1
        return self.net(y**3)


func = start(ODEFunc().to(device))
optimizer = optim.RMSprop(func.parameters(), lr=1e-2)
for itr in range(1, args.iters + 1):
    optimizer.zero_grad()
    pred_y = odeint_adjoint(func, true_y0, t, rtol=1e-7, atol=1e-9).to(device)
    loss = torch.mean(torch.abs(pred_y - true_y))
    loss.backward()
    optimizer.step()
    print(f"Iter {itr:04d} | Total Loss {loss.item():.8f} calls {func.calls}")

for method in (
    "euler",
    "midpoint",
    "rk4",
    "explicit_adams",
    "implicit_adams",
    "bosh3",
    "fehlberg2",
    "adaptive_heun",
    "dopri8",
):
    func.zero_grad()
    end = odeint(func, true_y0, t, method=method, rtol=1e-6, atol=1e-8)[-1]
    end.sum().backward()
    print(method, end.tolist(), sum(p.grad.norm() for p in func.parameters()).item())

velocity = torch.tensor(0.0, requires_grad=True)


def falling(t, state):
    height, speed = state
    return speed, torch.full_like(speed, -9.8)


hit, states = odeint_event(
    falling, (torch.tensor(10.0), velocity), torch.tensor(0.0), event_fn=lambda t, s: s[0], atol=1e-9, rtol=1e-9
)
print("falls for", hit.item(), "seconds", torch.autograd.grad(hit, velocity)[0].item())
