"""A selective state space model, written with a parallel scan."""

import torch
from mambapy.mamba import Mamba, MambaConfig
from same import losses, normal, start

x, y = normal(2, 24, 16), normal(2, 24, 16, seed=4)
for pscan in (True, False):
    model = Mamba(MambaConfig(d_model=16, n_layers=2, d_state=8, pscan=pscan))
    start(model, scale=0.1)
    losses(model, lambda m=model: (m(x) - y).pow(2).mean(), torch.optim.AdamW(model.parameters(), 1e-3), 6)
