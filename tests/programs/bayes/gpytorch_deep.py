"""Gaussian processes of several outputs, on learnt features, and on inducing points."""

import gpytorch
import torch
from same import losses, normal, start

x = normal(60, 2)
y = torch.stack([torch.sin(2 * x[:, 0]), torch.cos(x[:, 1])], 1) + 0.05 * normal(60, 2, seed=4)


class Multitask(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.MultitaskMean(gpytorch.means.ConstantMean(), num_tasks=2)
        self.covar_module = gpytorch.kernels.MultitaskKernel(gpytorch.kernels.RBFKernel(), num_tasks=2, rank=1)

    def forward(self, x):
        return gpytorch.distributions.MultitaskMultivariateNormal(self.mean_module(x), self.covar_module(x))


class Deep(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
        self.mean_module = gpytorch.means.LinearMean(2)
        self.covar_module = (
            gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=1.5, ard_num_dims=2))
            + gpytorch.kernels.PeriodicKernel()
        )

    def forward(self, x):
        z = self.net(x)
        return gpytorch.distributions.MultivariateNormal(self.mean_module(z), self.covar_module(z))


class Sparse(gpytorch.models.ApproximateGP):
    def __init__(self, z):
        distribution = gpytorch.variational.NaturalVariationalDistribution(z.size(0), mean_init_std=0.0)
        super().__init__(gpytorch.variational.VariationalStrategy(self, z, distribution, learn_inducing_locations=True))
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RQKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.MultitaskGaussianLikelihood(num_tasks=2)
model = start(Multitask(x, y, likelihood), scale=0.1)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
losses(model, lambda: -mll(model(x), y), torch.optim.Adam(model.parameters(), 0.05), 10)
model.eval(), likelihood.eval()
with torch.no_grad():
    found = likelihood(model(normal(4, 2, seed=9)))
print(found.mean, found.variance)
likelihood = gpytorch.likelihoods.GaussianLikelihood(gpytorch.priors.GammaPrior(1.1, 0.5))
model = start(Deep(x, y[:, 0], likelihood), scale=0.2)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
losses(model, lambda: -mll(model(x), y[:, 0]), torch.optim.Adam(model.parameters(), 0.01), 10)
likelihood = gpytorch.likelihoods.BernoulliLikelihood()
model = Sparse(x[:15].clone())
model.variational_strategy.variational_params_initialized.fill_(1)
elbo = gpytorch.mlls.VariationalELBO(likelihood, model, 60)
natural = gpytorch.optim.NGD(model.variational_parameters(), num_data=60, lr=0.1)
adam = torch.optim.Adam(model.hyperparameters(), 0.02)
seen = []
for _ in range(10):
    natural.zero_grad(), adam.zero_grad()
    loss = -elbo(model(x), (y[:, 0] > 0).float())
    loss.backward()
    natural.step(), adam.step()
    seen.append(round(loss.item(), 6))
print(seen)
