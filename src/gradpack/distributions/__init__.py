"""`torch.distributions`: probability distributions whose samples and log-probabilities differentiate.

Example::

    >>> import gradpack as torch
    >>> from gradpack.distributions import Normal, kl_divergence
    >>> loc = torch.zeros(3, requires_grad=True)
    >>> posterior = Normal(loc, 1.0)
    >>> posterior.rsample().sum().backward()
    >>> loc.grad
    tensor([1., 1., 1.])
    >>> kl_divergence(posterior, Normal(0.0, 1.0)).sum()
    tensor(0., grad_fn=<SumBackward0>)
"""

from __future__ import annotations

import sys as _sys
from importlib.machinery import ModuleSpec as _ModuleSpec
from types import ModuleType as _ModuleType

from . import constraints as constraints
from . import kl_by_moments as kl_by_moments  # registers its formulas, as does the next
from . import kl_same_family as kl_same_family
from . import transforms as transforms
from .bernoulli import Bernoulli, ContinuousBernoulli, RelaxedBernoulli
from .categorical import (
    Categorical,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    RelaxedOneHotCategorical,
)
from .constraint_registry import biject_to, transform_to
from .counts import Binomial, Geometric, NegativeBinomial, Poisson
from .dirichlet import Beta, Dirichlet, Kumaraswamy
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gamma import Chi2, Exponential, FisherSnedecor, Gamma, InverseGamma, StudentT
from .kl import kl_divergence, register_kl
from .location_scale import Cauchy, Gumbel, HalfCauchy, Laplace, Uniform
from .matrices import LKJCholesky, Wishart
from .mixture_same_family import MixtureSameFamily
from .multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from .normal import HalfNormal, LogisticNormal, LogNormal, Normal
from .pareto import GeneralizedPareto, Pareto, Weibull
from .transformed_distribution import Independent, TransformedDistribution
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from .von_mises import VonMises

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
]

# Modules of torch's that share a file here with others: the file -> their names.
_SHARED = {
    "bernoulli": "continuous_bernoulli relaxed_bernoulli",
    "categorical": "multinomial one_hot_categorical relaxed_categorical",
    "counts": "binomial geometric negative_binomial poisson",
    "dirichlet": "beta kumaraswamy",
    "gamma": "chi2 exponential fishersnedecor inverse_gamma studentT",
    "location_scale": "cauchy gumbel half_cauchy laplace uniform",
    "matrices": "lkj_cholesky wishart",
    "multivariate_normal": "lowrank_multivariate_normal",
    "normal": "half_normal log_normal logistic_normal",
    "pareto": "generalized_pareto weibull",
    "transformed_distribution": "independent",
}


def _open_shared() -> None:
    """Make the modules `gradpack.distributions.chi2` and the like, which share a file."""
    for file, names in _SHARED.items():
        inside = {k: v for k, v in vars(_sys.modules[f"{__name__}.{file}"]).items() if k[:2] != "__"}
        for name in names.split():
            module = _ModuleType(f"{__name__}.{name}", f"`torch.distributions.{name}`.")
            module.__spec__ = _ModuleSpec(module.__name__, None)
            vars(module).update(inside)
            _sys.modules[module.__name__] = globals()[name] = module


_open_shared()
