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

from . import _kl_by_moments as _kl_by_moments  # registers its formulas, as does the next
from . import _kl_same_family as _kl_same_family
from . import constraints as constraints
from . import transforms as transforms
from ._counts import Binomial, Geometric, NegativeBinomial, Poisson
from ._location_scale import Cauchy, Gumbel, HalfCauchy, Laplace, Uniform
from ._matrices import LKJCholesky, Wishart
from .bernoulli import Bernoulli, ContinuousBernoulli, RelaxedBernoulli
from .categorical import (
    Categorical,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    RelaxedOneHotCategorical,
)
from .constraint_registry import biject_to, transform_to
from .dirichlet import Beta, Dirichlet, Kumaraswamy
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gamma import Chi2, Exponential, FisherSnedecor, Gamma, InverseGamma, StudentT
from .kl import kl_divergence, register_kl
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

# Files that hold several of torch's modules: these modules, and the classes in each.
_SHARED = {
    "_counts": {
        "binomial": "Binomial",
        "geometric": "Geometric",
        "negative_binomial": "NegativeBinomial",
        "poisson": "Poisson",
    },
    "_location_scale": {
        "cauchy": "Cauchy",
        "gumbel": "Gumbel",
        "half_cauchy": "HalfCauchy",
        "laplace": "Laplace",
        "uniform": "Uniform",
    },
    "_matrices": {"lkj_cholesky": "LKJCholesky", "wishart": "Wishart"},
    "bernoulli": {
        "continuous_bernoulli": "ContinuousBernoulli",
        "relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli",
    },
    "categorical": {
        "multinomial": "Multinomial",
        "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
        "relaxed_categorical": "ExpRelaxedCategorical RelaxedOneHotCategorical",
    },
    "dirichlet": {"beta": "Beta", "kumaraswamy": "Kumaraswamy"},
    "gamma": {
        "chi2": "Chi2",
        "exponential": "Exponential",
        "fishersnedecor": "FisherSnedecor",
        "inverse_gamma": "InverseGamma",
        "studentT": "StudentT",
    },
    "multivariate_normal": {"lowrank_multivariate_normal": "LowRankMultivariateNormal"},
    "normal": {"half_normal": "HalfNormal", "log_normal": "LogNormal", "logistic_normal": "LogisticNormal"},
    "pareto": {"generalized_pareto": "GeneralizedPareto", "weibull": "Weibull"},
    "transformed_distribution": {"independent": "Independent"},
}


def _make_shared() -> None:
    """Make the modules without a file of their own, such as `gradpack.distributions.chi2`."""
    for file, modules in _SHARED.items():
        inside = {k: v for k, v in vars(_sys.modules[f"{__name__}.{file}"]).items() if k[:2] != "__" or k == "__file__"}
        for name, classes in modules.items():
            module = _ModuleType(f"{__name__}.{name}", f"`torch.distributions.{name}`.")
            module.__spec__ = _ModuleSpec(module.__name__, None)
            vars(module).update(inside, __all__=classes.split())
            _sys.modules[module.__name__] = globals()[name] = module
            for kind in classes.split():
                inside[kind].__module__ = module.__name__


_make_shared()
