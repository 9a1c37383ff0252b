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

import sys as _sys
from importlib.machinery import ModuleSpec as _ModuleSpec
from types import ModuleType as _ModuleType

from . import _kl_formulas as _kl_formulas  # registers them
from . import constraints as constraints
from . import transforms as transforms
from ._counts import *
from ._location_scale import *
from ._matrices import *
from .bernoulli import *
from .categorical import *
from .constraint_registry import biject_to as biject_to
from .constraint_registry import transform_to as transform_to
from .dirichlet import *
from .distribution import *
from .gamma import *
from .kl import *
from .mixture_same_family import *
from .multivariate_normal import *
from .normal import *
from .pareto import *
from .transformed_distribution import *
from .transforms import *

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = sorted(n for n, v in globals().items() if n[0] != "_" and not isinstance(v, _ModuleType))

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
        "von_mises": "VonMises",
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
    "distribution": {"exp_family": "ExponentialFamily"},
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
