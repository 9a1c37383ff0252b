"""An exact Gaussian process whose hyperparameters are fitted, and its prediction."""

import gpytorch
import torch
from same import losses, normal

x = torch.linspace(0, 1, 40)
y = torch.sin(6 * x) + 0.1 * normal(40)


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Process(x, y, likelihood)
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
losses(model, lambda: -marginal(model(x), y), torch.optim.Adam(model.parameters(), lr=0.1), 20)
model.eval()
likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    found = likelihood(model(torch.linspace(0.1, 1.1, 5)))
print("mean", found.mean)
print("variance", found.variance)
