"""Dictionaries of tensors, modules on them, and their functional form."""

import torch
from same import losses, normal, start
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential

data = TensorDict({"x": normal(24, 4), "y": normal(24, 2, seed=4)}, batch_size=[24])
first = TensorDictModule(torch.nn.Linear(4, 16), in_keys=["x"], out_keys=["hidden"])
second = TensorDictModule(lambda h: torch.tanh(h), in_keys=["hidden"], out_keys=["hidden"])
third = TensorDictModule(torch.nn.Linear(16, 2), in_keys=["hidden"], out_keys=["found"])
model = start(TensorDictSequential(first, second, third))


def loss():
    found = model(data.clone())
    return ((found["found"] - found["y"]) ** 2).mean()


losses(model, loss, torch.optim.Adam(model.parameters(), 1e-2), 10)
weights = TensorDict.from_module(model)
doubled = weights * 2
with doubled.to_module(model):
    print(model(data.clone())["found"][0])
print(model(data.clone())["found"][0])
both = torch.stack([data[:3], data[3:6]], 0)
print(both.batch_size, both["x"].sum().item(), torch.cat([data, data], 0).shape)
print(data.reshape(4, 6)["y"].mean(1)[0], data[data["x"][:, 0] > 0].batch_size)
