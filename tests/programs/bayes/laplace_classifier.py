"""Laplace approximations of a trained classifier: last layer, all layers, diagonal and Kronecker factors."""

import torch
from laplace import Laplace
from same import integers, losses, normal, start
from torch.utils.data import DataLoader, TensorDataset

x, labels = normal(48, 4), integers(3, 48)
model = start(torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.Tanh(), torch.nn.Linear(12, 3)))
losses(
    model, lambda: torch.nn.functional.cross_entropy(model(x), labels), torch.optim.Adam(model.parameters(), 0.02), 30
)
loader = DataLoader(TensorDataset(x, labels), batch_size=16)
for subset, structure in (
    ("last_layer", "full"),
    ("last_layer", "kron"),
    ("all", "diag"),
    ("all", "kron"),
    ("all", "full"),
):
    la = Laplace(model, "classification", subset_of_weights=subset, hessian_structure=structure)
    la.fit(loader)
    la.optimize_prior_precision(method="marglik")
    found = la(normal(5, 4, seed=8), link_approx="probit")
    print(subset, structure, la.log_marginal_likelihood().item(), la.prior_precision.flatten())
    print(found)
