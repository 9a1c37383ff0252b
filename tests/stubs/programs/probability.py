"""Distributions, and a class of one's own."""

from __future__ import annotations

import math

import gradpack as torch
import gradpack.distributions as dist
from gradpack.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    Independent,
    MixtureSameFamily,
    MultivariateNormal,
    Normal,
    TransformedDistribution,
    Uniform,
    constraints,
    kl_divergence,
)
from gradpack.distributions.transforms import AffineTransform, ExpTransform, SigmoidTransform

mu = torch.zeros(2, requires_grad=True)
log_sigma = torch.zeros(2, requires_grad=True)
q = Normal(mu, log_sigma.exp())
p = Normal(0.0, 1.0)
z = q.rsample((5,))
kl = kl_divergence(q, Normal(torch.zeros(2), torch.ones(2))).sum()
(kl - q.log_prob(z).mean()).backward()
print(
    mu.grad, q.mean, q.stddev, q.variance, q.entropy(), q.cdf(z), q.icdf(torch.tensor(0.5)), p.sample(torch.Size([3]))
)
c = Categorical(logits=torch.randn(4))
a = c.sample()
policy_loss = -c.log_prob(a) * 2.0
print(policy_loss.item(), c.probs, c.entropy())
print(Bernoulli(probs=torch.tensor([0.3])).sample(), Bernoulli(0.5).mean, Beta(1.0, 2.0).mean, Gamma(2, 3).sample([2]))
print(Dirichlet(torch.ones(3)).rsample(), Uniform(0, 1).sample((2,)))
mvn = MultivariateNormal(torch.zeros(2), covariance_matrix=torch.eye(2))
print(mvn.log_prob(torch.zeros(2)), mvn.scale_tril)
mix = MixtureSameFamily(Categorical(torch.ones(3)), Independent(Normal(torch.randn(3, 2), torch.rand(3, 2) + 0.1), 1))
print(mix.log_prob(torch.randn(2)), mix.sample())
t = TransformedDistribution(Normal(0.0, 1.0), [AffineTransform(1.0, 2.0), ExpTransform()])
print(t.rsample((2,)), t.log_prob(torch.tensor(2.0)), SigmoidTransform().inv(torch.tensor(0.3)))
print(
    constraints.positive.check(torch.tensor(1.0)),
    dist.LogNormal(0.0, 1.0).mean,
    q.batch_shape,
    q.event_shape,
    q.expand([3, 2]),
)


class Pyramid(dist.Distribution):
    arg_constraints = {"width": constraints.positive}
    support = constraints.real

    def __init__(self, width: float) -> None:
        self.width = torch.tensor(width)
        super().__init__(validate_args=False)

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        return -value.abs() / self.width - math.log(2)


print(Pyramid(2.0).log_prob(torch.ones(2)))
import gradpack.distributions.independent  # noqa: E402

grown = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(2), 1.0), 1)
assert grown.sample((3,)).shape == (3, 2) and torch.distributions.beta.Beta(1.0, 1.0).mean.shape == ()
assert torch.jit.script(torch.sin) is torch.sin
