"""Minimisers of pytorch-minimize on Rosenbrock's function and a logistic regression."""

import torch
from same import integers, normal
from torchmin import Minimizer, least_squares, minimize
from torchmin.benchmarks import rosen

for method in ("bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg", "trust-exact"):
    found = minimize(rosen, torch.tensor([1.3, 0.7, 0.8, 1.9, 1.2], dtype=torch.float64), method=method, max_iter=40)
    print(method, round(found.fun.item(), 6), found.x)
x, labels = normal(40, 3, dtype=torch.float64), integers(2, 40).double()


def loss(w):
    return torch.nn.functional.binary_cross_entropy_with_logits(x @ w, labels) + 0.01 * w.pow(2).sum()


print(minimize(loss, torch.zeros(3, dtype=torch.float64), method="newton-cg").x)
print(least_squares(lambda w: x @ w - labels, torch.zeros(3, dtype=torch.float64)).x)
model = torch.nn.Linear(3, 1).double()
with torch.no_grad():
    model.weight.fill_(0.1)
    model.bias.zero_()
optimizer = Minimizer(model.parameters(), method="l-bfgs", max_iter=20)


def closure():
    optimizer.zero_grad()
    return torch.nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], labels)


print(optimizer.step(closure), model.weight)
