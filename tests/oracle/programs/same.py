"""The same starting values with both libraries: theirs come from NumPy, as their generators differ."""

import numpy as np
import torch


def start(model, seed=0, scale=0.3):
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            values = np.asarray(rng.normal(size=tuple(parameter.shape)) * scale)
            parameter.copy_(torch.from_numpy(values).to(parameter.dtype))
    return model


def normal(*shape, seed=1, dtype=torch.float32):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def integers(high, *shape, seed=2):
    return torch.from_numpy(np.random.default_rng(seed).integers(high, size=shape))
