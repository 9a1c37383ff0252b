"""Products with Hessian, Gauss-Newton and Fisher matrices as linear operators."""

import torch
from curvlinops import EFLinearOperator, GGNLinearOperator, HessianLinearOperator
from same import integers, normal, start

model = start(torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3)))
data = [(normal(5, 4, seed=s), integers(3, 5, seed=s)) for s in (3, 4)]
params = list(model.parameters())
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
loss_of = torch.nn.CrossEntropyLoss()
for _ in range(3):
    for make in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator):
        operator = make(model, loss_of, params, data)
        v = normal(operator.shape[1], seed=8)
        print(make.__name__, [round(e, 5) for e in (operator @ v).flatten()[:6].tolist()])
    optimizer.zero_grad()
    loss = sum(loss_of(model(x), y) for x, y in data)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.6f}")
