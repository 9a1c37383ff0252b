"""`torch.distributions`: packages import its names and may never need them. Making a distribution is refused."""

from .refuse import refusals

_NAMES = (
    "Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Distribution Exponential "
    "ExponentialFamily FisherSnedecor Gamma GeneralizedPareto Geometric Gumbel HalfCauchy HalfNormal Independent "
    "InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal LowRankMultivariateNormal "
    "MixtureSameFamily Multinomial MultivariateNormal NegativeBinomial Normal OneHotCategorical "
    "OneHotCategoricalStraightThrough Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT Transform "
    "TransformedDistribution Uniform VonMises Weibull Wishart kl_divergence register_kl"
)
globals().update(refusals("distributions", _NAMES))

__all__ = _NAMES.split()  # noqa: PLE0605 - they are made above
