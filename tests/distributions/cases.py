"""One distribution of each kind, or a few, made with gradpack or with torch; and what SciPy calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# name: how it is made. `t` makes a tensor of float64, `D` is the module of distributions.
Maker = Callable[[Any, Any], Any]
CASES: dict[str, Maker] = {
    "Bernoulli": lambda D, t: D.Bernoulli(t([0.2, 0.7])),
    "Bernoulli logits": lambda D, t: D.Bernoulli(logits=t([[-2.0], [1.5]])),
    "Beta": lambda D, t: D.Beta(t([0.7, 2.0]), t([3.0, 1.5])),
    "Binomial": lambda D, t: D.Binomial(t([5.0, 2.0]), t([0.2, 0.7])),
    "Binomial logits": lambda D, t: D.Binomial(4, logits=t([-1.0, 0.5])),
    "Categorical": lambda D, t: D.Categorical(t([[1.0, 2.0, 3.0], [0.5, 0.1, 0.4]])),
    "Categorical logits": lambda D, t: D.Categorical(logits=t([0.3, -1.0, 2.0])),
    "Cauchy": lambda D, t: D.Cauchy(t([0.5, -1.0]), t([0.7, 2.0])),
    "Chi2": lambda D, t: D.Chi2(t([1.5, 6.0])),
    "ContinuousBernoulli": lambda D, t: D.ContinuousBernoulli(t([0.2, 0.5, 0.9, 0.4995])),
    "Dirichlet": lambda D, t: D.Dirichlet(t([[0.7, 1.0, 2.5], [3.0, 3.0, 1.0]])),
    "Exponential": lambda D, t: D.Exponential(t([0.5, 3.0])),
    "FisherSnedecor": lambda D, t: D.FisherSnedecor(t([3.0, 10.0]), t([6.0, 20.0])),
    "Gamma": lambda D, t: D.Gamma(t([0.6, 4.0]), t([2.0, 0.5])),
    "GeneralizedPareto": lambda D, t: D.GeneralizedPareto(t([1.0, 0.0, 0.0]), t([2.0, 1.0, 0.5]), t([0.2, 0.0, -0.4])),
    "Geometric": lambda D, t: D.Geometric(t([0.2, 0.7])),
    "Geometric logits": lambda D, t: D.Geometric(logits=t([0.2, -0.7])),
    "Gumbel": lambda D, t: D.Gumbel(t([0.5, -1.0]), t([0.7, 2.0])),
    "HalfCauchy": lambda D, t: D.HalfCauchy(t([0.7, 2.0])),
    "HalfNormal": lambda D, t: D.HalfNormal(t([0.7, 2.0])),
    "Independent": lambda D, t: D.Independent(D.Normal(t([[0.0, 1.0], [2.0, 3.0]]), t([1.0, 2.0])), 1),
    "InverseGamma": lambda D, t: D.InverseGamma(t([3.0, 6.0]), t([2.0, 0.5])),
    "Kumaraswamy": lambda D, t: D.Kumaraswamy(t([0.7, 2.0]), t([3.0, 1.5])),
    "LKJCholesky": lambda D, t: D.LKJCholesky(3, t([0.7, 2.0])),
    "Laplace": lambda D, t: D.Laplace(t([0.5, -1.0]), t([0.7, 2.0])),
    "LogNormal": lambda D, t: D.LogNormal(t([0.5, -1.0]), t([0.7, 0.4])),
    "LogisticNormal": lambda D, t: D.LogisticNormal(t([0.5, -1.0]), t([0.7, 0.4])),
    "LowRankMultivariateNormal": lambda D, t: D.LowRankMultivariateNormal(
        t([[0.0, 1.0, 2.0], [1.0, 0.0, -1.0]]), t([[1.0], [0.5], [-1.0]]), t([0.5, 1.0, 2.0])
    ),
    "MixtureSameFamily": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t([0.3, 0.7])), D.Normal(t([[-1.0, 1.0], [0.0, 4.0]]), t([0.5, 1.0]))
    ),
    "MixtureSameFamily of vectors": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t([0.3, 0.7])), D.Independent(D.Gamma(t([[1.0, 2.0], [3.0, 4.0]]), t(2.0)), 1)
    ),
    "Multinomial": lambda D, t: D.Multinomial(4, t([[1.0, 2.0, 3.0], [0.5, 0.1, 0.4]])),
    "MultivariateNormal": lambda D, t: D.MultivariateNormal(t([[0.0, 1.0], [2.0, 3.0]]), t([[2.0, 0.5], [0.5, 1.0]])),
    "MultivariateNormal precision": lambda D, t: D.MultivariateNormal(
        t([0.0, 1.0]), precision_matrix=t([[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 3.0]]])
    ),
    "MultivariateNormal scale_tril": lambda D, t: D.MultivariateNormal(
        t([0.0, 1.0]), scale_tril=t([[2.0, 0.0], [0.5, 1.0]])
    ),
    "NegativeBinomial": lambda D, t: D.NegativeBinomial(t([5.0, 2.5]), t([0.2, 0.7])),
    "NegativeBinomial logits": lambda D, t: D.NegativeBinomial(3, logits=t([-0.2, 0.7])),
    "Normal": lambda D, t: D.Normal(t([0.5, -1.0]), t([0.7, 2.0])),
    "OneHotCategorical": lambda D, t: D.OneHotCategorical(t([[1.0, 2.0, 3.0], [0.5, 0.1, 0.4]])),
    "OneHotCategoricalStraightThrough": lambda D, t: D.OneHotCategoricalStraightThrough(logits=t([1.0, 2.0, 0.0])),
    "Pareto": lambda D, t: D.Pareto(t([0.7, 2.0]), t([3.0, 4.5])),
    "Poisson": lambda D, t: D.Poisson(t([0.5, 7.0])),
    "RelaxedBernoulli": lambda D, t: D.RelaxedBernoulli(t(1.5), t([0.2, 0.7])),
    "RelaxedOneHotCategorical": lambda D, t: D.RelaxedOneHotCategorical(t(1.5), t([[0.2, 0.7, 0.1], [1.0, 1.0, 2.0]])),
    "StudentT": lambda D, t: D.StudentT(t([3.5, 12.0]), t([0.5, -1.0]), t([0.7, 2.0])),
    "TransformedDistribution": lambda D, t: D.TransformedDistribution(
        D.Normal(t([0.0, 1.0]), t([1.0, 0.5])), [D.AffineTransform(t(1.0), t(-2.0)), D.SigmoidTransform()]
    ),
    "Uniform": lambda D, t: D.Uniform(t([-1.0, 2.0]), t([1.0, 5.0])),
    "VonMises": lambda D, t: D.VonMises(t([0.5, -1.0]), t([0.7, 12.0])),
    "Weibull": lambda D, t: D.Weibull(t([0.7, 2.0]), t([3.0, 1.5])),
    "Wishart": lambda D, t: D.Wishart(t([4.0, 7.5]), t([[2.0, 0.5], [0.5, 1.0]])),
    "Wishart precision": lambda D, t: D.Wishart(t(5.0), precision_matrix=t([[2.0, 0.5], [0.5, 1.0]])),
}

# The same distributions of SciPy's, one for each of the batch.
SCIPY: dict[str, Callable[[Any], list[Any]]] = {
    "Bernoulli": lambda s: [s.bernoulli(0.2), s.bernoulli(0.7)],
    "Beta": lambda s: [s.beta(0.7, 3.0), s.beta(2.0, 1.5)],
    "Binomial": lambda s: [s.binom(5, 0.2), s.binom(2, 0.7)],
    "Cauchy": lambda s: [s.cauchy(0.5, 0.7), s.cauchy(-1.0, 2.0)],
    "Chi2": lambda s: [s.chi2(1.5), s.chi2(6.0)],
    "Dirichlet": lambda s: [s.dirichlet([0.7, 1.0, 2.5]), s.dirichlet([3.0, 3.0, 1.0])],
    "Exponential": lambda s: [s.expon(scale=2.0), s.expon(scale=1 / 3)],
    "FisherSnedecor": lambda s: [s.f(3.0, 6.0), s.f(10.0, 20.0)],
    "Gamma": lambda s: [s.gamma(0.6, scale=0.5), s.gamma(4.0, scale=2.0)],
    "GeneralizedPareto": lambda s: [
        s.genpareto(0.2, 1.0, 2.0),
        s.genpareto(0.0, 0.0, 1.0),
        s.genpareto(-0.4, 0.0, 0.5),
    ],
    "Geometric": lambda s: [s.geom(0.2, -1), s.geom(0.7, -1)],
    "Gumbel": lambda s: [s.gumbel_r(0.5, 0.7), s.gumbel_r(-1.0, 2.0)],
    "HalfCauchy": lambda s: [s.halfcauchy(scale=0.7), s.halfcauchy(scale=2.0)],
    "HalfNormal": lambda s: [s.halfnorm(scale=0.7), s.halfnorm(scale=2.0)],
    "InverseGamma": lambda s: [s.invgamma(3.0, scale=2.0), s.invgamma(6.0, scale=0.5)],
    "Laplace": lambda s: [s.laplace(0.5, 0.7), s.laplace(-1.0, 2.0)],
    "LogNormal": lambda s: [s.lognorm(0.7, scale=2.718281828459045**0.5), s.lognorm(0.4, scale=2.718281828459045**-1)],
    "Multinomial": lambda s: [s.multinomial(4, [1 / 6, 2 / 6, 3 / 6]), s.multinomial(4, [0.5, 0.1, 0.4])],
    "MultivariateNormal": lambda s: [
        s.multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]),
        s.multivariate_normal([2.0, 3.0], [[2.0, 0.5], [0.5, 1.0]]),
    ],
    "NegativeBinomial": lambda s: [s.nbinom(5.0, 0.8), s.nbinom(2.5, 0.3)],
    "Normal": lambda s: [s.norm(0.5, 0.7), s.norm(-1.0, 2.0)],
    "Pareto": lambda s: [s.pareto(3.0, scale=0.7), s.pareto(4.5, scale=2.0)],
    "Poisson": lambda s: [s.poisson(0.5), s.poisson(7.0)],
    "StudentT": lambda s: [s.t(3.5, 0.5, 0.7), s.t(12.0, -1.0, 2.0)],
    "Uniform": lambda s: [s.uniform(-1.0, 2.0), s.uniform(2.0, 3.0)],
    "VonMises": lambda s: [s.vonmises(0.7, 0.5), s.vonmises(12.0, -1.0)],
    "Weibull": lambda s: [s.weibull_min(3.0, scale=0.7), s.weibull_min(1.5, scale=2.0)],
    "Wishart": lambda s: [s.wishart(4.0, [[2.0, 0.5], [0.5, 1.0]]), s.wishart(7.5, [[2.0, 0.5], [0.5, 1.0]])],
}


def made(name: str, torch: Any) -> Any:
    """The distribution of this name, with parameters of float64."""
    return CASES[name](torch.distributions, lambda values: torch.tensor(values, dtype=torch.float64))
