"""The same starting values with both libraries: theirs come from NumPy, as their generators differ."""

import numpy as np
import torch


def start(model, seed=0, scale=0.3):
    """Fill all parameters of a module."""
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            values = np.asarray(rng.normal(size=tuple(parameter.shape)) * scale)
            parameter.copy_(torch.from_numpy(values).to(parameter.dtype))
    return model


def normal(*shape, seed=1, dtype=torch.float32):
    return torch.from_numpy(np.asarray(np.random.default_rng(seed).normal(size=shape))).to(dtype)


def integers(high, *shape, seed=2):
    return torch.from_numpy(np.random.default_rng(seed).integers(high, size=shape))


def losses(model, loss_of, optimizer, steps=10):
    """Train for some steps and print the loss of each."""
    model.train()
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        found.append(round(loss.item(), 6))
    print("losses", found)
