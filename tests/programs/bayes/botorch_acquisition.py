"""Bayesian optimisation with BoTorch: fitted models, acquisition functions and their maxima."""

import torch
from botorch.acquisition import ExpectedImprovement, LogExpectedImprovement, UpperConfidenceBound
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood
from same import normal

x = torch.sigmoid(normal(12, 2, dtype=torch.float64))
y = -((x - 0.4) ** 2).sum(1, keepdim=True) + 0.05 * torch.sin(9 * x[:, :1])
model = SingleTaskGP(x, y, input_transform=Normalize(2), outcome_transform=Standardize(1))
fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
print(
    model.covar_module.lengthscale
    if hasattr(model.covar_module, "lengthscale")
    else model.covar_module.base_kernel.lengthscale
)
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
starts = torch.sigmoid(normal(4, 1, 2, seed=6, dtype=torch.float64))
for make in (
    lambda: LogExpectedImprovement(model, best_f=y.max()),
    lambda: UpperConfidenceBound(model, beta=0.2),
    lambda: ExpectedImprovement(model, best_f=y.max() - 0.05),
):
    best, value = optimize_acqf(
        make(), bounds, q=1, num_restarts=4, batch_initial_conditions=starts, options={"maxiter": 40}
    )
    print(best, value.item())
sampler = SobolQMCNormalSampler(torch.Size([16]), seed=3)
acquisition = qLogExpectedImprovement(model, best_f=y.max() - 0.05, sampler=sampler)
starts = torch.sigmoid(normal(2, 2, 2, seed=8, dtype=torch.float64))
best, value = optimize_acqf(
    acquisition, bounds, q=2, num_restarts=2, batch_initial_conditions=starts, options={"maxiter": 15}
)
print(best, value.item())
