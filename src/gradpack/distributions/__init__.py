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
import typing as _typing
from importlib.machinery import ModuleSpec as _ModuleSpec
from types import ModuleType as _ModuleType

from ..base.when_imported import answer as _answer
from ..declare.signature.constructors import explain_constructors as _explain_constructors
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

if _typing.TYPE_CHECKING:
    from ._shared import *

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = sorted(n for n, v in globals().items() if n[0] != "_" and not isinstance(v, _ModuleType))

# The modules that share a file with others: the file, and the classes of each.
_SHARED = {
    "beta": ("dirichlet", "Beta"),
    "binomial": ("_counts", "Binomial"),
    "cauchy": ("_location_scale", "Cauchy"),
    "chi2": ("gamma", "Chi2"),
    "continuous_bernoulli": ("bernoulli", "ContinuousBernoulli"),
    "exp_family": ("distribution", "ExponentialFamily"),
    "exponential": ("gamma", "Exponential"),
    "fishersnedecor": ("gamma", "FisherSnedecor"),
    "generalized_pareto": ("pareto", "GeneralizedPareto"),
    "geometric": ("_counts", "Geometric"),
    "gumbel": ("_location_scale", "Gumbel"),
    "half_cauchy": ("_location_scale", "HalfCauchy"),
    "half_normal": ("normal", "HalfNormal"),
    "independent": ("transformed_distribution", "Independent"),
    "inverse_gamma": ("gamma", "InverseGamma"),
    "kumaraswamy": ("dirichlet", "Kumaraswamy"),
    "laplace": ("_location_scale", "Laplace"),
    "lkj_cholesky": ("_matrices", "LKJCholesky"),
    "log_normal": ("normal", "LogNormal"),
    "logistic_normal": ("normal", "LogisticNormal"),
    "lowrank_multivariate_normal": ("multivariate_normal", "LowRankMultivariateNormal"),
    "multinomial": ("categorical", "Multinomial"),
    "negative_binomial": ("_counts", "NegativeBinomial"),
    "one_hot_categorical": ("categorical", "OneHotCategorical OneHotCategoricalStraightThrough"),
    "poisson": ("_counts", "Poisson"),
    "relaxed_bernoulli": ("bernoulli", "LogitRelaxedBernoulli RelaxedBernoulli"),
    "relaxed_categorical": ("categorical", "ExpRelaxedCategorical RelaxedOneHotCategorical"),
    "studentT": ("gamma", "StudentT"),
    "uniform": ("_location_scale", "Uniform"),
    "von_mises": ("_location_scale", "VonMises"),
    "weibull": ("pareto", "Weibull"),
    "wishart": ("_matrices", "Wishart"),
}


def _make_shared() -> None:
    """Make the modules without a file of their own, such as `gradpack.distributions.chi2`."""
    for name, (file, classes) in _SHARED.items():
        inside = vars(_sys.modules[f"{__name__}.{file}"])
        module = _ModuleType(f"{__name__}.{name}", f"`torch.distributions.{name}`.")
        module.__spec__ = _ModuleSpec(module.__name__, None)
        vars(module).update({k: v for k, v in inside.items() if k[:2] != "__" or k == "__file__"})
        vars(module)["__all__"] = classes.split()
        _sys.modules[module.__name__] = globals()[name] = module
        _answer(module)
        for kind in classes.split():
            inside[kind].__module__ = module.__name__


_make_shared()
_explain_constructors([*globals().values()])
